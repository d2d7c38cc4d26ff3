//! Queries that find documents by those they are joined with: nested documents, children, parents
//! (Elasticsearch's joining queries).

pub(super) mod inner_hits;
pub(super) mod join;
pub(super) mod nested;
