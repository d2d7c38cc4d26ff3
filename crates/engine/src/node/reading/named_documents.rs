//! Gives queries access to documents that they name.

use std::sync::Weak;

use limber_mapping::RequestError;
use limber_search::{DocumentName, NamedDocument, NamedDocuments, RuledDocuments};
use serde_json::{Map, Value};

use crate::api::*;
use crate::node::Node;

/// The documents of a node, which may be gone by now.
pub(in crate::node) struct DocumentsOf(pub Weak<Node>);

impl NamedDocuments for DocumentsOf {
    fn read(&self, name: &DocumentName) -> Result<Option<NamedDocument>> {
        let Some(node) = self.0.upgrade() else {
            return Err(RequestError::unavailable("node_closed_exception", "node closed"));
        };
        let request = GetRequest {
            routing: name.routing.as_deref(),
            version: name.version,
            ..GetRequest::new(&name.index, &name.id)
        };
        let response = node.get(&request)?;
        let Some(document) = response.found else { return Ok(None) };
        let (metadata, _) = node.catalog.load().single(&name.index)?;
        let mapping = node.live(&metadata)?.core.mapping.load_full();
        Ok(Some(NamedDocument { source: document.source, mapping }))
    }

    fn apply_rules(&self, sets: &[String], match_criteria: &Map<String, Value>) -> Result<RuledDocuments> {
        match self.0.upgrade() {
            Some(node) => node.apply_rules(sets, match_criteria),
            None => Err(RequestError::unavailable("node_closed_exception", "node closed")),
        }
    }
}
