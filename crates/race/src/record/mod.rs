//! "What does a race leave behind, and where does it lie?"
//!
//! `race` is `race.json` with its `results` (Rally's) and its `scope` (what was raced), `measurements` what Rally does not measure, `store`
//! the folder of all races, `annotations` notes on days.

pub mod annotations;
pub mod measurements;
pub mod race;
pub mod results;
pub mod scope;
pub mod store;

pub use annotations::{Annotation, AnnotationFilter, AnnotationStore};
pub use measurements::Measurements;
pub use race::{Car, Cluster, Race};
pub use results::Results;
pub use scope::Scope;
pub use store::{RaceFilter, RaceStore, StoreError, limber_folder};
