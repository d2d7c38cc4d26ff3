//! Runtime fields: "which values does this field have in these documents, by its script or the source?"
//!
//! A field is bound to a shard ([`RuntimeField`]), opened on a segment ([`RuntimeReader`]), and read for a
//! batch of documents at a time: numbers as a column would store them, or terms. Nothing is kept beyond the
//! batch.

mod computed;
mod field;
mod fielddata;
mod reader;
mod source;
mod terms;

pub(crate) use computed::{emitted_values, script_values};
pub use field::check_scripts;
pub(crate) use field::{ID, RuntimeField, context_of, field_or_id, script_of};
pub(crate) use reader::{NumberSource, RuntimeReader};
pub(crate) use terms::{DistinctTerms, RuntimeTerms};
