//! `_async_search` starts searches that outlive their request, and returns their results.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use limber_mapping::RequestError;
use limber_search::SearchRequest;

use super::placement::Placement;
use crate::api::*;
use crate::contexts::async_search::AsyncSearch;
use crate::node::Node;
use crate::tasks::caught::caught;

impl Node {
    /// Starts a search on a separate thread and waits for it up to `wait_ms`.
    ///
    /// Errors: those of the expression, and too many async searches (`TooManyRequests`). Later errors are the
    /// outcome of the search.
    pub fn submit_async_search(
        self: &Arc<Self>,
        expression: &str,
        options: IndicesOptions,
        placement: Placement<'_>,
        request: SearchRequest,
        keep_alive_ms: u64,
        wait_ms: u64,
    ) -> Result<Arc<AsyncSearch>> {
        let targets = self.search_targets(expression, options, placement)?;
        let shard_count = targets.iter().map(|target| target.shards.len() as u32).sum();
        let cancelled = Arc::new(AtomicBool::new(false));
        let search = self.async_searches.add(keep_alive_ms, shard_count, cancelled.clone())?;
        let node = self.clone();
        let expression = expression.to_owned();
        let (routing, preference) =
            (placement.routing.map(str::to_owned), placement.preference.map(str::to_owned));
        let running = search.clone();
        // What the request has parsed stays charged until the search has ended.
        let held = limber_work::Work::current().and_then(|work| work.meter);
        let run = limber_access::carried(move || {
            let placement = Placement { routing: routing.as_deref(), preference: preference.as_deref() };
            let found = caught(|| node.search(&expression, options, placement, &request, None, cancelled));
            drop((request, held));
            running.finish(&*node.environment.clock, found.map(|(response, _)| response));
        });
        let spawned = limber_store::sync::spawn("async-search", run);
        if let Err(error) = spawned {
            self.async_searches.remove(&search.id)?;
            return Err(RequestError::unavailable("es_rejected_execution_exception", error.to_string()));
        }
        if let Err(error) = search.wait(wait_ms) {
            // No client has learned the id.
            self.async_searches.remove(&search.id)?;
            return Err(error);
        }
        Ok(search)
    }

    /// Returns a search that was started before; waits up to `wait_ms` for its end. If `keep_alive_ms` is
    /// given, the search is kept for that long from now on.
    pub fn async_search(
        &self,
        id: &str,
        keep_alive_ms: Option<u64>,
        wait_ms: u64,
    ) -> Result<Arc<AsyncSearch>> {
        let search = self.async_searches.get(id, keep_alive_ms)?;
        search.wait(wait_ms)?;
        Ok(search)
    }

    /// Stops and removes an async search.
    pub fn delete_async_search(&self, id: &str) -> Result<()> {
        self.async_searches.remove(id)
    }
}
