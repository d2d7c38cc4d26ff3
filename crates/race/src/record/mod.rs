//! The files that a race leaves behind.
//!
//! `race` is `race.json` with its `results` (Rally's) and its `scope` (what was raced), `measurements` has
//! what Rally does not measure, `store` is the folder of all races, and `annotations` are notes on days.

pub(crate) mod annotations;
pub(crate) mod measurements;
pub(crate) mod race;
pub(crate) mod results;
pub(crate) mod sample;
pub(crate) mod scope;
pub(crate) mod store;
pub(crate) mod timeline;

pub(crate) use annotations::{Annotation, AnnotationFilter, AnnotationStore};
pub(crate) use measurements::Measurements;
pub(crate) use race::{Car, Cluster, Race};
pub(crate) use results::Results;
pub(crate) use scope::Scope;
pub use store::{RaceFilter, RaceStore, StoreError, limber_folder};
