//! Starts a request by query as a task of the node, and waits for its end if the request asks for that.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use limber_store::sync;
use serde_json::Value;

use super::conductor;
use super::request::{ByQueryRequest, Change, SLICES_AUTO_MAX, Slices};
use super::response::{ByQueryResponse, no_thread};
use crate::api::Result;
use crate::node::Node;
use crate::tasks::progress::Progress;

impl Node {
    /// Runs the request and returns its result. `cancelled` is set when nobody waits for the response any
    /// more.
    pub fn by_query(
        self: &Arc<Self>,
        request: ByQueryRequest,
        cancelled: Arc<AtomicBool>,
    ) -> Result<ByQueryResponse> {
        let progress = Arc::new(self.progress_of(&request, cancelled.clone())?);
        let _task = self.tasks.register_by_query(
            request.action(),
            request.description(),
            cancelled,
            progress.clone(),
        );
        // A simulated thread must not wait for a thread outside the simulation.
        if sync::is_simulated() {
            return self.run_by_query(&request, &progress);
        }
        // The request runs on a separate thread, so that the pool counts this thread as waiting until it has
        // ended.
        let run = || {
            std::thread::scope(|scope| {
                let run = limber_access::carried(|| self.run_by_query(&request, &progress));
                let thread = sync::thread_builder("by-query").spawn_scoped(scope, run);
                thread.map(|thread| thread.join()).map_err(|error| no_thread(&error))
            })
        };
        limber_work::waiting(run)?.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Starts the request and returns the task's id. The result, as rendered by `render`, is kept for
    /// `GET _tasks/{id}`. What is found wrong with the indices is the result of the task, as in
    /// Elasticsearch.
    pub fn start_by_query(
        self: &Arc<Self>,
        request: ByQueryRequest,
        render: fn(ByQueryResponse) -> Value,
    ) -> Result<String> {
        let cancelled = Arc::new(AtomicBool::new(false));
        let (progress, refused) = match self.progress_of(&request, cancelled.clone()) {
            Ok(progress) => (progress, None),
            Err(error) => {
                let speed = request.requests_per_second;
                (Progress::new(request.counted(), 1, speed, cancelled.clone()), Some(error))
            }
        };
        let progress = Arc::new(progress);
        let (action, description) = (request.action(), request.description());
        let node = self.clone();
        let of_task = progress.clone();
        self.tasks.spawn_by_query(action, description, cancelled, of_task, move || match refused {
            Some(error) => Err(error),
            None => node.run_by_query(&request, &progress).map(render),
        })
    }

    /// Checks what can be checked before the start, and makes the counters of the request.
    fn progress_of(&self, request: &ByQueryRequest, cancelled: Arc<AtomicBool>) -> Result<Progress> {
        let catalog = self.catalog.load();
        let acting = limber_access::acting("indices:data/read/search");
        let sources = match &request.remote {
            Some(_) => Vec::new(),
            None => catalog.resolve(&request.source, request.options)?,
        };
        drop(acting);
        if let Change::Copy(to) = &request.change {
            let check = || conductor::check_destination(&catalog, &sources, to);
            request.writing(check)?;
        }
        let shard_count: usize = sources
            .iter()
            .filter_map(|index| self.live(index).ok())
            .map(|live| live.core.settings.load().number_of_shards as usize)
            .sum();
        let slices = match request.slices {
            Slices::Auto => shard_count.clamp(1, SLICES_AUTO_MAX),
            Slices::Number(number) if request.remote.is_none() => number as usize,
            Slices::Number(_) => 1,
        };
        let slice_id = request.search.slice.as_ref().map(|slice| slice.id);
        let progress = Progress::new(request.counted(), slices, request.requests_per_second, cancelled);
        Ok(progress.of_slice(slice_id))
    }
}
