//! Synthetic source: "which parts of a document can columns give back, and what has to be kept beside them?"
//!
//! What is rebuilt differs from what came: leaves are gathered under their paths, arrays of keywords are
//! sorted and lose repeats, numbers are sorted, dates have the field's own form.
//!
//! Source: Elasticsearch's documentation of `synthetic _source`, and the answers of 9.4.3.

mod plan;
mod residue;

pub(crate) use plan::{How, PlanNode};
pub use plan::{Rebuilt, SyntheticPlan};
pub use residue::Residue;
