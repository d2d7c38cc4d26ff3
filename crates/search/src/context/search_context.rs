//! What a search runs on, and its limits: shards frozen at one instant, memory, deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use limber_mapping::{Mapping, Nested, RequestError};
use limber_script::Scripts;
use limber_segment::{RecentBlocks, SegmentView, SortField};
use limber_store::Ledger;
use limber_work as work;
use limber_work::Work;

use crate::cache::ShardCaches;
use crate::context::documents::NamedDocuments;
use crate::context::workers::Workers;
use crate::error::{Error, Result};

/// Name and identity of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexRef {
    /// The name of the index.
    pub name: String,
    /// Distinguishes it from an index that had the same name before.
    pub uuid: String,
}

/// Index settings that a search obeys.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardSettings {
    /// `index.max_result_window`.
    pub max_result_window: u32,
    /// `index.max_terms_count`.
    pub max_terms_count: usize,
    /// `index.max_slices_per_scroll`.
    pub max_slices_per_scroll: u32,
    /// `index.max_inner_result_window`.
    pub max_inner_result_window: u32,
    /// `index.max_rescore_window`.
    pub max_rescore_window: u32,
    /// `index.top_metrics_max_size`.
    pub top_metrics_max_size: u32,
    /// `index.max_docvalue_fields_search`.
    pub max_docvalue_fields: usize,
    /// `index.max_script_fields`.
    pub max_script_fields: usize,
    /// `index.max_regex_length`.
    pub max_regex_length: usize,
    /// `index.query.default_field`: the fields, with their weights, of queries that name none.
    pub default_fields: Arc<[(String, f32)]>,
    /// `index.query_string.lenient`.
    pub query_string_lenient: bool,
    /// `index.highlight.max_analyzed_offset`: UTF-16 units of a field's values.
    pub highlight_offset_max: usize,
    /// `index.sort.*`: the order of every segment's documents; empty for the order of their arrival.
    pub index_sort: Arc<[SortField]>,
    /// Whether scores are exactly Lucene's, as in queries on the documents of a `percolate` query.
    pub scores_as_lucene: bool,
}

impl Default for ShardSettings {
    fn default() -> ShardSettings {
        ShardSettings {
            max_result_window: 10_000,
            max_terms_count: 65_536,
            max_slices_per_scroll: 1024,
            max_inner_result_window: 100,
            max_rescore_window: 10_000,
            top_metrics_max_size: 10,
            max_docvalue_fields: 100,
            max_script_fields: 32,
            max_regex_length: 1000,
            default_fields: Arc::new([("*".to_owned(), 1.0)]),
            query_string_lenient: false,
            highlight_offset_max: 1_000_000,
            index_sort: Arc::new([]),
            scores_as_lucene: false,
        }
    }
}

/// One shard at one instant. Cheap to clone; holding it keeps its segments open.
#[derive(Clone)]
pub struct ShardSnapshot {
    /// The index that the shard belongs to.
    pub index: Arc<IndexRef>,
    /// Number of the shard in its index, from 0.
    pub shard: u32,
    /// The mapping of the index, without fields that the request may not see.
    pub mapping: Arc<Mapping>,
    /// In index order; document numbers of a shard count across them.
    pub segments: Vec<SegmentView>,
    /// The settings of its index.
    pub settings: Arc<ShardSettings>,
    /// The node's scripts.
    pub scripts: Arc<Scripts>,
    /// The node's documents, for queries that name one; `None` if queries may not name documents.
    pub documents: Option<Arc<dyn NamedDocuments>>,
    /// `None` if nothing is cached.
    pub caches: Option<ShardCaches>,
    /// Set if the documents are nested ones.
    pub nested: Option<NestedScope>,
    /// Whether the user may not see all documents. The hidden ones count as deleted here, and values that
    /// only hidden documents have must not be revealed.
    pub hides_documents: bool,
}

/// Describes the nested documents of a snapshot.
#[derive(Clone)]
pub struct NestedScope {
    /// The nested object whose instances they are.
    pub nested: Arc<Nested>,
    /// The segments of the outermost documents. The snapshot's own segments are parts of these, in the same
    /// order.
    pub whole: Arc<[SegmentView]>,
}

impl std::fmt::Debug for ShardSnapshot {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "[{}][{}] of {} segments", self.index.name, self.shard, self.segments.len())
    }
}

impl ShardSnapshot {
    /// Returns the number of documents of all segments, deleted ones included.
    pub fn doc_count(&self) -> u64 {
        self.segments.iter().map(|view| u64::from(view.segment.doc_count())).sum()
    }

    /// Returns the number of each segment's first document in the shard.
    pub(crate) fn bases(&self) -> Vec<u64> {
        let mut base = 0;
        let first_docs = self.segments.iter().map(|view| {
            let first = base;
            base += u64::from(view.doc_count());
            first
        });
        first_docs.collect()
    }

    /// Checks that every read of the segments' files has succeeded so far. Called before anything read from
    /// them is shown: a page that cannot be read appears as zeros ([`limber_store::mapped`]).
    #[inline]
    pub fn intact(&self) -> limber_segment::Result<()> {
        self.segments.iter().try_for_each(|view| view.segment.intact())
    }

