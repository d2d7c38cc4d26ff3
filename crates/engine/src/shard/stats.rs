//! Statistics of a shard.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use limber_search::CacheCounters;
use limber_segment::SegmentView;

use super::field_usage::FieldUsage;
use super::search_groups::SearchGroups;
use super::segment_memory::SegmentMemory;
use crate::environment::Clock;
use crate::translog::TranslogStats;

/// Count, total time and number of operations in progress.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    pub total: AtomicU64,
    pub nanos: AtomicU64,
    pub current: AtomicU64,
    pub failed: AtomicU64,
}

impl Meter {
    pub(crate) fn add(&self, count: u64, nanos: u64) {
        self.total.fetch_add(count, Ordering::Relaxed);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    pub(crate) fn millis(&self) -> u64 {
        self.nanos.load(Ordering::Relaxed) / 1_000_000
    }

    pub(crate) fn running(&self) -> u64 {
        self.current.load(Ordering::Relaxed)
    }

    pub(crate) fn failures(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }
}

/// All counters of a shard.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub indexing: Meter,
    /// How many failures of `indexing` were version conflicts.
    pub version_conflicts: AtomicU64,
    pub deleting: Meter,
    pub noop_updates: AtomicU64,
    pub bulk: Meter,
    pub bulk_bytes: AtomicU64,
    pub get_exists: Meter,
    pub get_missing: Meter,
    pub query: Meter,
    pub fetch: Meter,
    pub scroll: Meter,
    pub suggest: Meter,
    pub search_groups: SearchGroups,
    pub field_usage: FieldUsage,
    /// How many are open now.
    pub points_in_time: AtomicU64,
    pub caches: Arc<CacheCounters>,
    pub refresh: Meter,
    pub external_refresh: Meter,
    pub flush: Meter,
    pub periodic_flush: AtomicU64,
    pub merge: Meter,
    pub merge_docs: AtomicU64,
    pub merge_bytes: AtomicU64,
    pub merge_current_docs: AtomicU64,
    pub merge_current_bytes: AtomicU64,
    pub merge_throttled_nanos: AtomicU64,
}

/// Measures the time until it is dropped, and adds it to a meter.
pub(crate) struct Timer<'a> {
    clock: &'a dyn Clock,
    meter: &'a Meter,
    start_nanos: u64,
    count: u64,
}

impl<'a> Timer<'a> {
    pub(crate) fn start(clock: &'a dyn Clock, meter: &'a Meter, count: u64) -> Timer<'a> {
        meter.current.fetch_add(count, Ordering::Relaxed);
        Timer { clock, meter, start_nanos: clock.monotonic_nanos(), count }
    }
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        self.meter.current.fetch_sub(self.count, Ordering::Relaxed);
        self.meter.add(self.count, self.clock.monotonic_nanos().saturating_sub(self.start_nanos));
    }
}

/// Statistics that are measured and not counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShardStats {
    pub docs: u64,
    pub deleted_docs: u64,
    pub store_bytes: u64,
    pub segment_count: u64,
    pub version_map_bytes: u64,
    pub index_writer_bytes: u64,
    pub translog: TranslogStats,
    pub max_seq_no: i64,
    pub local_checkpoint: i64,
    pub primary_term: u64,
    pub commit_generation: u64,
    pub commit_docs: u64,
    pub history_uuid: String,
    pub is_search_idle: bool,
    /// Milliseconds since the last search, or since the shard was opened.
    pub search_idle_ms: u64,
    /// Filled in by the node, which has the cache.
    pub segment_memory: SegmentMemory,
}

impl super::Shard {
    /// Returns the bytes on disk of each `completion` field, by path.
    pub(crate) fn completion_bytes(&self) -> Vec<(Arc<str>, u64)> {
        let (Ok(core), mapping) = (self.core(), self.index.mapping.load()) else { return Vec::new() };
        let published = core.snapshot.load();
        let of_field = |path: &Arc<str>| {
            let segments = published.segments.iter().map(|view| &view.segment);
            segments
                .filter_map(|segment| {
                    let number = segment.fields().iter().position(|info| info.path == *path)?;
                    let sections = segment.file_sections().iter();
                    let own = sections.filter(|section| section.field as usize == number);
                    Some(own.map(|section| section.len).sum::<u64>())
                })
                .sum()
        };
        let fields = mapping.fields().iter().filter(|field| field.type_name() == "completion");
        fields.map(|field| (field.path.clone(), of_field(&field.path))).collect()
    }

