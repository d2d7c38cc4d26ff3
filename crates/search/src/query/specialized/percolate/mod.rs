//! Stored queries, and the query that finds those that match given documents.
//!
//! When a document with a stored query is indexed, `index_queries` adds terms to the query's field by which
//! it can be found: the terms of which a matching document must have one, if that is known, and the query
//! itself as JSON. A `percolate` query indexes its documents in a shard of their own (`held`). Its candidates
//! are the stored queries that share a term with these documents, and those about which nothing is known.
//! Each candidate is run on the documents, unless its terms alone show that it matches.
//!
//! All this is in one field, whose terms have several kinds, distinguished by their first byte. The JSON is
//! the last term of a document. Source: Lucene's and Elasticsearch's `PercolatorFieldMapper`,
//! `QueryAnalyzer`, `PercolateQuery`.

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
