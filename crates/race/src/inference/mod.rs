//! Statistical comparison of several races of two sides: whether a difference is real, and how large it is.
//!
//! Races are few (3 to 20 per side) and their figures are not normally distributed, so everything here is
//! based on ranks and resampling: [`rank_test`] (Mann-Whitney, exact), [`correction`] for many tests at once,
//! [`estimate`] for the size of a difference, [`bootstrap`] for its interval. [`comparison`] combines them
//! into a verdict.
//!
//! **Invariant**: nothing here depends on races, tracks or files; the input is slices of numbers. Equal input
//! gives equal output, because the resampling is seeded.

pub(crate) mod bootstrap;
pub(crate) mod comparison;
pub(crate) mod correction;
pub(crate) mod estimate;
pub(crate) mod rank_test;
#[cfg(test)]
mod tests;

pub(crate) use comparison::{Comparison, Direction, Verdict};
pub(crate) use correction::Correction;
