//! Scripts over the documents of a shard: implements what `limber_script` needs from documents, and fields
//! whose values scripts compute (`runtime`).

mod bound;
mod fields;
mod max_scores;
mod runtime;

pub(crate) use bound::BoundScript;
pub use runtime::check_scripts;
pub(crate) use runtime::{
    DistinctTerms, ID, NumberSource, RuntimeField, RuntimeReader, RuntimeTerms, context_of, emitted_values,
    field_or_id, script_of, script_values,
};
