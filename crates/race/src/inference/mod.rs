//! "Here are the figures of several races of two sides; is the difference real, and how large is it?"
//!
//! Races are few (3 to 20 a side) and their figures are not normally distributed, so everything here goes by
//! ranks and resampling: [`rank_test`] (Mann-Whitney, exact), [`correction`] for many tests at once,
//! [`estimate`] for the size of a difference, [`bootstrap`] for its interval; [`comparison`] puts them
//! together into a verdict.
//!
//! **Invariant**: nothing here knows races, tracks or files; slices of numbers go in. Equal input gives equal
//! output: the resampling is seeded.

pub(crate) mod bootstrap;
pub(crate) mod comparison;
pub(crate) mod correction;
pub(crate) mod estimate;
pub(crate) mod rank_test;
#[cfg(test)]
mod tests;

pub(crate) use comparison::{Comparison, Direction, Verdict};
pub(crate) use correction::Correction;
