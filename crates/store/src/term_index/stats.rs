//! Numbers for `_nodes/stats` and `_cat/segment_memory`.

use super::cache::Scheme;

/// Counts are since the cache was made, bytes and pages are of now. Read one after the other: exact when
/// nothing moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermIndexStats {
    /// The scheme in effect.
    pub scheme: Scheme,
    /// What is kept in the cached scheme; the native one ignores it.
    pub budget_bytes: u64,
    /// Charged to the pool: pages, transients and loads under way, with
    /// [`super::TermIndexCache::ENTRY_BYTES`] a page.
    pub resident_bytes: u64,
    /// Pages in memory, transients included.
    pub page_count: u64,
    /// Looked up through the slot alone: no lock, no hash.
    pub hit_count: u64,
    /// Found under the lock: loaded by another thread meanwhile.
    pub first_level_hit_count: u64,
    /// Neither: the page was loaded, or could not be (failed and bypassed look-ups are misses too).
    pub miss_count: u64,
    /// Pages that were read from disk.
    pub load_count: u64,
    /// Loads that ended with an error.
    pub load_failure_count: u64,
    /// Time inside successful loads (reading and verifying).
    pub load_nanos: u64,
    /// Pages that went to make room; those of closed segments are not counted.
    pub eviction_count: u64,
    /// Evictions of pages whose stay in the window was not followed by one in the main area.
    pub refused_count: u64,
    /// Pages that had to go while they were in use, or when they arrived: they go when they are let go.
    pub transient_count: u64,
    /// The part of those that is still in use.
    pub transient_bytes: u64,
    /// Look-ups answered without the page, because all of the budget was in use.
    pub bypass_count: u64,
    /// The policy's sketches, beside the pages and not charged: at most 32 bytes a page, 2 MiB a shard.
    pub overhead_bytes: u64,
}

/// One field of one open segment.
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
