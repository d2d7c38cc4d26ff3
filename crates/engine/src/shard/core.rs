//! The parts of a shard.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use limber_mapping::analysis::AnalysisResources;
use limber_mapping::document::Scratch;
use limber_mapping::{Mapping, RequestError};
use limber_script::Scripts;
use limber_search::{
    IndexRef, NamedDocuments, QueryCache, RequestCache, ShardCaches, ShardSettings, ShardSnapshot,
};
use limber_segment::{Buffer, DocId, RecentBlocks, Segment, SegmentId, SegmentView, SortField, StoredCodec};
use limber_store::sync::{Mutex, RwLock};
use limber_store::term_index::TermIndexCache;
use limber_store::{Charge, Directory, Ledger, Pool};
use serde_json::{Value, json};

use super::commit::Commit;
use super::damage::KnownDamage;
use super::ids::versions::VersionMap;
use super::limited::SeenMappings;
use super::search_idle::SearchIdle;
use super::segments::SegmentList;
use super::snapshot::Pins;
use super::stats::Counters;
use super::writing::entrance::Entrance;
use super::writing::growth::Growth;
use crate::api::Result;
use crate::environment::Environment;
use crate::settings::IndexSettings;
use crate::settings::blocks::ClusterBlocks;
use crate::translog::Translog;

/// What the shards of one index share. Mapping and settings may be replaced while the index is open.
pub(crate) struct IndexCore {
    pub name: Arc<str>,
    pub uuid: Arc<str>,
    pub reference: Arc<IndexRef>,
    pub mapping: ArcSwap<Mapping>,
    pub settings: ArcSwap<IndexSettings>,
    pub search_settings: ArcSwap<ShardSettings>,
    /// The mapping for users who may not see all fields.
    pub seen: SeenMappings,
    /// Whether the shards were closed, which is for good.
    pub is_closed: AtomicBool,
}

