//! Reads: single documents, searches, what outlives its request, and what they need to know of the node.

pub(super) mod alias_filters;
pub(super) mod async_search;
pub(super) mod contexts;
pub(super) mod documents;
pub(super) mod named_documents;
pub(super) mod placement;
pub(super) mod query_rules;
pub(super) mod search;
pub(super) mod search_pipelines;
pub(super) mod term_vectors;
pub(super) mod trial;
