//! Reads: single documents, searches, searches that outlive their request; and what they need from the node,
//! such as aliases, routing and query rules.

pub(super) mod alias_filters;
pub(super) mod async_search;
pub(super) mod contexts;
pub(super) mod documents;
pub(super) mod meters;
pub(super) mod named_documents;
pub(super) mod placement;
pub(super) mod present_fields;
pub(super) mod query_rules;
pub(super) mod search;
pub(super) mod search_pipelines;
pub(super) mod term_vectors;
pub(super) mod trial;