    /// Returns a copy for one of several requests ([`SegmentView::for_request`]).
    pub fn for_request(&self) -> ShardSnapshot {
        ShardSnapshot {
            segments: self.segments.iter().map(SegmentView::for_request).collect(),
            ..self.clone()
        }
    }

    /// Returns the nested documents of a path, at whichever level this snapshot is. Those inside hidden
    /// documents are hidden.
    ///
    /// # Errors
    /// The request may not use the memory for the marks of hidden documents.
    pub fn within(&self, nested: &Arc<Nested>) -> Result<ShardSnapshot> {
        let whole: Arc<[SegmentView]> = match &self.nested {
            Some(scope) => scope.whole.clone(),
            None => self.segments.as_slice().into(),
        };
        let inner = |outer: &SegmentView| match self.hides_documents {
            true => visible_inside(outer, &nested.path),
            false => Ok(outer.nested(&nested.path)),
        };
        let segments = whole.iter().map(inner).collect::<Result<_>>()?;
        Ok(ShardSnapshot {
            segments,
            nested: Some(NestedScope { nested: nested.clone(), whole }),
            // Cache keys name the segment, which all nested levels share.
            caches: None,
            ..self.clone()
        })
    }

    /// Returns the outermost documents, at whichever level this snapshot is.
    pub fn outside(&self) -> ShardSnapshot {
        match &self.nested {
            Some(scope) => ShardSnapshot { segments: scope.whole.to_vec(), nested: None, ..self.clone() },
            None => self.clone(),
        }
    }

    /// Creates a `query_shard_exception` with the index's name and uuid.
    pub fn query_shard_exception(&self, reason: impl Into<String>) -> RequestError {
        RequestError::bad_request("query_shard_exception", reason)
            .with("index_uuid", self.index.uuid.clone())
            .with("index", self.index.name.clone())
    }
}

/// Returns the nested documents of a path, of which those inside visible documents are live.
fn visible_inside(outer: &SegmentView, path: &str) -> Result<SegmentView> {
    let mut inner = outer.nested(path);
    if let (Some(live), Some(lineage)) = (&outer.live, outer.segment.lineage(path)) {
        limber_work::claim(u64::from(inner.doc_count()).div_ceil(8))?;
        inner.live = Some(Arc::new(lineage.live_inside(live)));
    }
    Ok(inner)
}

/// The index of a shard among those that are searched, and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ShardPlace {
    pub index: u32,
    pub count: u32,
}

/// What one request may use, and when it must stop.
#[derive(Debug, Clone)]
pub struct SearchContext {
    /// The ledger that the request's memory is charged to.
    pub ledger: Ledger,
    /// The request's `now`.
    pub now_millis: i64,
    /// The request's start, for `took`.
    pub started: Instant,
    /// When to stop and answer with the hits so far (`timed_out: true`).
    pub deadline: Option<Instant>,
    /// Set by the task's cancellation.
    pub cancelled: Arc<AtomicBool>,
    /// `search.max_buckets`.
    pub max_buckets: u32,
    /// `search.allow_expensive_queries`.
    pub allow_expensive_queries: bool,
    /// `search.default_allow_partial_results`: whether a search that does not say so itself is answered
    /// without the shards that failed.
    pub allows_partial: bool,
    /// The node's id, for `_shards.failures` and `_explanation`.
    pub node_id: Arc<str>,
    /// Whether the cost of queries and aggregations is measured (`profile`).
    pub profiles: bool,
    /// The shards whose term statistics are used for scores (`dfs_query_then_fetch`); `None` if each shard
    /// uses its own.
    pub statistics: Option<Arc<[ShardSnapshot]>>,
    /// Threads that help to search the shards; `None` if the shards are searched one after the other.
    pub workers: Option<Arc<Workers>>,
    /// Decompressed blocks of stored documents; `None` if none are kept.
    pub recent_blocks: Option<Arc<RecentBlocks>>,
}

impl SearchContext {
    /// Creates the context of a search that starts now, has no deadline and no helper threads, and uses
    /// Elasticsearch's default settings. `now_millis` is its `now`, in milliseconds since 1970.
    pub fn new(ledger: Ledger, now_millis: i64) -> SearchContext {
        SearchContext {
            ledger,
            now_millis,
            started: Instant::now(),
            deadline: None,
            cancelled: Arc::new(AtomicBool::new(false)),
            max_buckets: 65_536,
            allow_expensive_queries: true,
            allows_partial: true,
            node_id: Arc::from(""),
            profiles: false,
            statistics: None,
            workers: None,
            recent_blocks: None,
        }
    }

    /// Returns the request's work for its threads. If the thread already works for a request whose memory
    /// is counted, the meter of that request is shared.
    pub fn work(&self) -> Work {
        let meter = Work::current().and_then(|work| work.meter);
        let meter = meter.unwrap_or_else(|| Arc::new(self.ledger.request.meter()));
        Work {
            meter: Some(meter),
            cancelled: self.cancelled.clone(),
            deadline: self.deadline,
            warnings: work::warnings(),
            opaque_id: None,
            client: 0,
        }
    }

    /// Checks cancellation and deadline; called once per window of documents.
    pub fn check(&self) -> Result<()> {
        work::check_beyond_deadline()?;
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Error::TimedOut),
            _ => Ok(()),
        }
    }
}
