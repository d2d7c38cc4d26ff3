//! What a search runs on and under: shards frozen at one instant, limits, deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use limber_mapping::{Mapping, Nested, RequestError};
use limber_script::Scripts;
use limber_segment::{SegmentView, SortField};
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
    /// The name that it is addressed by.
    pub name: String,
    /// What tells it from an index that had the name before.
    pub uuid: String,
}

/// Index settings that a search obeys.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// `index.max_regex_length`.
    pub max_regex_length: usize,
    /// `index.highlight.max_analyzed_offset`: UTF-16 units of a field's values.
    pub highlight_offset_max: usize,
    /// `index.sort.*`: the order of every segment's documents; empty: that of their arrival.
    pub index_sort: Arc<[SortField]>,
    /// Whether scores are Lucene's own, as those of queries on the documents of a `percolate` query are.
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
            max_regex_length: 1000,
            highlight_offset_max: 1_000_000,
            index_sort: Arc::new([]),
            scores_as_lucene: false,
        }
    }
}

/// One shard at one instant. Cheap to clone; holding it keeps its segments open.
#[derive(Clone)]
pub struct ShardSnapshot {
    /// The index that the shard is a part of.
    pub index: Arc<IndexRef>,
    /// The number of the shard in its index, from 0.
    pub shard: u32,
    /// What the fields of the index mean; fields that the request may not see are not in it.
    pub mapping: Arc<Mapping>,
    /// In index order; document numbers of a shard count through them.
    pub segments: Vec<SegmentView>,
    /// The settings of its index.
    pub settings: Arc<ShardSettings>,
    /// The node's scripts.
    pub scripts: Arc<Scripts>,
    /// The node's documents, for queries that name one; `None`: they may name none.
    pub documents: Option<Arc<dyn NamedDocuments>>,
    /// `None`: nothing is kept.
    pub caches: Option<ShardCaches>,
    /// `Some`: the documents are nested ones.
    pub nested: Option<NestedScope>,
    /// Somebody may not see all documents: what is hidden is deleted here, and values that no document left
    /// has must not be told of.
    pub hides_documents: bool,
}

/// Whose documents a snapshot has, where they are nested in others.
#[derive(Clone)]
pub struct NestedScope {
    /// The nested object whose documents they are.
    pub nested: Arc<Nested>,
    /// The segments of the documents around all of them; the snapshot's own are their parts, in the same
    /// order.
    pub whole: Arc<[SegmentView]>,
}

impl std::fmt::Debug for ShardSnapshot {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "[{}][{}] of {} segments", self.index.name, self.shard, self.segments.len())
    }
}

impl ShardSnapshot {
    /// Documents of all segments, deleted ones included.
    pub fn doc_count(&self) -> u64 {
        self.segments.iter().map(|view| u64::from(view.segment.doc_count())).sum()
    }

    /// Number of the first document of each segment in the shard.
    pub(crate) fn bases(&self) -> Vec<u64> {
        let mut base = 0;
        let first_docs = self.segments.iter().map(|view| {
            let first = base;
            base += u64::from(view.doc_count());
            first
        });
        first_docs.collect()
    }

    /// Whether every file of its segments could be read wherever it was read so far. Asked before anything is
    /// shown that was read from them: where a page cannot be read, zeros are ([`limber_store::mapped`]).
    #[inline]
    pub fn intact(&self) -> limber_segment::Result<()> {
        self.segments.iter().try_for_each(|view| view.segment.intact())
    }

    /// The same for one of several requests ([`SegmentView::for_request`]).
    pub fn for_request(&self) -> ShardSnapshot {
        ShardSnapshot {
            segments: self.segments.iter().map(SegmentView::for_request).collect(),
            ..self.clone()
        }
    }

    /// The nested documents of a path, from wherever this snapshot looks.
    pub fn within(&self, nested: &Arc<Nested>) -> ShardSnapshot {
        let whole: Arc<[SegmentView]> = match &self.nested {
            Some(scope) => scope.whole.clone(),
            None => self.segments.as_slice().into(),
        };
        let segments = whole.iter().map(|view| view.nested(&nested.path)).collect();
        ShardSnapshot {
            segments,
            nested: Some(NestedScope { nested: nested.clone(), whole }),
            // What is kept is told apart by the segment, which the spaces of one share.
            caches: None,
            ..self.clone()
        }
    }

    /// The documents themselves, from wherever this snapshot looks.
    pub fn outside(&self) -> ShardSnapshot {
        match &self.nested {
            Some(scope) => ShardSnapshot { segments: scope.whole.to_vec(), nested: None, ..self.clone() },
            None => self.clone(),
        }
    }

    /// `query_shard_exception` with the index's name and uuid.
    pub fn query_shard_exception(&self, reason: impl Into<String>) -> RequestError {
        RequestError::bad_request("query_shard_exception", reason)
            .with("index_uuid", self.index.uuid.clone())
            .with("index", self.index.name.clone())
    }
}

/// A shard's place among those that are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ShardPlace {
    pub index: u32,
    pub count: u32,
}

/// What one request may use, and when it has to stop.
#[derive(Debug, Clone)]
pub struct SearchContext {
    /// What the request's memory is charged to.
    pub ledger: Ledger,
    /// The request's `now`.
    pub now_millis: i64,
    /// The request's start, for `took`.
    pub started: Instant,
    /// When to stop and answer with what there is (`timed_out: true`).
    pub deadline: Option<Instant>,
    /// Set by the task's cancellation.
    pub cancelled: Arc<AtomicBool>,
    /// `search.max_buckets`.
    pub max_buckets: u32,
    /// `search.allow_expensive_queries`.
    pub allow_expensive_queries: bool,
    /// `search.default_allow_partial_results`: what a search answers without the shards that failed, where it
    /// does not say itself.
    pub allows_partial: bool,
    /// The node's id, for `_shards.failures` and `_explanation`.
    pub node_id: Arc<str>,
    /// Whether what queries and aggregations cost is measured (`profile`).
    pub profiles: bool,
    /// The shards whose terms are counted for scores (`dfs_query_then_fetch`); `None`: those of each shard
    /// for itself.
    pub statistics: Option<Arc<[ShardSnapshot]>>,
    /// Who helps with the shards; `None`: they are searched one after the other.
    pub workers: Option<Arc<Workers>>,
}

impl SearchContext {
    /// A search that starts now, has no deadline and no helpers, and obeys Elasticsearch's default settings.
    /// `now_millis`: what `now` means in it, in milliseconds since 1970.
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
        }
    }

    /// The request as its threads know it; part of the one that the thread works for already, if there is one
    /// whose memory is counted.
    pub fn work(&self) -> Work {
        let meter = Work::current().and_then(|work| work.meter);
        let meter = meter.unwrap_or_else(|| Arc::new(self.ledger.request.meter()));
        Work {
            meter: Some(meter),
            cancelled: self.cancelled.clone(),
            deadline: self.deadline,
            warnings: work::warnings(),
            opaque_id: None,
        }
    }

    /// Called once a window of documents.
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