/// The services of the node that a shard calls.
pub(crate) trait Host: Send + Sync {
    /// Merges a mapping that was inferred from a document into the index's mapping, durably. The result is
    /// visible in [`IndexCore::mapping`] when this returns. `check` is called under the lock under which the
    /// index's settings change, too; its error ends the update.
    fn update_mapping(
        &self,
        index: &IndexCore,
        growth: &Growth,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<()>;
    /// Called when the indexing pool has no room. Writes the node's largest buffers to segments if `is_full`
    /// still returns true after other refreshes have ended.
    fn relieve_indexing_memory(&self, is_full: &dyn Fn() -> bool);
    /// Called when buffers become large or the indexing pool is filling. Has them written in the background.
    fn write_buffers_soon(&self);
    /// Called when the disk has refused a write because it is full.
    fn disk_is_full(&self);
}

/// The services that all shards of a node use.
#[derive(Clone)]
pub(crate) struct ShardServices {
    pub environment: Environment,
    pub ledger: Ledger,
    pub term_index: Arc<TermIndexCache>,
    pub scripts: Arc<Scripts>,
    /// The resources that analyzers read from the node.
    pub analysis: Arc<dyn AnalysisResources>,
    pub caches: NodeCaches,
    pub host: std::sync::Weak<dyn Host>,
    pub cluster_blocks: Arc<ClusterBlocks>,
    /// Looks up documents that queries name.
    pub documents: Arc<dyn NamedDocuments>,
}

/// The caches of a node, which its shards share.
#[derive(Clone)]
pub(crate) struct NodeCaches {
    pub requests: Arc<RequestCache>,
    pub queries: Arc<QueryCache>,
    pub blocks: Arc<RecentBlocks>,
}

impl NodeCaches {
    pub(crate) fn new(ledger: &Ledger) -> NodeCaches {
        NodeCaches {
            requests: Arc::new(RequestCache::new(ledger.requests_cache.clone())),
            queries: Arc::new(QueryCache::new(ledger.queries_cache.clone())),
            blocks: Arc::new(RecentBlocks::new(ledger.stored_blocks.clone())),
        }
    }
}

/// A shard, whether it is open or not. Its statistics live as long as the node.
pub(crate) struct Shard {
    pub index: Arc<IndexCore>,
    pub number: u32,
    pub directory: Arc<dyn Directory>,
    pub services: ShardServices,
    pub counters: Counters,
    pub(super) known_damage: KnownDamage,
    /// Replaced when the shard recovers from a failure; `Err` if it could not be opened.
    core: ArcSwap<CoreState>,
    /// Whether the shard was closed, which is for good. Held while the core is replaced or closed.
    pub(super) is_closed: Mutex<bool>,
    /// Files that a running snapshot reads.
    pub(super) pins: Arc<Pins>,
}

type CoreState = std::result::Result<Arc<Core>, RequestError>;

/// The open part of a shard: everything that a disk failure invalidates.
pub(crate) struct Core {
    /// A number that no other core of this process ever has. See [`next_number`].
    pub(super) uid: u64,
    pub(super) translog: Arc<dyn Translog>,
    pub(super) primary_term: u64,
    pub(super) history: [u8; 16],
    /// The next free sequence number.
    pub(super) next_seq_no: AtomicU64,
    /// Writers hold it shared, for a few hundred operations at most. Freezing and installing hold it
    /// exclusively, without I/O.
    pub(super) gate: RwLock<()>,
    /// Writers pass it before the gate.
    pub(super) entrance: Entrance,
    /// Buffers that no writer is using.
    pub(super) idle: Mutex<Vec<Slot>>,
    pub(super) next_buffer: AtomicU64,
    /// For each existing buffer: documents deleted by threads that were not using it. Includes frozen buffers
    /// until their segment is installed.
    pub(super) deletes: RwLock<HashMap<u64, LateDeletes, RandomState>>,
    pub(super) versions: VersionMap,
    pub(super) segments: ArcSwap<SegmentList>,
    pub(super) next_segment: AtomicU64,
    /// Segments that merges replaced and whose files may still exist.
    pub(super) retired: Mutex<HashSet<SegmentId>>,
    /// What searches see.
    pub(super) snapshot: ArcSwap<Published>,
    /// Serializes refreshes and installations of merges.
    pub(super) refreshing: Mutex<()>,
    /// Serializes commits, and holds the last one.
    pub(super) committed: Mutex<Commit>,
    /// Bytes of buffers, version map, translog and writes in progress, charged to the indexing pool.
    pub(super) charge: Mutex<Charge>,
    pub(super) buffered_bytes: AtomicU64,
    /// Bytes of writes in progress.
    pub(super) reserved_bytes: AtomicU64,
    /// Asks the background thread to write buffers to segments.
    pub(crate) has_large_buffer: AtomicBool,
    pub(super) failed: AtomicBool,
    pub(super) failure: Mutex<Option<RequestError>>,
    /// Whether anything was written since the last refresh, followed by the same since the last commit.
    pub(super) is_dirty: AtomicBool,
    pub(super) is_uncommitted: AtomicBool,
    /// Whether recovery found operations that were not known to be durable and that no commit contains yet.
    pub(super) has_unpromised: AtomicBool,
    pub(super) last_refresh_millis: AtomicU64,
    pub(crate) search_idle: SearchIdle,
    pub(super) last_flush_millis: AtomicU64,
    /// How many flushes began, followed by the number of the last one that succeeded. Changed with
    /// `committed` held.
    pub(super) flushes_begun: AtomicU64,
    pub(super) last_whole_flush: AtomicU64,
    pub(super) last_sync_millis: AtomicU64,
    pub(super) last_checkpoint_sync_millis: AtomicU64,
    pub(super) merges_running: AtomicU64,
    /// No merge begins before this time, because the last one panicked.
    pub(super) merges_rest_until_millis: AtomicU64,
    /// No scheduled flush begins before this time, because the last one failed. As in
    /// [`Shard::interval_millis`].
    pub(super) flushes_rest_until_millis: AtomicU64,
    /// How many refreshes have frozen the buffers, followed by how many have published the result.
    pub(super) refreshes_begun: AtomicU64,
    pub(super) refreshes_finished: AtomicU64,
}

/// Documents of one buffer that were deleted by threads that were not using it.
pub(super) type LateDeletes = Arc<Mutex<Vec<DocId>>>;

/// A published state of the shard.
#[derive(Default)]
pub(crate) struct Published {
    pub segments: Vec<SegmentView>,
    /// A number that no other state of this process ever has. See [`next_number`].
    pub version: u64,
}

/// Returns a unique number that identifies cores and states in caches.
pub(super) fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A buffer, and what its writer needs besides it.
pub(super) struct Slot {
    pub number: u64,
    pub buffer: Buffer,
    pub scratch: Scratch,
    /// Its size when it was last checked in.
    pub bytes: usize,
}

/// A buffer that has grown beyond this is written in the background: inversion stays within the processor's
/// cache, and segments stay small enough to be merged.
pub(super) const BUFFER_BYTES_LARGE: usize = 64 << 20;
/// At this size the background does not keep up, and the writer writes the buffer itself.
pub(super) const BUFFER_BYTES_MAX: usize = 128 << 20;

/// Whether buffers should be written in the background already, so that the rest of the pool is left for
/// writes that come meanwhile.
pub(crate) fn is_filling(pool: &Pool) -> bool {
    const FILLED_PERCENT: u64 = 85;
    pool.used_bytes() > pool.limit_bytes() / 100 * FILLED_PERCENT
}

/// Returns the shard whose buffers should be written first to free memory of `pool`. `None` when buffers hold
/// hardly any of it: memory for remembered deletes is not freed by writing segments with a few documents.
pub(crate) fn largest_buffer<'s>(shards: &'s [Arc<Shard>], pool: &Pool) -> Option<&'s Arc<Shard>> {
    let buffered: u64 = shards.iter().map(|shard| shard.buffered_bytes()).sum();
    let largest = shards.iter().max_by_key(|shard| shard.buffered_bytes());
    largest.filter(|_| buffered > pool.limit_bytes() / 10)
}

