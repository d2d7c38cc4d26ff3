//! Queries for documents by other documents: nested ones, children and parents.

pub(super) mod inner_hits;
pub(super) mod join;
pub(super) mod nested;
