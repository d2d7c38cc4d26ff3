//! The terms that match a pattern of an `intervals` query.

use std::sync::Arc;

use limber_mapping::{Field, RequestError};

use super::docs::Docs;

/// The terms that match a pattern; every segment looks them up for itself.
#[derive(Debug)]
pub(crate) struct PatternTerms {
    pub field: Arc<Field>,
    pub docs: Docs,
    /// Maximum number of terms in a segment; more are refused.
    pub count_max: usize,
    /// How Lucene prints them.
    pub text: String,
    /// Distinguishes them from other terms of the field.
    pub key: String,
}

pub(crate) fn too_many_terms(terms: &PatternTerms) -> RequestError {
    RequestError::bad_request(
        "illegal_state_exception",
        format!("Automaton [{}] expanded to too many terms (limit {})", terms.text, terms.count_max),
    )
}
