//! Terms asked for by themselves: "which terms does this document, or this field, have?"

pub(crate) mod term_vectors;
pub(crate) mod terms_enum;
