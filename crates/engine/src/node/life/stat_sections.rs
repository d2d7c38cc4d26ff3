//! The sections of the statistics: "which members does the section `refresh` of a shard have?"
//!
//! Members and their order are those of Elasticsearch 8's `CommonStats`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};

use crate::api::StatsRequest;
use crate::shard::{Counters, Shard, ShardStats};

/// The input from which the sections of a shard are built.
struct Figures<'a> {
    counters: &'a Counters,
    stats: &'a ShardStats,
    /// The time of the wall clock, in milliseconds since 1970.
    now_millis: u64,
}

/// A section of the statistics.
struct Section {
    /// Its name in URLs.
    name: &'static str,
    /// Its name in the response.
    key: &'static str,
    /// Builds it.
    of: fn(&Figures<'_>) -> Value,
}

/// The sections, in the order of the response.
const SECTIONS: &[Section] = &[
    Section { name: "docs", key: "docs", of: docs },
    Section { name: "shard_stats", key: "shard_stats", of: |_| json!({"total_count": 1}) },
    Section { name: "store", key: "store", of: store },
    Section { name: "indexing", key: "indexing", of: indexing },
    Section { name: "get", key: "get", of: get },
    Section { name: "search", key: "search", of: search },
    Section { name: "merge", key: "merges", of: merge },
    Section { name: "refresh", key: "refresh", of: refresh },
    Section { name: "flush", key: "flush", of: flush },
    Section {
        name: "warmer",
        key: "warmer",
        of: |_| json!({"current": 0, "total": 0, "total_time_in_millis": 0}),
    },
    Section { name: "query_cache", key: "query_cache", of: query_cache },
    Section {
        name: "fielddata",
        key: "fielddata",
        of: |_| json!({"memory_size_in_bytes": 0, "evictions": 0, "global_ordinals": {"build_time_in_millis": 0}}),
    },
    Section { name: "completion", key: "completion", of: |_| json!({"size_in_bytes": 0}) },
    Section { name: "segments", key: "segments", of: segments },
    Section { name: "translog", key: "translog", of: translog },
    Section { name: "request_cache", key: "request_cache", of: request_cache },
    Section {
        name: "recovery",
        key: "recovery",
        of: |_| json!({"current_as_source": 0, "current_as_target": 0, "throttle_time_in_millis": 0}),
    },
    Section { name: "bulk", key: "bulk", of: bulk },
    // There are no vector fields.
    Section { name: "dense_vector", key: "dense_vector", of: |_| json!({"value_count": 0}) },
    Section { name: "sparse_vector", key: "sparse_vector", of: |_| json!({"value_count": 0}) },
    Section {
        name: "segment_memory",
        key: "segment_memory",
        of: |shard| shard.stats.segment_memory.to_json(),
    },
];

/// Returns the sections of a shard that a request wants.
pub(super) fn sections(shard: &Shard, stats: &ShardStats, request: &StatsRequest, now_millis: u64) -> Value {
    let mut made = Map::new();
    let figures = Figures { counters: &shard.counters, stats, now_millis };
    for section in SECTIONS {
        if request.wants(section.name) {
            let mut shown = (section.of)(&figures);
            if section.name == "search"
                && let Some(groups) = shard.counters.search_groups.to_json(&request.groups)
            {
                shown["groups"] = groups;
            }
            match section.name {
                "completion" => {
                    let fields = (request.completion_fields.as_slice(), shard.completion_bytes());
                    add_fields(shard, fields, "size_in_bytes", &mut shown);
                }
                "fielddata" => {
                    let fields = (request.fielddata_fields.as_slice(), shard.fielddata_bytes());
                    add_fields(shard, fields, "memory_size_in_bytes", &mut shown);
                }
                _ => {}
            }
            made.insert(section.key.to_owned(), shown);
        }
    }
    Value::Object(made)
}

/// Adds the bytes of fields of a shard as `member`, and by field those that the request asks for and the user
/// may see.
fn add_fields(
    shard: &Shard,
    (asked, fields): (&[String], Vec<(Arc<str>, u64)>),
    member: &str,
    shown: &mut Value,
) {
    let limits = shard.limits();
    let is_seen = |path: &str| {
        limits.as_ref().is_ok_and(|limits| limits.as_ref().is_none_or(|limits| limits.allows_field(path)))
    };
    let is_asked = |path: &str| asked.iter().any(|pattern| limber_text::wildcard::matches(pattern, path));
    if !asked.is_empty() {
        shown["fields"] = json!({});
    }
    let mut total = 0;
    for (path, bytes) in fields {
        total += bytes;
        if is_asked(&path) && is_seen(&path) {
            shown["fields"][&*path][member] = bytes.into();
        }
    }
    shown[member] = total.into();
}

/// Returns the sections that a request wants, for a shard that has done nothing yet.
pub(super) fn empty_sections(request: &StatsRequest, now_millis: u64) -> Value {
    resting_sections(&ShardStats::default(), request, now_millis)
}

/// Returns the sections that a request wants, for a shard of a closed index, which only has these statistics.
pub(super) fn resting_sections(stats: &ShardStats, request: &StatsRequest, now_millis: u64) -> Value {
    let counters = Counters::default();
    let figures = Figures { counters: &counters, stats, now_millis };
    let wanted = SECTIONS.iter().filter(|section| request.wants(section.name));
    Value::Object(wanted.map(|section| (section.key.to_owned(), (section.of)(&figures))).collect())
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// Returns the numbers of documents and of deleted documents.
fn docs(shard: &Figures<'_>) -> Value {
    json!({"count": shard.stats.docs, "deleted": shard.stats.deleted_docs, "total_size_in_bytes": shard.stats.store_bytes})
}

/// Returns the size of the files.
fn store(shard: &Figures<'_>) -> Value {
    json!({
        "size_in_bytes": shard.stats.store_bytes,
        "total_data_set_size_in_bytes": shard.stats.store_bytes,
        "reserved_in_bytes": 0,
    })
}

/// Returns the numbers and times of writes and deletions.
fn indexing(shard: &Figures<'_>) -> Value {
    json!({
        "index_total": shard.counters.indexing.count() - shard.counters.indexing.failures().min(shard.counters.indexing.count()),
        "index_time_in_millis": shard.counters.indexing.millis(),
        "index_current": shard.counters.indexing.running(),
        "index_failed": shard.counters.indexing.failures(),
        "index_failed_due_to_version_conflict": read(&shard.counters.version_conflicts),
        "delete_total": shard.counters.deleting.count(),
        "delete_time_in_millis": shard.counters.deleting.millis(),
        "delete_current": shard.counters.deleting.running(),
        "noop_update_total": read(&shard.counters.noop_updates),
        "is_throttled": false,
        "throttle_time_in_millis": 0,
        "write_load": 0.0,
    })
}

/// Returns the numbers and times of reads by id.
fn get(shard: &Figures<'_>) -> Value {
    json!({
        "total": shard.counters.get_exists.count() + shard.counters.get_missing.count(),
        "time_in_millis": shard.counters.get_exists.millis() + shard.counters.get_missing.millis(),
        "exists_total": shard.counters.get_exists.count(),
        "exists_time_in_millis": shard.counters.get_exists.millis(),
        "missing_total": shard.counters.get_missing.count(),
        "missing_time_in_millis": shard.counters.get_missing.millis(),
        "current": 0,
    })
}

/// Returns the numbers and times of queries, fetches, scrolls and suggestions.
fn search(shard: &Figures<'_>) -> Value {
    json!({
        "open_contexts": shard.counters.scroll.running() + read(&shard.counters.points_in_time),
        "query_total": shard.counters.query.count(),
        "query_time_in_millis": shard.counters.query.millis(),
        "query_current": shard.counters.query.running(),
        "query_failure": shard.counters.query.failures(),
        "fetch_total": shard.counters.fetch.count(),
        "fetch_time_in_millis": shard.counters.fetch.millis(),
        "fetch_current": shard.counters.fetch.running(),
        "fetch_failure": shard.counters.fetch.failures(),
        "scroll_total": shard.counters.scroll.count(),
        "scroll_time_in_millis": shard.counters.scroll.millis(),
        "scroll_current": shard.counters.scroll.running(),
        "suggest_total": shard.counters.suggest.count(),
        "suggest_time_in_millis": shard.counters.suggest.millis(),
        "suggest_current": shard.counters.suggest.running(),
    })
}

/// Returns the statistics of merges.
fn merge(shard: &Figures<'_>) -> Value {
    json!({
        "current": shard.counters.merge.running(),
        "current_docs": read(&shard.counters.merge_current_docs),
        "current_size_in_bytes": read(&shard.counters.merge_current_bytes),
        "total": shard.counters.merge.count(),
        "total_time_in_millis": shard.counters.merge.millis(),
        "total_docs": read(&shard.counters.merge_docs),
        "total_size_in_bytes": read(&shard.counters.merge_bytes),
        "total_stopped_time_in_millis": 0,
        "total_throttled_time_in_millis": read(&shard.counters.merge_throttled_nanos) / 1_000_000,
        "total_auto_throttle_in_bytes": 209_715_200,
    })
}

/// Returns the statistics of refreshes.
fn refresh(shard: &Figures<'_>) -> Value {
    json!({
        "total": shard.counters.refresh.count(),
        "total_time_in_millis": shard.counters.refresh.millis(),
        "external_total": shard.counters.external_refresh.count(),
        "external_total_time_in_millis": shard.counters.external_refresh.millis(),
        "listeners": 0,
    })
}

/// Returns the statistics of commits.
fn flush(shard: &Figures<'_>) -> Value {
    json!({
        "total": shard.counters.flush.count(),
        "periodic": read(&shard.counters.periodic_flush),
        "total_time_in_millis": shard.counters.flush.millis(),
        "total_time_excluding_waiting_on_lock_in_millis": shard.counters.flush.millis(),
    })
}

/// Returns the statistics of the query cache.
fn query_cache(shard: &Figures<'_>) -> Value {
    let cache = &shard.counters.caches.queries;
    json!({
        "memory_size_in_bytes": cache.bytes(),
        "total_count": cache.hits() + cache.misses(),
        "hit_count": cache.hits(),
        "miss_count": cache.misses(),
        "cache_size": cache.entries(),
        "cache_count": cache.added(),
        "evictions": cache.evictions(),
    })
}

/// Returns the number of segments and the memory of buffers.
fn segments(shard: &Figures<'_>) -> Value {
    json!({
        "count": shard.stats.segment_count,
        "memory_in_bytes": 0,
        "terms_memory_in_bytes": 0,
        "stored_fields_memory_in_bytes": 0,
        "term_vectors_memory_in_bytes": 0,
        "norms_memory_in_bytes": 0,
        "points_memory_in_bytes": 0,
        "doc_values_memory_in_bytes": 0,
        "index_writer_memory_in_bytes": shard.stats.index_writer_bytes,
        "version_map_memory_in_bytes": shard.stats.version_map_bytes,
        "fixed_bit_set_memory_in_bytes": 0,
        "max_unsafe_auto_id_timestamp": -1,
        "file_sizes": {},
    })
}

/// Returns the statistics of the translog.
fn translog(shard: &Figures<'_>) -> Value {
    json!({
        "operations": shard.stats.translog.operations,
        "size_in_bytes": shard.stats.translog.size_bytes,
        "uncommitted_operations": shard.stats.translog.uncommitted_operations,
        "uncommitted_size_in_bytes": shard.stats.translog.uncommitted_size_bytes,
        "earliest_last_modified_age": match shard.stats.translog.earliest_millis {
            0 => 0,
            begun => shard.now_millis.saturating_sub(begun),
        },
    })
}

/// Returns the statistics of the request cache.
fn request_cache(shard: &Figures<'_>) -> Value {
    let cache = &shard.counters.caches.requests;
    json!({
        "memory_size_in_bytes": cache.bytes(),
        "evictions": cache.evictions(),
        "hit_count": cache.hits(),
        "miss_count": cache.misses(),
    })
}

/// Returns the statistics of bulk requests.
fn bulk(shard: &Figures<'_>) -> Value {
    let (total, bytes) = (shard.counters.bulk.count(), read(&shard.counters.bulk_bytes));
    json!({
        "total_operations": total,
        "total_time_in_millis": shard.counters.bulk.millis(),
        "total_size_in_bytes": bytes,
        "avg_time_in_millis": shard.counters.bulk.millis() / total.max(1),
        "avg_size_in_bytes": bytes / total.max(1),
    })
}
