//! "Here are the figures of several races of two sides; is the difference real, and how large is it?"
//!
//! Races are few (3 to 20 a side) and their figures are not normally distributed, so everything here goes by ranks and
//! resampling: [`rank_test`] (Mann-Whitney, exact), [`correction`] for many tests at once, [`estimate`] for the size of a
//! difference, [`bootstrap`] for its interval; [`comparison`] puts them together into a verdict.
//!
//! **Invariant**: nothing here knows races, tracks or files; slices of numbers go in. Equal input gives equal output: the
//! resampling is seeded.

pub mod bootstrap;
pub mod comparison;
pub mod correction;
pub mod estimate;
pub mod rank_test;
#[cfg(test)]
mod tests;

pub use bootstrap::Interval;
pub use comparison::{Comparison, Direction, Verdict};
pub use correction::Correction;
