//! "What came out, was it better than last time, and which races and tracks are there?"
//!
//! `results` and `race` hold what a race leaves behind, `scope` what was raced, `store` keeps it; `measurements` holds what Rally does not measure; `figures`, `raced_side` and `several` compare several races a side; `summary`, `compare` and `listing` print it in Rally's form with the help
//! of `table` (Python's tabulate and csv), `python_json`, `number` (Python's number formats) and `units`.

pub mod annotations;
pub mod bars;
pub mod compare;
pub mod figures;
pub mod html;
pub mod listing;
pub mod measurements;
pub mod narrow;
pub mod number;
pub mod output;
pub mod python_json;
pub mod race;
pub mod raced_side;
pub mod results;
pub mod scope;
pub mod several;
pub mod shown;
pub mod store;
pub mod summary;
pub mod table;
pub mod units;

pub use annotations::{Annotation, AnnotationFilter, AnnotationStore};
pub use measurements::Measurements;
pub use number::Number;
pub use output::{Format, ReportOptions, Show};
pub use race::{Car, Cluster, Race};
pub use raced_side::RacedSide;
pub use results::Results;
pub use scope::Scope;
pub use store::{RaceFilter, RaceStore, StoreError, limber_folder};
