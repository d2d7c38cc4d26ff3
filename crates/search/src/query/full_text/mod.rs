//! Queries that analyse their texts (Elasticsearch's full-text queries), and their common parts.

pub(super) mod analysed;
pub(super) mod combined_fields;
pub(super) mod common_terms;
pub(super) mod cross_fields;
pub(super) mod intervals;
mod leaves;
pub(super) mod lenient;
pub(super) mod match_phrase;
pub(super) mod match_text;
pub(super) mod more_like_this;
pub(super) mod multi_match;
pub(super) mod phrase_parts;
pub(super) mod query_string;
pub(super) mod query_string_syntax;
pub(super) mod simple_query_string;
pub(super) mod simple_query_string_syntax;
pub(super) mod synonym;
pub(super) mod token_graph;
