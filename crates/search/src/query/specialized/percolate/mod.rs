//! Queries that wait for documents: "which of the queries in this index match these documents?"
//!
//! When a document with a query is written, `index_queries` adds to the query's field what the query is found
//! by: its terms, where one of them must be in whatever it matches, and the query itself as JSON. A
//! `percolate` query makes a shard of its own of its documents (`held`), takes the queries that share a term
//! with them (and those that nothing can be told of) as candidates, and runs each over these documents. A
//! query that is known to match by its terms alone is not run.
//!
//! All this is one field with terms of several kinds, told apart by their first byte; the JSON is the last of
//! a document's terms. Source: Lucene's and Elasticsearch's `PercolatorFieldMapper`, `QueryAnalyzer`,
//! `PercolateQuery`.

mod answers;
mod held_keys;
mod in_source;
mod keys;
mod lookup;
mod node;
mod stored;

pub(crate) use in_source::queries_at;
pub(crate) use keys::{CANDIDATE, IN_SOURCE, MATCHES, QUERY, UNKNOWN, key};
pub(crate) use node::PercolateNode;
pub(in crate::query) use node::parse;
pub(crate) use stored::{StoredQueries, matching_slots};
