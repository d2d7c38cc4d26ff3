//! The results of a race: the `results` object of Rally's `race.json`, with its exact keys.
//!
//! Source: `GlobalStats` and `GlobalStatsCalculator` in `esrally/metrics.py`. Times are in milliseconds and
//! sizes in bytes, unless a unit says otherwise. What was not measured is `null` (or an empty object or
//! list), and reports leave its rows out.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::model::Params;
use crate::notation::number::Number;

/// Reported percentiles: label in reports, key in `race.json`, and the percentile.
pub(crate) const PERCENTILES: [(&str, &str, f64); 6] = [
    ("50", "50_0", 50.0),
    ("90", "90_0", 90.0),
    ("99", "99_0", 99.0),
    ("99.9", "99_9", 99.9),
    ("99.99", "99_99", 99.99),
    ("100", "100_0", 100.0),
];

/// Returns the percentiles that `sample_count` samples support (`percentiles_for_sample_size`).
pub(crate) fn percentiles_for_sample_count(sample_count: u64) -> &'static [f64] {
    match sample_count {
        0 => &[],
        1 => &[100.0],
        2..10 => &[50.0, 100.0],
        10..100 => &[50.0, 90.0, 100.0],
        100..1_000 => &[50.0, 90.0, 99.0, 100.0],
        1_000..10_000 => &[50.0, 90.0, 99.0, 99.9, 100.0],
        _ => &[50.0, 90.0, 99.0, 99.9, 99.99, 100.0],
    }
}

/// The `results` of `race.json`, with Rally's names; times are in milliseconds, sizes in bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Results {
    pub op_metrics: Vec<TaskResults>,
    pub total_time: Option<Number>,
    pub total_time_per_shard: PerShard,
    pub indexing_throttle_time: Option<Number>,
    pub indexing_throttle_time_per_shard: PerShard,
    pub merge_time: Option<Number>,
    pub merge_time_per_shard: PerShard,
    pub merge_count: Option<Number>,
    pub refresh_time: Option<Number>,
    pub refresh_time_per_shard: PerShard,
    pub refresh_count: Option<Number>,
    pub flush_time: Option<Number>,
    pub flush_time_per_shard: PerShard,
    pub flush_count: Option<Number>,
    pub merge_throttle_time: Option<Number>,
    pub merge_throttle_time_per_shard: PerShard,
    #[serde(deserialize_with = "null_is_default")]
    pub ml_processing_time: Vec<MlProcessingTime>,
    pub young_gc_time: Option<Number>,
    pub young_gc_count: Option<Number>,
    pub old_gc_time: Option<Number>,
    pub old_gc_count: Option<Number>,
    pub zgc_cycles_gc_time: Option<Number>,
    pub zgc_cycles_gc_count: Option<Number>,
    pub zgc_pauses_gc_time: Option<Number>,
    pub zgc_pauses_gc_count: Option<Number>,
    pub memory_segments: Option<Number>,
    pub memory_doc_values: Option<Number>,
    pub memory_terms: Option<Number>,
    pub memory_norms: Option<Number>,
    pub memory_points: Option<Number>,
    pub memory_stored_fields: Option<Number>,
    pub dataset_size: Option<Number>,
    pub store_size: Option<Number>,
    pub translog_size: Option<Number>,
    pub segment_count: Option<Number>,
    #[serde(deserialize_with = "null_is_default")]
    pub total_transform_search_times: Vec<TransformResult>,
    #[serde(deserialize_with = "null_is_default")]
    pub total_transform_index_times: Vec<TransformResult>,
    #[serde(deserialize_with = "null_is_default")]
    pub total_transform_processing_times: Vec<TransformResult>,
    #[serde(deserialize_with = "null_is_default")]
    pub total_transform_throughput: Vec<TransformResult>,
    pub ingest_pipeline_cluster_count: Option<Number>,
    pub ingest_pipeline_cluster_time: Option<Number>,
    pub ingest_pipeline_cluster_failed: Option<Number>,
    #[serde(deserialize_with = "null_is_default")]
    pub disk_usage_total: Vec<DiskUsage>,
    #[serde(deserialize_with = "null_is_default")]
    pub disk_usage_inverted_index: Vec<DiskUsage>,
    #[serde(deserialize_with = "null_is_default")]
    pub disk_usage_stored_fields: Vec<DiskUsage>,
    #[serde(deserialize_with = "null_is_default")]
    pub disk_usage_doc_values: Vec<DiskUsage>,
    #[serde(deserialize_with = "null_is_default")]
    pub disk_usage_points: Vec<DiskUsage>,
    #[serde(deserialize_with = "null_is_default")]
    pub disk_usage_norms: Vec<DiskUsage>,
    #[serde(deserialize_with = "null_is_default")]
    pub disk_usage_term_vectors: Vec<DiskUsage>,
}

