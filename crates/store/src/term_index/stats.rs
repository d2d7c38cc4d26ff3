//! Numbers for `_nodes/stats` and `_cat/segment_memory`.

use super::cache::Scheme;

/// Counts are since the cache was created; bytes and pages are current. The values are read one after the
/// other, so they are only consistent while nothing changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermIndexStats {
    /// The scheme in effect.
    pub scheme: Scheme,
    /// Limit in the cached scheme; the native scheme ignores it.
    pub budget_bytes: u64,
    /// Bytes charged to the pool: pages, transients and loads in progress, with
    /// [`super::TermIndexCache::ENTRY_BYTES`] per page.
    pub resident_bytes: u64,
    /// Pages in memory, transients included.
    pub page_count: u64,
    /// Lookups served by the slot alone: no lock, no hash.
    pub hit_count: u64,
    /// Lookups served under the lock, because another thread had loaded the page meanwhile.
    pub first_level_hit_count: u64,
    /// Other lookups: the page was loaded, or could not be (failed and bypassed lookups are misses too).
    pub miss_count: u64,
    /// Pages read from disk.
    pub load_count: u64,
    /// Loads that failed.
    pub load_failure_count: u64,
    /// Time spent in successful loads (reading and verifying).
    pub load_nanos: u64,
    /// Pages evicted; those of closed segments are not counted.
    pub eviction_count: u64,
    /// Evictions from the window of pages that were not admitted to the main area.
    pub refused_count: u64,
    /// Pages that were to be evicted while they were in use or when they were loaded; they are freed when
    /// they are unpinned.
    pub transient_count: u64,
    /// Bytes of those that are still in use.
    pub transient_bytes: u64,
    /// Lookups answered without the page, because all of the budget was in use.
    pub bypass_count: u64,
    /// Bytes of the policy's sketches, which are not charged: at most 32 bytes per page and 2 MiB per shard.
    pub overhead_bytes: u64,
}

/// Figures of one field of one open segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldFigures {
    /// Id of the open segment ([`super::next_segment_core_id`]).
    pub segment_core: u64,
    /// Number of the field within its segment.
    pub field: u32,
    /// Pages of the field, in memory or not.
    pub page_count: u64,
    /// Bytes on disk of all pages of the field.
    pub page_bytes: u64,
    /// Pages in memory.
    pub resident_count: u64,
    /// Bytes allocated for the pages in memory.
    pub resident_bytes: u64,
    /// Loads since the segment was opened.
    pub load_count: u64,
    /// Evictions since the segment was opened.
    pub eviction_count: u64,
}
