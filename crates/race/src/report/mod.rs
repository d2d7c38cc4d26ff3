//! Reports: the results of a race, comparisons, and lists of races and tracks.
//!
//! `summary`, `measurements`, `compare` and `listing` print in Rally's form with the help of `table`
//! (Python's tabulate and csv), and of `narrow` on terminals that are too narrow for such a table. `figures`,
//! `raced_side`, `several` and `spread` evaluate several races per side. `html` draws.

#[cfg(test)]
mod bars;
pub(crate) mod compare;
pub(crate) mod figures;
pub(crate) mod html;
pub(crate) mod listing;
pub(crate) mod measurements;
pub(crate) mod narrow;
pub(crate) mod output;
pub(crate) mod raced_side;
pub(crate) mod several;
pub(crate) mod spread;
pub(crate) mod summary;
pub(crate) mod table;

pub(crate) use output::{Format, ReportOptions, Show};
pub(crate) use raced_side::RacedSide;
