//! The rules: each looks for one thing that may be wrong. Each has a file; [`RULES`] lists them all.
//!
//! A new rule needs a file with its `RULE` and its test, a line here, and a row in `docs/advise.md` (a test
//! compares the two).

mod breaker_trips;
mod compressed_oops;
mod compression_cost;
mod contract;
mod cpu_governor;
mod cpu_quota;
mod deleted_docs;
mod disk_busy;
mod disk_space;
mod fielddata;
mod file_limits;
mod gc_full;
mod gc_live_set;
mod gc_long_pauses;
mod gc_pauses;
mod gc_promotion;
mod heap_fixed;
mod heap_share;
mod index_buffer;
mod io_scheduler;
mod large_shards;
mod many_segments;
mod map_count;
mod merge_throttle;
mod mixed_versions;
mod page_cache;
mod query_cache_thrash;
mod refresh_cost;
mod rejections;
mod segments_memory;
mod shard_count;
mod swap;
mod term_index_cold;
#[cfg(test)]
mod tests;
mod tiny_shards;
mod transparent_huge_pages;
mod unassigned_shards;

pub(super) use contract::Rule;

/// All rules, in the order of `docs/advise.md`.
pub(super) const RULES: &[Rule] = &[
    compressed_oops::RULE,
    heap_share::RULE,
    heap_fixed::RULE,
    gc_pauses::RULE,
    gc_long_pauses::RULE,
    gc_full::RULE,
    gc_live_set::RULE,
    gc_promotion::RULE,
    segments_memory::RULE,
    term_index_cold::RULE,
    page_cache::RULE,
    fielddata::RULE,
    query_cache_thrash::RULE,
    breaker_trips::RULE,
    rejections::RULE,
    index_buffer::RULE,
    refresh_cost::RULE,
    merge_throttle::RULE,
    compression_cost::RULE,
    deleted_docs::RULE,
    shard_count::RULE,
    tiny_shards::RULE,
    large_shards::RULE,
    many_segments::RULE,
    unassigned_shards::RULE,
    mixed_versions::RULE,
    disk_busy::RULE,
    disk_space::RULE,
    io_scheduler::RULE,
    swap::RULE,
    transparent_huge_pages::RULE,
    map_count::RULE,
    file_limits::RULE,
    cpu_quota::RULE,
    cpu_governor::RULE,
];
