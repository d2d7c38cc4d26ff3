//! Queries that wait for documents: "which of the queries in this index match these documents?"
//!
//! When a document with a query is written, [`index_queries`] adds to the query's field what the query is found by: its terms, where one of
//! them must be in whatever it matches ([`extract`]), and the query itself as JSON. A `percolate` query makes a shard of its own of its documents
//! ([`held`]), takes the queries that share a term with them (and those that nothing can be told of) as candidates, and runs each
//! over these documents. A query that is known to match by its terms alone is not run.
//!
//! All this is one field with terms of several kinds, told apart by their first byte; the JSON is the last of a document's terms. Source: Lucene's
//! and Elasticsearch's `PercolatorFieldMapper`, `QueryAnalyzer`, `PercolateQuery`.

mod extract;
mod held;
mod run;

use std::sync::Arc;

use limber_mapping::{Field, FieldSink, RequestError};
use serde_json::Value;

use crate::context::ShardSnapshot;
use crate::error::{Error, Result};
use crate::query::{QueryLimits, bind_to_mapped, parse_query};
use extract::{Found, extract};

pub(crate) use held::{hold, keys_of};
pub(crate) use run::{StoredQueries, slots_of};

/// A document with this term matches.
pub(crate) const MATCHES: u8 = 1;
/// A document without any of these terms does not match.
pub(crate) const CANDIDATE: u8 = 2;
/// Nothing can be told of it without running it.
pub(crate) const UNKNOWN: u8 = 3;
/// The query is read from the source of its document: it is too long for a term.
pub(crate) const IN_SOURCE: u8 = 4;
/// The query as JSON.
pub(crate) const QUERY: u8 = 5;

/// Longest term of a segment.
const TERM_BYTES_MAX: usize = limber_segment::TERM_BYTES_MAX;

/// A term of a field as a key of one kind.
pub(crate) fn key(kind: u8, path: &str, term: &[u8]) -> Vec<u8> {
    [&[kind], path.as_bytes(), &[0], term].concat()
}

/// Feeds what the queries of a document are found by. `shard`: mapping and scripts alone are asked. `source`: JSON that the mapping took.
///
/// # Errors
/// A query that cannot be read or bound, in Elasticsearch's words; several queries in one document.
pub fn index_queries<S: FieldSink>(
    shard: &ShardSnapshot,
    source: &[u8],
    now_millis: i64,
    sink: &mut S,
) -> std::result::Result<(), RequestError> {
    let mapping = shard.mapping.clone();
    let document: Value = serde_json::from_slice(source)
        .map_err(|error| RequestError::new(400, "document_parsing_exception", error.to_string()))?;
    for field in mapping.queries() {
        let mut queries = Vec::new();
        values_at(&document, &field.path, &mut queries);
        match queries.as_slice() {
            [] => {}
            [query] => index_query(shard, field, query, now_millis, sink)
                .map_err(|error| failed(error.to_request_error()))?,
            _ => {
                let why = RequestError::illegal_argument("a document can only contain one percolator query");
                return Err(failed(why));
            }
        }
    }
    Ok(())
}

fn failed(cause: RequestError) -> RequestError {
    RequestError::new(400, "document_parsing_exception", format!("failed to parse: {}", cause.reason))
        .caused_by(cause)
}

fn index_query<S: FieldSink>(
    shard: &ShardSnapshot,
    field: &Arc<Field>,
    query: &Value,
    now_millis: i64,
    sink: &mut S,
) -> Result<()> {
    let parsed = parse_query(query, &QueryLimits::default())?;
    let (kind, terms) = match extract(&bind_to_mapped(&parsed, shard, now_millis)?) {
        Found::Terms { terms, is_exact: true } => (MATCHES, terms),
        Found::Terms { terms, is_exact: false } => (CANDIDATE, terms),
        Found::Unknown => (UNKNOWN, vec![]),
    };
    let is_long = terms.iter().any(|(path, term)| path.len() + term.len() + 2 > TERM_BYTES_MAX);
    if kind == UNKNOWN || is_long {
        sink.term(field, &[UNKNOWN]);
    } else {
        terms.iter().for_each(|(path, term)| sink.term(field, &key(kind, path, term)));
    }
    let mut json = vec![QUERY];
    serde_json::to_writer(&mut json, query).expect("a value is JSON");
    if json.len() > TERM_BYTES_MAX {
        json = vec![IN_SOURCE];
    }
    sink.term(field, &json);
    Ok(())
}

/// The values at a dotted path, through lists and through names that hold dots themselves. Nulls are none.
fn values_at<'v>(value: &'v Value, path: &str, out: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| values_at(item, path, out)),
        Value::Null => {}
        value if path.is_empty() => out.push(value),
        Value::Object(members) => {
            for (name, inner) in members {
                match path.strip_prefix(name.as_str()) {
                    Some("") => values_at(inner, "", out),
                    Some(rest) => {
                        if let Some(rest) = rest.strip_prefix('.') {
                            values_at(inner, rest, out);
                        }
                    }
                    None => {}
                }
            }
        }
        _ => {}
    }
}

/// The query in the source of its document.
pub(crate) fn query_in_source(source: &[u8], path: &str) -> Result<Value> {
    let unreadable = |why: String| Error::Request(RequestError::new(500, "exception", why));
    let document: Value = serde_json::from_slice(source).map_err(|error| unreadable(error.to_string()))?;
    let mut queries = Vec::new();
    values_at(&document, path, &mut queries);
    match queries.first() {
        Some(query) => Ok((*query).clone()),
        None => Err(unreadable(format!("the source of a document has no query at [{path}]"))),
    }
}
