//! Requests for terms instead of hits: "which terms does this document, or this field, have?"

pub(crate) mod term_vectors;
pub(crate) mod terms_enum;