impl Shard {
    pub(crate) fn new(
        index: Arc<IndexCore>,
        number: u32,
        directory: Arc<dyn Directory>,
        services: ShardServices,
    ) -> Shard {
        let closed = RequestError::unavailable("shard_not_ready_exception", "CurrentState[RECOVERING]");
        Shard {
            index,
            number,
            directory,
            services,
            counters: Counters::default(),
            known_damage: KnownDamage::default(),
            core: ArcSwap::from_pointee(Err(closed)),
            is_closed: Mutex::new(false),
            pins: Arc::default(),
        }
    }

    /// Returns the open core. Fails when the shard is not open.
    pub(crate) fn core(&self) -> Result<Arc<Core>> {
        match &**self.core.load() {
            Ok(core) => Ok(core.clone()),
            Err(error) => Err(error.clone()),
        }
    }

    pub(super) fn replace_core(&self, core: CoreState) {
        self.core.store(Arc::new(core));
    }

    /// Whether the shard accepts reads and writes. A failed shard still answers searches until it is opened
    /// again.
    pub(crate) fn is_started(&self) -> bool {
        self.core().is_ok_and(|core| !core.is_failed())
    }

    /// Returns why the shard accepts no writes, or is not open at all; `None` when it is started.
    pub(crate) fn failure(&self) -> Option<RequestError> {
        match self.core() {
            Ok(core) => core.check().err(),
            Err(error) => Some(error),
        }
    }

    /// Returns the wall clock in milliseconds since 1970, for what is shown, stored or parsed, but never for
    /// an interval.
    pub(crate) fn now_millis(&self) -> u64 {
        self.services.environment.clock.now_millis()
    }

    /// Returns milliseconds of a clock that never jumps, for intervals. They are far from 0, which stands for
    /// "never".
    pub(crate) fn interval_millis(&self) -> u64 {
        const START_MILLIS: u64 = 1 << 40;
        START_MILLIS + self.services.environment.clock.monotonic_nanos() / 1_000_000
    }

