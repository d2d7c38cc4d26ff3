//! Endpoints that write, read and copy documents: one, several, or those that match a query.

pub(super) mod bulk;
mod bulk_action;
mod bulk_items;
pub(super) mod by_query;
pub(super) mod document;
pub(super) mod mget;
pub(super) mod reindex;
pub(super) mod source_filter;
pub(super) mod term_vectors;
mod update_body;
