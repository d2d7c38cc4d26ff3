//! `_termvectors`: finds a document, and the shard that provides the term statistics.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use limber_mapping::RequestError;
use limber_search::{SearchContext, TermVectorsRequest};
use serde_json::{Map, Value};

use crate::api::*;
use crate::catalog::{IndexMetadata, alias};
use crate::node::Node;
use crate::shard::ids::routing;

/// The term vectors of one document.
#[derive(Debug)]
pub struct TermVectorsResponse {
    /// The document's index.
    pub index: Arc<str>,
    /// 0 when there is no such document, and for a document from the request.
    pub version: u64,
    /// The term vectors; `None` renders `"found": false`.
    pub vectors: Option<Map<String, Value>>,
}

impl Node {
    /// Returns the term vectors of a document in the index, or of one in the request.
    pub fn term_vectors(
        &self,
        index: &str,
        request: &TermVectorsRequest,
        realtime: bool,
        cancelled: Arc<AtomicBool>,
    ) -> Result<TermVectorsResponse> {
        loop {
            let (metadata, alias_routing) = self.catalog.load().single(index)?;
            let context = self.search_context(cancelled.clone());
            match self.term_vectors_from(index, (&metadata, alias_routing), request, realtime, &context) {
                // Since the name was looked up, the alias moved to another index, or the name to a new index.
                Err(_) if self.is_outdated(&metadata) => {}
                outcome => return outcome,
            }
        }
    }

    /// Works like [`Node::term_vectors`], for an index that `index` was resolved to, and the routing of the
    /// alias. The document and the statistics come from the same index, whatever gets its name meanwhile.
    fn term_vectors_from(
        &self,
        index: &str,
        (metadata, alias_routing): (&Arc<IndexMetadata>, Option<String>),
        request: &TermVectorsRequest,
        realtime: bool,
        context: &SearchContext,
    ) -> Result<TermVectorsResponse> {
        self.check_read_block(metadata)?;
        let live = self.live(metadata)?;
        let routing = alias::index_routing(index, alias_routing.as_deref(), request.routing.as_deref())?;
        let id = request.id.as_deref().unwrap_or_default();
        let number = routing::shard_of(&live.core.settings.load(), id, routing);
        let shard = live.shard(number)?;
        let mut answer = TermVectorsResponse { index: metadata.name.clone(), version: 0, vectors: None };
        let source: Value = match &request.document {
            Some(document @ Value::Object(_)) => document.clone(),
            Some(_) => {
                return Err(RequestError::bad_request(
                    "document_parsing_exception",
                    "Malformed content, must start with an object",
                ));
            }
            None => {
                let mut get = GetRequest::new(index, id);
                (get.routing, get.realtime, get.version) =
                    (request.routing.as_deref(), realtime, request.version);
                get.is_counted = false;
                let found = self.get_from(&get, metadata, alias_routing)?.found;
                let Some(found) = found else { return Ok(answer) };
                answer.version = found.identity.version;
                limber_mapping::claim_parsed(&found.source)?;
                limber_mapping::parse_source(&found.source).unwrap_or_default()
            }
        };
        let snapshot = shard.snapshot()?;
        let is_artificial = request.document.is_some();
        let vectors = limber_search::term_vectors(&snapshot, &source, is_artificial, request, context);
        answer.vectors = Some(vectors.map_err(|error| error.to_request_error())?);
        Ok(answer)
    }
}