    /// Returns the bytes of the tables of each text field with `fielddata`, by path, as the last requests
    /// that needed them built them. They are freed with the request.
    pub(crate) fn fielddata_bytes(&self) -> Vec<(Arc<str>, u64)> {
        let (Ok(core), mapping) = (self.core(), self.index.mapping.load()) else { return Vec::new() };
        let published = core.snapshot.load();
        let of_field =
            |path: &str| published.segments.iter().map(|view| view.segment.fielddata_bytes(path)).sum();
        let fields = mapping.fields().iter().filter(|field| field.is_analyzed());
        let all = fields.map(|field| (field.path.clone(), of_field(&field.path)));
        all.filter(|(_, bytes)| *bytes > 0).collect()
    }

    /// Forgets what [`Self::fielddata_bytes`] returns.
    pub(crate) fn forget_fielddata(&self) {
        let Ok(core) = self.core() else { return };
        for (path, _) in self.fielddata_bytes() {
            core.snapshot.load().segments.iter().for_each(|view| view.segment.note_fielddata(&path, 0));
        }
    }

    /// Returns the number of searchable segments, and that of their fields, each counted once per segment.
    pub(crate) fn segment_and_field_counts(&self) -> (u64, u64) {
        let Ok(core) = self.core() else { return (0, 0) };
        let published = core.snapshot.load();
        let field_count = published.segments.iter().map(|view| view.segment.fields().len() as u64).sum();
        (published.segments.len() as u64, field_count)
    }

    /// Returns the highest sequence number among the documents that searches see; 0 without documents.
    pub(crate) fn visible_seq_no(&self) -> u64 {
        let Ok(core) = self.core() else { return 0 };
        let published = core.snapshot.load();
        published.segments.iter().filter_map(|view| view.segment.meta().max_seq_no).max().unwrap_or(0)
    }

    /// Measures the current statistics.
    pub(crate) fn stats(&self) -> ShardStats {
        let Ok(core) = self.core() else {
            return ShardStats { max_seq_no: -1, local_checkpoint: -1, ..ShardStats::default() };
        };
        let published = core.snapshot.load();
        let committed_generation;
        let commit_docs;
        {
            // It does not wait for the lock, because a commit may be writing to a slow disk.
            let committed = core.committed.try_lock();
            committed_generation = committed.as_ref().map_or(0, |commit| commit.generation);
            commit_docs = committed.as_ref().map_or(0, |commit| {
                commit.segments.iter().map(|segment| u64::from(segment.meta.doc_count)).sum()
            });
        }
        let translog = core.translog.stats();
        let (now_millis, idle_after_ms) =
            (self.interval_millis(), self.index.settings.load().search_idle_after_ms);
        let max_seq_no = core.max_seq_no().map_or(-1, |seq_no| seq_no as i64);
        let counts = published.segments.iter().map(SegmentView::counts_with_nested);
        let (docs, deleted_docs) = counts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        ShardStats {
            docs,
            deleted_docs,
            store_bytes: published.segments.iter().map(|view| view.segment.file_bytes()).sum(),
            segment_count: published.segments.len() as u64,
            version_map_bytes: core.versions.memory_bytes() as u64,
            index_writer_bytes: core.buffered_bytes.load(Ordering::Relaxed),
            translog,
            max_seq_no,
            local_checkpoint: max_seq_no,
            primary_term: core.primary_term,
            commit_generation: committed_generation,
            commit_docs,
            history_uuid: format!("{:032x}", u128::from_be_bytes(core.history)),
            is_search_idle: core.search_idle.is_idle(now_millis, idle_after_ms),
            search_idle_ms: core.search_idle.since_search_ms(now_millis),
            segment_memory: SegmentMemory::default(),
        }
    }
}