/// Old races have `null` where newer ones have an empty list.
fn null_is_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// One reported task, in the order of the schedule.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskResults {
    pub task: String,
    pub operation: String,
    pub throughput: ThroughputStats,
    pub latency: TimeStats,
    pub service_time: TimeStats,
    pub processing_time: TimeStats,
    /// The server's own time in whole milliseconds. Not part of Rally's layout; empty if answers do not have
    /// it.
    #[serde(skip_serializing_if = "TimeStats::is_empty")]
    pub took: TimeStats,
    /// Share of failed requests among the measured ones, 0 to 1.
    pub error_rate: f64,
    /// Milliseconds from the start of the race to the task's last sample.
    pub duration: Option<Number>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub meta: Params,
}

/// All `None` when nothing was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThroughputStats {
    pub min: Option<Number>,
    pub mean: Option<Number>,
    pub median: Option<Number>,
    pub max: Option<Number>,
    /// Such as `docs/s`.
    pub unit: Option<String>,
}

/// Times per primary shard; `{}` when unknown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PerShard {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl PerShard {
    /// Returns statistics over one value (ms) per primary shard; empty without shards.
    pub fn of_ms(values: &[u64]) -> PerShard {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let (Some(min), Some(max)) = (sorted.first(), sorted.last()) else { return PerShard::default() };
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            Number::from(sorted[middle])
        } else {
            Number::Float((sorted[middle - 1] as f64 + sorted[middle] as f64) / 2.0)
        };
        PerShard {
            min: Some(Number::from(*min)),
            median: Some(median),
            max: Some(Number::from(*max)),
            unit: Some("ms".to_owned()),
        }
    }
}

/// Percentiles and mean of a task's times, in milliseconds; `{}` without samples.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimeStats {
    /// Pairs of a key from [`PERCENTILES`] and a value, ascending.
    pub percentiles: Vec<(String, Number)>,
    pub mean: Option<Number>,
    pub unit: Option<String>,
}

impl TimeStats {
    /// `percentiles_ms` are pairs of (percentile, value in ms), ascending.
    pub fn new(percentiles_ms: &[(f64, f64)], mean_ms: f64) -> TimeStats {
        let key = |percentile: f64| crate::notation::number::repr(percentile).replace('.', "_");
        TimeStats {
            percentiles: percentiles_ms
                .iter()
                .map(|(percentile, ms)| (key(*percentile), Number::Float(*ms)))
                .collect(),
            mean: Some(Number::Float(mean_ms)),
            unit: Some("ms".to_owned()),
        }
    }

    /// Returns the value for a key from [`PERCENTILES`].
    pub fn get(&self, key: &str) -> Option<Number> {
        self.percentiles.iter().find(|(known, _)| known == key).map(|(_, value)| *value)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.percentiles.is_empty()
    }
}

impl Serialize for TimeStats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in &self.percentiles {
            map.serialize_entry(key, value)?;
        }
        if !self.percentiles.is_empty() {
            map.serialize_entry("mean", &self.mean)?;
            map.serialize_entry("unit", &self.unit)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for TimeStats {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TimeStats, D::Error> {
        let map = Option::<Map<String, Value>>::deserialize(deserializer)?.unwrap_or_default();
        let mut stats = TimeStats::default();
        for (key, value) in map {
            match (key.as_str(), value) {
                ("unit", Value::String(unit)) => stats.unit = Some(unit),
                ("mean", value) => {
                    stats.mean = serde_json::from_value(value).map_err(serde::de::Error::custom)?
                }
                (_, Value::Number(value)) => {
                    let value =
                        serde_json::from_value(Value::Number(value)).map_err(serde::de::Error::custom)?;
                    stats.percentiles.push((key, value));
                }
                _ => {}
            }
        }
        Ok(stats)
    }
}

/// How long a job of machine learning took for its buckets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MlProcessingTime {
    pub job: String,
    pub min: Option<Number>,
    pub mean: Option<Number>,
    pub median: Option<Number>,
    pub max: Option<Number>,
    pub unit: String,
}

/// One figure of a transform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransformResult {
    pub id: String,
    pub mean: Option<Number>,
    pub unit: String,
}

/// Bytes that one part of one field takes in one index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiskUsage {
    pub index: String,
    pub field: String,
    pub value: Number,
    #[serde(default)]
    pub unit: Option<String>,
}
