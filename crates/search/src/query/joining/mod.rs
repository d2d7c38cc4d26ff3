//! Queries for documents by nested documents, children or parents (Elasticsearch's joining queries).

pub(super) mod inner_hits;
pub(super) mod join;
pub(super) mod nested;
