//! `_scripts/painless/_execute` runs a script on a document from the request, under the mapping of an index.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use limber_script::Script;
use limber_search::{SearchRequest, SearchResponse};
use serde_json::Value;

use crate::node::Node;

impl Node {
    /// Searches a document from the request as if it were the only one in `index`.
    pub fn search_document(
        &self,
        index: &str,
        document: &Value,
        request: &SearchRequest,
        cancelled: Arc<AtomicBool>,
    ) -> limber_search::Result<SearchResponse> {
        let context = self.search_context(cancelled);
        let held = self.held(index, document, &context)?;
        limber_search::execute(&[held], request, &context)
    }

    /// Returns what the script of a `composite` runtime field emits for a document from the request.
    pub fn emitted_for_document(
        &self,
        index: &str,
        document: &Value,
        script: &Script,
        cancelled: Arc<AtomicBool>,
    ) -> limber_search::Result<Value> {
        let context = self.search_context(cancelled);
        let held = self.held(index, document, &context)?;
        limber_search::emitted_by_name(script, &held)
    }

    fn held(
        &self,
        index: &str,
        document: &Value,
        context: &limber_search::SearchContext,
    ) -> limber_search::Result<limber_search::ShardSnapshot> {
        // The script runs with the mapping and analyzers of the index.
        let _acting = limber_access::acting("indices:data/read/scripts/painless/execute");
        let (metadata, _) = self.catalog.load().single(index)?;
        self.check_read_block(&metadata)?;
        let snapshot = self.live(&metadata)?.shard(0)?.snapshot()?;
        limber_search::hold_document(&snapshot, document.to_string().into_bytes(), context)
    }
}
