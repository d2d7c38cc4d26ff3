//! Documents of `percolate` queries that are in an index: read when the search begins, and put in their place.
//!
//! Source: Elasticsearch's `PercolateQueryBuilder#doRewrite`.

use limber_mapping::RequestError;
use limber_search::PercolateLookup;
use serde_json::{Map, Value};

use super::Node;
use super::lookups::{DocumentsRead, each_member};
use crate::api::*;

impl Node {
    /// Replaces `{"percolate": {"index", "id", "routing", "preference", "version"}}` in the JSON of a search by `document`.
    ///
    /// # Errors
    /// As of [`PercolateLookup::of`]; `index_not_found_exception`; `resource_not_found_exception` for a document that is not there; one of
    /// another version, or of an index that keeps no sources; more documents, or larger ones, than a request may read.
    pub(super) fn resolve_percolate_lookups(&self, body: &mut Value) -> Result<()> {
        let mut read = DocumentsRead::of("percolate");
        each_member(body, "percolate", &mut |query: &mut Value| match query {
            Value::Object(options) => self.put_document(options, &mut read),
            _ => Ok(()),
        })
    }

    fn put_document(&self, options: &mut Map<String, Value>, read: &mut DocumentsRead) -> Result<()> {
        let Some(lookup) = PercolateLookup::of(options)? else { return Ok(()) };
        let source = self.look_up_document(&lookup)?;
        read.count()?;
        read.weigh(source.len())?;
        let document: Value = serde_json::from_slice(&source)
            .map_err(|error| RequestError::new(500, "exception", error.to_string()))?;
        options.retain(|name, _| !PercolateLookup::OPTIONS.contains(&name.as_str()));
        options.insert("document".to_owned(), document);
        Ok(())
    }

    fn look_up_document(&self, lookup: &PercolateLookup) -> Result<Vec<u8>> {
        let PercolateLookup { index, id, routing, version } = lookup;
        let request =
            GetRequest { routing: routing.as_deref(), version: *version, ..GetRequest::new(index, id) };
        let Some(document) = self.get(&request)?.found else {
            let reason = format!("indexed document [{index}/{id}] couldn't be found");
            return Err(RequestError::new(404, "resource_not_found_exception", reason));
        };
        if document.source.is_empty() {
            let reason = format!("indexed document [{index}/{id}] source disabled");
            return Err(RequestError::illegal_argument(reason));
        }
        Ok(document.source)
    }
}
