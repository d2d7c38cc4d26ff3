//! Documents of `percolate` queries that are in an index: read when the search begins, and put in their place.
//!
//! Source: Elasticsearch's `PercolateQueryBuilder#doRewrite`.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::Node;
use crate::api::*;

/// Documents that one request may read. Ours.
const LOOKUPS_MAX: usize = 1_000;
/// What says where the document is.
const LOOKUP: [&str; 5] = ["index", "id", "routing", "preference", "version"];

impl Node {
    /// Replaces `{"percolate": {"index", "id", "routing", "preference", "version"}}` in the JSON of a search by `document`.
    ///
    /// # Errors
    /// `index_not_found_exception`; `resource_not_found_exception` for a document that is not there; one of another version.
    pub(super) fn resolve_percolate_lookups(&self, body: &mut Value) -> Result<()> {
        self.put_documents(body, &mut 0)
    }

    fn put_documents(&self, value: &mut Value, count: &mut usize) -> Result<()> {
        // The parser's depth of JSON (128) bounds this recursion.
        match value {
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.put_documents(item, count)),
            Value::Object(members) => members.iter_mut().try_for_each(|(name, value)| match value {
                Value::Object(options) if name == "percolate" => self.put_document(options, count),
                other => self.put_documents(other, count),
            }),
            _ => Ok(()),
        }
    }

    fn put_document(&self, options: &mut Map<String, Value>, count: &mut usize) -> Result<()> {
        let text = |name: &str| match options.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(scalar @ Value::Number(_)) => Some(scalar.to_string()),
            _ => None,
        };
        let (index, id, routing) = (text("index"), text("id"), text("routing"));
        let version = text("version").and_then(|version| version.parse::<u64>().ok());
        let (Some(index), Some(id)) = (&index, &id) else {
            // The parser says what is missing.
            LOOKUP.iter().for_each(|name| drop(options.remove(*name)));
            return Ok(());
        };
        *count += 1;
        if *count > LOOKUPS_MAX {
            return Err(RequestError::illegal_argument(format!(
                "more than [{LOOKUPS_MAX}] indexed documents in the [percolate] queries of one request"
            )));
        }
        let found = self.get(&GetRequest { routing: routing.as_deref(), ..GetRequest::new(index, id) })?;
        let Some(document) = found.found else {
            let reason = format!("indexed document [{index}/{id}] couldn't be found");
            return Err(RequestError::new(404, "resource_not_found_exception", reason));
        };
        if let Some(wanted) = version.filter(|wanted| *wanted != document.version) {
            let reason = format!(
                "[{id}]: version conflict, current version [{}] is different than the one provided [{wanted}]",
                document.version
            );
            return Err(RequestError::new(409, "version_conflict_engine_exception", reason));
        }
        let source: Value = serde_json::from_slice(&document.source)
            .map_err(|error| RequestError::new(500, "exception", error.to_string()))?;
        LOOKUP.iter().for_each(|name| drop(options.remove(*name)));
        options.insert("document".to_owned(), source);
        Ok(())
    }
}
