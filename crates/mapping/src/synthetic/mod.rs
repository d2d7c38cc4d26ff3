//! Synthetic source: "which parts of a document can be rebuilt from columns, and what must be stored
//! besides?"
//!
//! The rebuilt document differs from the original: leaves are grouped under their paths, arrays of keywords
//! are sorted and deduplicated, numbers are sorted, and dates have the field's own format.
//!
//! Source: Elasticsearch's documentation of `synthetic _source`, and the responses of 9.4.3.

mod normalized;
mod plan;
mod residue;

pub use normalized::one_or_all;
pub(crate) use plan::{How, PlanNode};
pub use plan::{Rebuilt, SyntheticPlan};
pub use residue::Residue;
