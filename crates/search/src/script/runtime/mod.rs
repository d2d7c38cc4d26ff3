//! Runtime fields: "which values does this field have in these documents, by its script or the source?"
//!
//! A field is bound to a shard ([`RuntimeField`]), opened on a segment ([`RuntimeReader`]), and read for a
//! batch of documents at a time: numbers as a column would store them, or terms. Nothing is kept beyond the
//! batch.

mod field;
mod fielddata;
mod made;
mod reader;
mod source;
mod terms;

pub use field::check_scripts;
pub(crate) use field::{RuntimeField, context_of, script_of};
pub(crate) use made::{emitted_values, script_values};
pub(crate) use reader::{NumberSource, RuntimeReader};
pub(crate) use terms::RuntimeTerms;
