//! "How is a stored query found?" By terms that are indexed with its document.

use std::sync::Arc;

use limber_mapping::{Field, FieldSink, RequestError};
use limber_segment::TERM_BYTES_MAX;
use serde_json::Value;

use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::query::specialized::percolate::{CANDIDATE, IN_SOURCE, MATCHES, QUERY, UNKNOWN, key, queries_at};
use crate::query::{RequiredTerms, bind_to_mapped};
use crate::request::read_query;

/// Passes the terms by which a document's queries are found to `sink`. Only the mapping and the scripts of
/// `shard` are used. `source` is JSON that was parsed with that mapping.
///
/// # Errors
/// A query that cannot be parsed or bound, in Elasticsearch's words; several queries in one document.
pub fn index_queries<S: FieldSink>(
    shard: &ShardSnapshot,
    source: &[u8],
    now_millis: i64,
    sink: &mut S,
) -> std::result::Result<(), RequestError> {
    let mapping = shard.mapping.clone();
    limber_mapping::claim_parsed(source)?;
    let document: Value = limber_mapping::parse_source(source)
        .map_err(|error| RequestError::bad_request("document_parsing_exception", error.to_string()))?;
    for field in mapping.queries() {
        match queries_at(&document, &field.path).as_slice() {
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
    RequestError::bad_request("document_parsing_exception", format!("failed to parse: {}", cause.reason))
        .caused_by(cause)
}

fn index_query<S: FieldSink>(
    shard: &ShardSnapshot,
    field: &Arc<Field>,
    query: &Value,
    now_millis: i64,
    sink: &mut S,
) -> Result<()> {
    let parsed = read_query(query)?;
    let (kind, terms) = match bind_to_mapped(&parsed, shard, now_millis)?.node.required_terms() {
        RequiredTerms::AnyOf { terms, is_exact: true } => (MATCHES, terms),
        RequiredTerms::AnyOf { terms, is_exact: false } => (CANDIDATE, terms),
        RequiredTerms::Unknown => (UNKNOWN, vec![]),
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
