//! Terms that a pattern of an `intervals` query stands for.

use std::sync::Arc;

use limber_mapping::{Field, RequestError};

use super::docs::Docs;

/// The terms that a pattern stands for, which every segment looks up for itself.
#[derive(Debug)]
pub(crate) struct PatternTerms {
    pub field: Arc<Field>,
    pub docs: Docs,
    /// More than so many in a segment are refused.
    pub count_max: usize,
    /// Lucene's name for them.
    pub text: String,
    /// What tells them from other terms of the field.
    pub key: String,
}

pub(crate) fn too_many_terms(terms: &PatternTerms) -> RequestError {
    RequestError::bad_request(
        "illegal_state_exception",
        format!("Automaton [{}] expanded to too many terms (limit {})", terms.text, terms.count_max),
    )
}