    /// Returns what a search of this request sees now. If refreshes were put off because nobody searched, it
    /// refreshes first.
    pub(crate) fn snapshot(&self) -> Result<ShardSnapshot> {
        match self.limits_of_documents()? {
            None => self.whole_snapshot(),
            Some(limits) => self.limited_snapshot(&limits),
        }
    }

    /// Returns what a search without restrictions sees.
    pub(super) fn whole_snapshot(&self) -> Result<ShardSnapshot> {
        let core = self.core()?;
        self.wake(&core);
        let published = core.snapshot.load();
        Ok(ShardSnapshot {
            index: self.index.reference.clone(),
            shard: self.number,
            mapping: self.index.mapping.load_full(),
            segments: published.segments.iter().map(SegmentView::for_request).collect(),
            settings: self.index.search_settings.load_full(),
            scripts: self.services.scripts.clone(),
            documents: Some(self.services.documents.clone()),
            caches: Some(self.caches(&core, &published)),
            nested: None,
            hides_documents: false,
        })
    }

    /// Returns what a search would see in this shard without documents.
    pub(super) fn snapshot_without_documents(&self, mapping: Arc<Mapping>) -> ShardSnapshot {
        ShardSnapshot {
            index: self.index.reference.clone(),
            shard: self.number,
            mapping,
            segments: Vec::new(),
            settings: self.index.search_settings.load_full(),
            scripts: self.services.scripts.clone(),
            // The write of a document with a query must not wait for another shard.
            documents: None,
            caches: None,
            nested: None,
            hides_documents: false,
        }
    }

    fn caches(&self, core: &Core, published: &Published) -> ShardCaches {
        let settings = self.index.settings.load();
        let NodeCaches { requests, queries, .. } = &self.services.caches;
        ShardCaches {
            shard_uid: core.uid,
            version: published.version,
            counters: self.counters.caches.clone(),
            requests: requests.clone(),
            keeps_requests: settings.requests_cache,
            queries: settings.queries_cache.then(|| queries.clone()),
        }
    }

    pub(super) fn codec(&self) -> StoredCodec {
        if self.index.settings.load().best_compression { StoredCodec::Zstd } else { StoredCodec::Lz4 }
    }

    /// Returns `index.sort.*`.
    pub(super) fn sort(&self) -> Arc<[SortField]> {
        self.index.settings.load().sort.clone()
    }

    /// Returns the bytes that [`Shard::refresh`](super::Shard) would free.
    pub(crate) fn buffered_bytes(&self) -> u64 {
        self.core().map_or(0, |core| core.buffered_bytes.load(Ordering::Relaxed))
    }

    /// Adds index and shard to an error, as Elasticsearch does for shard failures.
    pub(crate) fn located(&self, error: RequestError) -> RequestError {
        error
            .with("index_uuid", &*self.index.uuid)
            .with("shard", self.number.to_string())
            .with("index", &*self.index.name)
    }
}

