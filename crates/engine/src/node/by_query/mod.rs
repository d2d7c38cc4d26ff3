//! Requests by query: "delete, update or copy every document that matches".
//!
//! Source: `org.elasticsearch.index.reindex.AbstractAsyncBulkByScrollAction`. A snapshot is opened at the
//! start and read in batches; a document that has changed since is a version conflict. One thread reads. With
//! `slices` several threads write, each its own batches, and every batch is an ordinary bulk request (with
//! pipelines, translog and fsync).

mod conductor;
mod scripted;
mod source;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use limber_mapping::ErrorClass;
use limber_script::Script;
use limber_search::SearchRequest;
use limber_store::sync;
use serde_json::{Map, Value};

use crate::api::*;
use crate::node::Node;
use crate::tasks::progress::{Counted, Progress};
use crate::tasks::waiting::waiting;

pub use source::{BatchSource, Batches, SourceBatch};

/// What is done to each document.
#[derive(Debug, Clone)]
pub enum Change {
    /// Deletes it.
    Delete,
    /// Writes it again unchanged, through the pipeline if one is named.
    Update,
    /// Writes it to another index.
    Copy(CopyDestination),
}

/// The destination of `_reindex`, and how it writes there.
#[derive(Debug, Clone)]
pub struct CopyDestination {
    /// Index, alias or data stream.
    pub index: String,
    /// `Index` or `Create`.
    pub kind: OperationKind,
    /// How versions are checked. With any type but `Internal`, a copy has the version of its source.
    pub version_type: VersionType,
    /// Routing of the copies.
    pub routing: CopyRouting,
    /// Whether `index` must be an alias.
    pub require_alias: bool,
}

/// `dest.routing` of `_reindex`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CopyRouting {
    /// Copies have the routing of their source (`keep`).
    #[default]
    Keep,
    /// Copies have no routing (`discard`).
    Discard,
    /// All copies have this routing (`=value`).
    Set(String),
}

/// Into how many parts a request is divided, each with its own thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slices {
    /// One part per shard, at most [`SLICES_AUTO_MAX`].
    Auto,
    /// This many parts.
    Number(u32),
}

/// Source: `BulkByScrollParallelizationHelper#AUTO_SLICE_CEILING`.
const SLICES_AUTO_MAX: usize = 20;

/// A `_delete_by_query`, `_update_by_query` or `_reindex` request.
#[derive(Debug, Clone)]
pub struct ByQueryRequest {
    /// Index expression of the source indices, on this server or on `remote`.
    pub source: String,
    /// Another server whose documents are copied, in one slice. It has its own query and order; of `search`
    /// only the size applies.
    pub remote: Option<Arc<dyn BatchSource>>,
    /// How `source` is resolved.
    pub options: IndicesOptions,
    /// Reads only the shards that these routings select.
    pub routing: Option<String>,
    /// See [`Placement::preference`](super::Placement::preference).
    pub preference: Option<String>,
    /// Query, order and source filter. Its size is the batch size.
    pub search: SearchRequest,
    /// What is done to each document.
    pub change: Change,
    /// A script that decides for each document what is done; never present with [`Change::Delete`].
    pub script: Option<Script>,
    /// The ingest pipeline for documents that are written.
    pub pipeline: Option<String>,
    /// The request ends after this many documents.
    pub max_docs: Option<u64>,
    /// Whether version conflicts are only counted. Otherwise the request ends after the first batch with a
    /// conflict.
    pub proceeds_on_conflicts: bool,
    /// Whether the indices that were written are refreshed at the end.
    pub refresh: bool,
    /// Maximum speed in documents per second; infinite for no limit.
    pub requests_per_second: f32,
    /// How many parts the request has.
    pub slices: Slices,
}

/// The result of a request by query.
#[derive(Debug, Clone)]
pub struct ByQueryResponse {
    /// The body of the API's response, without `failures`.
    pub body: Map<String, Value>,
    /// What could not be read or written.
    pub failures: Vec<ByQueryFailure>,
}

/// A shard that could not be read, or a document or batch that could not be written.
#[derive(Debug, Clone)]
pub struct ByQueryFailure {
    /// The class of the error.
    pub class: ErrorClass,
    /// The object that the API shows for it, without its status.
    pub shown: Value,
}

impl ByQueryRequest {
    fn action(&self) -> &'static str {
        match self.change {
            Change::Delete => "indices:data/write/delete/byquery",
            Change::Update => "indices:data/write/update/byquery",
            Change::Copy(_) => "indices:data/write/reindex",
        }
    }

    fn counted(&self) -> Counted {
        match self.change {
            Change::Delete => Counted::Deletes,
            Change::Update => Counted::Updates,
            Change::Copy(_) => Counted::Copies,
        }
    }

    /// Describes the request as `GET _tasks?detailed` shows it.
    fn description(&self) -> String {
        match &self.change {
            Change::Delete => format!("delete-by-query [{}]", self.source),
            Change::Update => format!("update-by-query [{}]", self.source),
            Change::Copy(to) => {
                let remote = self.remote.as_ref().map(|remote| format!("[{}]", remote.description()));
                format!("reindex from {}[{}] to [{}]", remote.unwrap_or_default(), self.source, to.index)
            }
        }
    }
}

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
                scope.spawn(limber_access::carried(|| self.run_by_query(&request, &progress))).join()
            })
        };
        waiting(run).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Starts the request and returns the task's id. The result, as rendered by `render`, is kept for
    /// `GET _tasks/{id}`.
    pub fn start_by_query(
        self: &Arc<Self>,
        request: ByQueryRequest,
        render: fn(ByQueryResponse) -> Value,
    ) -> Result<String> {
        let cancelled = Arc::new(AtomicBool::new(false));
        let progress = Arc::new(self.progress_of(&request, cancelled.clone())?);
        let (action, description) = (request.action(), request.description());
        let node = self.clone();
        let of_task = progress.clone();
        self.tasks.spawn_by_query(action, description, cancelled, of_task, move || {
            node.run_by_query(&request, &progress).map(render)
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
            let _acting = limber_access::acting("indices:data/write/bulk");
            conductor::check_destination(&catalog, &sources, to)?;
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
