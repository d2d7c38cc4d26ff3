//! What a search names in other documents: read when it begins, and put in its place.

use limber_mapping::RequestError;
use limber_work::{self as work, Stop};
use serde_json::Value;

use super::Node;
use crate::api::*;

impl Node {
    /// Puts what other documents hold into the JSON of a search: terms, shapes, documents to percolate and terms of documents that
    /// others are to be like. `indices`: what the search is of, for documents that are named without an index; `None`: it is not known.
    ///
    /// Errors: as any of them.
    pub fn resolve_lookups(&self, body: &mut Value, indices: Option<&str>) -> Result<()> {
        self.resolve_terms_lookups(body)?;
        self.resolve_shape_lookups(body)?;
        self.resolve_percolate_lookups(body)?;
        self.resolve_like_lookups(body, indices)
    }
}

/// Calls `visit` with every member `name` of the objects in a search, inner ones first. Documents to percolate are none of the search: they
/// are passed over.
pub(super) fn each_member(
    body: &mut Value,
    name: &str,
    visit: &mut impl FnMut(&mut Value) -> Result<()>,
) -> Result<()> {
    below(body, false, name, visit)
}

fn below(
    value: &mut Value,
    is_percolate: bool,
    name: &str,
    visit: &mut impl FnMut(&mut Value) -> Result<()>,
) -> Result<()> {
    // The parser's depth of JSON (128) bounds this recursion.
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(|item| below(item, false, name, visit)),
        Value::Object(members) => members
            .iter_mut()
            .filter(|(key, _)| !(is_percolate && matches!(key.as_str(), "document" | "documents")))
            .try_for_each(|(key, value)| {
                // Neither are documents that others are to be like.
                if !(key == "more_like_this" && value.get("like").is_some()) {
                    below(value, key == "percolate", name, visit)?;
                }
                if key == name { visit(value) } else { Ok(()) }
            }),
        _ => Ok(()),
    }
}

/// What a byte of JSON takes as a tree, about: a number of two digits and its comma become 72 bytes.
const TREE_BYTES_A_BYTE: u64 = 24;

/// Whether the request may go on.
///
/// Errors: it was cancelled, or holds more than there is room for.
pub(super) fn check_work() -> Result<()> {
    work::check_beyond_deadline().map_err(stopped)
}

/// Errors: there is no room for a document as a tree.
pub(super) fn check_parse(source: &[u8]) -> Result<()> {
    work::claim(source.len() as u64 * TREE_BYTES_A_BYTE).map_err(stopped)
}

fn stopped(stop: Stop) -> RequestError {
    stop.into()
}

/// Documents that one request may read for its queries of one kind. Ours.
const DOCUMENTS_MAX: usize = 1_000;
/// JSON of the documents that one request may read, some of which is held as long as the request. Ours.
const DOCUMENT_BYTES_MAX: usize = 16 << 20;

/// The documents that one request has read for its queries of one kind.
pub(super) struct DocumentsRead {
    query: &'static str,
    count: usize,
    bytes: usize,
}

impl DocumentsRead {
    pub fn of(query: &'static str) -> DocumentsRead {
        DocumentsRead { query, count: 0, bytes: 0 }
    }

    /// Errors: one document more than a request may read.
    pub fn count(&mut self) -> Result<()> {
        self.count += 1;
        if self.count > DOCUMENTS_MAX {
            return Err(RequestError::illegal_argument(format!(
                "more than [{DOCUMENTS_MAX}] indexed documents in the [{}] queries of one request",
                self.query
            )));
        }
        Ok(())
    }

    /// Errors: more bytes than the documents of a request may have.
    pub fn weigh(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        if self.bytes > DOCUMENT_BYTES_MAX {
            return Err(RequestError::illegal_argument(format!(
                "the indexed documents in the [{}] queries of one request are larger than [{DOCUMENT_BYTES_MAX}] bytes",
                self.query
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_to_percolate_are_passed_over() {
        let mut body = json!({
            "query": {"bool": {"filter": [
                {"terms": {"a": 1}},
                {"percolate": {"field": "q", "documents": [{"terms": {"b": 2}}], "document": {"terms": {"c": 3}}}}
            ]}},
            "aggs": {"percolate": {"filter": {"terms": {"d": 4}}}, "documents": {"filter": {"terms": {"e": 5}}}}
        });
        let mut seen = Vec::new();
        let mut visit = |value: &mut Value| {
            seen.push(value.clone());
            Ok(())
        };
        each_member(&mut body, "terms", &mut visit).expect("visits");
        assert_eq!(seen, [json!({"a": 1}), json!({"d": 4}), json!({"e": 5})]);
    }
}
