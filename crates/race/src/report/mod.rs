//! "What came out, was it better than last time, and which races and tracks are there?"
//!
//! `summary`, `measurements`, `compare` and `listing` print in Rally's form with the help of `table` (Python's tabulate and csv), `narrow` on
//! terminals that such a table does not fit; `figures`, `raced_side`, `several` and `spread` look at several races a side; `html` draws.

pub mod bars;
pub mod compare;
pub mod figures;
pub mod html;
pub mod listing;
pub mod measurements;
pub mod narrow;
pub mod output;
pub mod raced_side;
pub mod several;
pub mod spread;
pub mod summary;
pub mod table;

pub use output::{Format, ReportOptions, Show};
pub use raced_side::RacedSide;