impl Core {
    /// Fails the core: nothing is written afterwards, but searches still see what is published.
    pub(super) fn fail(&self, error: RequestError) {
        self.failure.lock().get_or_insert(error);
        self.failed.store(true, Ordering::Release);
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    pub(super) fn check(&self) -> Result<()> {
        if !self.is_failed() {
            return Ok(());
        }
        let unknown = || RequestError::unavailable("unavailable_shards_exception", "the shard has failed");
        Err(self.failure.lock().clone().unwrap_or_else(unknown))
    }

    /// Returns a buffer for this thread alone.
    pub(super) fn check_out(&self, codec: StoredCodec, sort: Arc<[SortField]>) -> Slot {
        if let Some(slot) = self.idle.lock().pop() {
            return slot;
        }
        let number = self.next_buffer.fetch_add(1, Ordering::Relaxed);
        self.deletes.write().insert(number, Arc::default());
        Slot { number, buffer: Buffer::sorted(codec, sort), scratch: Scratch::new(), bytes: 0 }
    }

    pub(super) fn check_in(&self, mut slot: Slot) -> usize {
        let bytes = slot.buffer.memory_bytes();
        let before = std::mem::replace(&mut slot.bytes, bytes);
        self.buffered_bytes.fetch_add((bytes.saturating_sub(before)) as u64, Ordering::Relaxed);
        self.buffered_bytes.fetch_sub((before.saturating_sub(bytes)) as u64, Ordering::Relaxed);
        self.idle.lock().push(slot);
        bytes
    }

    /// Deletes a document in a buffer that another writer uses, or in a frozen one.
    pub(super) fn delete_in_buffer(&self, buffer: u64, doc: DocId) {
        if let Some(list) = self.deletes.read().get(&buffer) {
            list.lock().push(doc);
        }
    }

    /// Publishes the current segments. Called with `refreshing` held.
    pub(super) fn publish_snapshot(&self) {
        let segments: Vec<SegmentView> = self.segments.load().iter().map(|entry| entry.view()).collect();
        let before = self.snapshot.load();
        let is_same = before.segments.len() == segments.len()
            && before.segments.iter().zip(&segments).all(|(before, now)| {
                Arc::ptr_eq(&before.segment, &now.segment)
                    && before.live.as_ref().map(Arc::as_ptr) == now.live.as_ref().map(Arc::as_ptr)
            });
        let version = if is_same { before.version } else { next_number() };
        self.snapshot.store(Arc::new(Published { segments, version }));
    }

    /// Returns the core and the state under which caches may hold something.
    pub(crate) fn cached_as(&self) -> (u64, u64) {
        (self.uid, self.snapshot.load().version)
    }

    pub(crate) fn begun_refreshes(&self) -> u64 {
        self.refreshes_begun.load(Ordering::Acquire)
    }

    pub(crate) fn finished_refreshes(&self) -> u64 {
        self.refreshes_finished.load(Ordering::Acquire)
    }

    /// Returns the segments that searches see.
    pub(crate) fn published_segments(&self) -> Vec<Arc<Segment>> {
        self.snapshot.load().segments.iter().map(|view| view.segment.clone()).collect()
    }

    /// Returns all segments, including those that searches do not see yet.
    pub(crate) fn all_segments(&self) -> Vec<Arc<Segment>> {
        self.segments.load().iter().map(|entry| entry.segment.clone()).collect()
    }

    /// Describes the segments as `GET _segments` shows them. `sort` is the description of the index sort.
    pub(crate) fn describe_segments(&self, sort: &Value) -> Vec<(String, Value)> {
        self.describe_views(&self.snapshot.load().segments, sort)
    }

    /// Describes segments of this shard as they were at some time, like [`Self::describe_segments`].
    pub(crate) fn describe_views(&self, views: &[SegmentView], sort: &Value) -> Vec<(String, Value)> {
        let committed: HashSet<SegmentId> = match self.committed.try_lock() {
            Some(commit) => commit.segments.iter().map(|segment| segment.meta.id).collect(),
            None => HashSet::new(),
        };
        let describe = |view: &SegmentView| {
            let meta = view.segment.meta();
            let (num_docs, deleted_docs) = view.counts_with_nested();
            let mut body = json!({
                "generation": meta.id.0,
                "num_docs": num_docs,
                "deleted_docs": deleted_docs,
                "size_in_bytes": meta.bytes,
                "memory_in_bytes": 0,
                "committed": committed.contains(&meta.id),
                "search": true,
                "version": "1.0.0",
                "compound": meta.files.len() == 1,
                "attributes": {},
            });
            if sort.as_array().is_some_and(|fields| !fields.is_empty()) {
                body["sort"] = sort.clone();
            }
            (format!("_{}", meta.id), body)
        };
        views.iter().map(describe).collect()
    }

    pub(crate) fn max_seq_no(&self) -> Option<u64> {
        self.next_seq_no.load(Ordering::Acquire).checked_sub(1)
    }
}
