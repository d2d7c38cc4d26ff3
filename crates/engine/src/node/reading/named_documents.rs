//! Gives queries access to documents that they name.

use std::sync::Weak;

use limber_access::Acting;
use limber_mapping::RequestError;
use limber_search::{
    DocumentName, NamedDocument, NamedDocuments, RuledDocuments, SearchRequest, SearchResponse, UrlParameters,
};
use serde_json::{Map, Value, json};

use super::placement::Placement;
use crate::api::*;
use crate::node::Node;

const GET: &str = "indices:data/read/get";
const SEARCH: &str = "indices:data/read/search";

/// Makes this thread carry out `action` until the guard drops, for the documents of an index that a query
/// names.
///
/// Some requests with queries, such as `_validate/query`, only need the right to see metadata. They show what
/// a query becomes, and with it the values of such documents. A request that reads documents keeps its own
/// action for an index that it has reached through an alias.
fn reading(action: &'static str, index: &str) -> Option<Acting> {
    let access = limber_access::current()?;
    let own = access.action();
    let is_about_documents = own.starts_with("indices:data/read/") && own != "indices:data/read/field_caps";
    match is_about_documents && access.has_reached(index) {
        true => None,
        false => Some(limber_access::acting(action)),
    }
}

/// Does the same as [`reading`] for a single document.
pub(super) fn reading_document(index: &str) -> Option<Acting> {
    reading(GET, index)
}

/// The documents of a node, which may be gone by now.
pub(in crate::node) struct DocumentsOf(pub Weak<Node>);

impl NamedDocuments for DocumentsOf {
    fn read(&self, name: &DocumentName) -> Result<Option<NamedDocument>> {
        let Some(node) = self.0.upgrade() else {
            return Err(RequestError::unavailable("node_closed_exception", "node closed"));
        };
        let _acting = reading_document(&name.index);
        let request = GetRequest {
            routing: name.routing.as_deref(),
            version: name.version,
            ..GetRequest::new(&name.index, &name.id)
        };
        let response = node.get(&request)?;
        if response.found.is_none() {
            return Ok(None);
        }
        let mapping = node.index_of(&response)?.1.core.mapping.load_full();
        Ok(response.found.map(|document| NamedDocument { source: document.source, mapping }))
    }

    fn other_names(&self, index: &str) -> Vec<String> {
        let Some(node) = self.0.upgrade() else { return Vec::new() };
        let catalog = node.catalog.load();
        let Some(metadata) = catalog.indices.get(index) else { return Vec::new() };
        let stream = catalog.stream_of(index).map(|stream| stream.name.to_string());
        catalog.alias_names(metadata).cloned().chain(stream).collect()
    }

    fn find(&self, index: &str, query: &Value, path: &str) -> Result<Vec<NamedDocument>> {
        let Some(node) = self.0.upgrade() else {
            return Err(RequestError::unavailable("node_closed_exception", "node closed"));
        };
        let _acting = reading(SEARCH, index);
        loop {
            let indices = node.live_of(index, IndicesOptions::SEARCH)?;
            let windows = indices.iter().map(|(_, live)| live.core.settings.load().max_result_window);
            let (Some(size), Some((_, first))) = (windows.min(), indices.first()) else {
                return Ok(Vec::new());
            };
            let body = json!({"query": query, "size": size, "_source": [path], "track_total_hits": false});
            let request = SearchRequest::parse(&body, &UrlParameters(Vec::new()))?;
            let response = searched(&node, index, &request)?;
            // The mapping must be that of the index that was searched: its name may be that of another one.
            let now = node.live_of(index, IndicesOptions::SEARCH)?;
            if indices.iter().map(|(one, _)| &one.uuid).ne(now.iter().map(|(one, _)| &one.uuid)) {
                limber_work::check()?;
                continue;
            }
            let mapping = first.core.mapping.load_full();
            let documents = response.hits.into_iter().filter_map(|hit| hit.source);
            return Ok(documents.map(|source| NamedDocument { source, mapping: mapping.clone() }).collect());
        }
    }

    fn fields_of(&self, index: &str, body: &Value, lookup_depth: u32) -> Result<Vec<Value>> {
        let Some(node) = self.0.upgrade() else {
            return Err(RequestError::unavailable("node_closed_exception", "node closed"));
        };
        let _acting = reading(SEARCH, index);
        let parsed = SearchRequest::parse(body, &UrlParameters(Vec::new()))?;
        let request = SearchRequest { lookup_depth, ..parsed };
        let response = searched(&node, index, &request)?;
        Ok(response.hits.into_iter().filter_map(|hit| hit.fields).map(|fields| *fields).collect())
    }

    fn apply_rules(&self, sets: &[String], match_criteria: &Map<String, Value>) -> Result<RuledDocuments> {
        match self.0.upgrade() {
            Some(node) => node.apply_rules(sets, match_criteria),
            None => Err(RequestError::unavailable("node_closed_exception", "node closed")),
        }
    }
}

/// Runs a search of an index that another search needs. All shards must answer.
fn searched(node: &Node, index: &str, request: &SearchRequest) -> Result<SearchResponse> {
    let flag = limber_work::cancelled().unwrap_or_default();
    let found = node.search(index, IndicesOptions::SEARCH, Placement::default(), request, None, flag);
    let (response, _) = found.map_err(|error| error.to_request_error())?;
    match response.shards.failures.first() {
        None => Ok(response),
        Some(failure) => Err(failure.reason.clone()),
    }
}
