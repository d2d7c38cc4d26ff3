//! What indexing cost the server (`IndexStats`).

use serde_json::Value;

pub(super) const PATH: &str = "/_stats/_all?level=shards";

/// A cumulative time over all primary shards, and the times of the individual shards.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ShardTime {
    pub total_ms: Option<u64>,
    pub per_shard_ms: Vec<u64>,
}

/// Statistics of the indices. Values that are absent from the answer are `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct IndexMetrics {
    pub indexing: ShardTime,
    pub indexing_throttle: ShardTime,
    pub merge: ShardTime,
    pub merge_throttle: ShardTime,
    pub refresh: ShardTime,
    pub flush: ShardTime,
    pub merge_count: Option<u64>,
    pub refresh_count: Option<u64>,
    pub flush_count: Option<u64>,
    pub segment_count: Option<u64>,
    pub segments_bytes: Option<u64>,
    pub doc_values_bytes: Option<u64>,
    pub stored_fields_bytes: Option<u64>,
    pub terms_bytes: Option<u64>,
    pub norms_bytes: Option<u64>,
    pub points_bytes: Option<u64>,
    pub dataset_bytes: Option<u64>,
    pub store_bytes: Option<u64>,
    pub translog_bytes: Option<u64>,
}

/// For each time, the path of its value and its name in a warning.
const TIMES: [(&str, &str, &str); 6] = [
    ("merges_total_time", "merges", "total_time_in_millis"),
    ("merges_total_throttled_time", "merges", "total_throttled_time_in_millis"),
    ("indexing_total_time", "indexing", "index_time_in_millis"),
    ("indexing_throttle_time", "indexing", "throttle_time_in_millis"),
    ("refresh_total_time", "refresh", "total_time_in_millis"),
    ("flush_total_time", "flush", "total_time_in_millis"),
];

/// More work than this before the race means that the figures include work of somebody else (Rally's
/// threshold).
const CLEAN_MS_MAX: u64 = 2000;

pub(super) fn unclean_state(stats: &Value) -> Vec<String> {
    let over = |(name, section, key): &(&str, &str, &str)| {
        let value = stats["_all"]["primaries"][section][key].as_u64().filter(|ms| *ms > CLEAN_MS_MAX)?;
        Some(format!(
            "{name} is {value} ms indicating that the cluster is not in a defined clean state. Recorded index time \
             metrics may be misleading."
        ))
    };
    TIMES.iter().filter_map(over).collect()
}

pub(super) fn read(stats: &Value) -> IndexMetrics {
    let primaries = &stats["_all"]["primaries"];
    let total = &stats["_all"]["total"];
    let [merge, merge_throttle, indexing, indexing_throttle, refresh, flush] =
        TIMES.map(|(_, section, key)| shard_time(stats, section, key));
    let segments = |key: &str| primaries["segments"][key].as_u64();
    IndexMetrics {
        indexing,
        indexing_throttle,
        merge,
        merge_throttle,
        refresh,
        flush,
        merge_count: primaries["merges"]["total"].as_u64(),
        refresh_count: primaries["refresh"]["total"].as_u64(),
        flush_count: primaries["flush"]["total"].as_u64(),
        segment_count: segments("count"),
        segments_bytes: segments("memory_in_bytes"),
        doc_values_bytes: segments("doc_values_memory_in_bytes"),
        stored_fields_bytes: segments("stored_fields_memory_in_bytes"),
        terms_bytes: segments("terms_memory_in_bytes"),
        norms_bytes: segments("norms_memory_in_bytes"),
        points_bytes: segments("points_memory_in_bytes"),
        dataset_bytes: total["store"]["total_data_set_size_in_bytes"].as_u64(),
        store_bytes: total["store"]["size_in_bytes"].as_u64(),
        translog_bytes: total["translog"]["size_in_bytes"].as_u64(),
    }
}

fn shard_time(stats: &Value, section: &str, key: &str) -> ShardTime {
    let total_ms = stats["_all"]["primaries"][section][key].as_u64();
    let values =
        |value: &Value| value.as_object().into_iter().flat_map(|object| object.values().cloned()).collect();
    let indices: Vec<Value> = values(&stats["indices"]);
    let mut per_shard_ms = Vec::new();
    // Without a total, Rally has no document for the values of the shards.
    for copies in indices.iter().filter(|_| total_ms.is_some()).flat_map(|index| values(&index["shards"])) {
        for copy in copies.as_array().into_iter().flatten() {
            if copy["routing"]["primary"].as_bool() == Some(true) {
                per_shard_ms.push(copy[section][key].as_u64().unwrap_or(0));
            }
        }
    }
    ShardTime { total_ms, per_shard_ms }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn totals_and_shards() {
        let copy = |primary: bool, ms: u64| json!({"routing": {"primary": primary}, "indexing": {"index_time_in_millis": ms}});
        let stats = json!({
            "_all": {
                "primaries": {"indexing": {"index_time_in_millis": 2500}, "segments": {"count": 7}, "merges": {"total": 3}},
                "total": {"store": {"size_in_bytes": 99}},
            },
            "indices": {"a": {"shards": {"0": [copy(true, 1000), copy(false, 5)], "1": [copy(true, 1500)]}}},
        });
        let read = read(&stats);
        assert_eq!(read.indexing, ShardTime { total_ms: Some(2500), per_shard_ms: vec![1000, 1500] });
        assert_eq!(read.refresh, ShardTime::default());
        assert_eq!((read.segment_count, read.merge_count, read.store_bytes), (Some(7), Some(3), Some(99)));
        assert_eq!(read.translog_bytes, None);
        let warnings = unclean_state(&stats);
        assert!(
            warnings.len() == 1 && warnings[0].starts_with("indexing_total_time is 2500 ms"),
            "{warnings:?}"
        );
        assert_eq!(super::read(&json!([])), IndexMetrics::default());
    }
}
