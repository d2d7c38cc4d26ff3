//! Speed and memory of one scheme in one round.

use serde_json::Value;

use crate::record::results::TaskResults;

/// Disk use of all indices.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Store {
    pub bytes: u64,
    pub segment_count: u64,
}

/// The server's section `segment_memory`. Counters are cumulative since the server's start.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Memory {
    /// Bytes of the pages in memory, with their overhead.
    pub resident_bytes: u64,
    /// Bytes of the cache policy's sketches.
    pub policy_bytes: u64,
    pub hit_count: u64,
    pub miss_count: u64,
    pub load_count: u64,
    pub load_nanos: u64,
}

impl Memory {
    /// Returns `None` when a number is missing.
    pub(crate) fn read(section: &Value) -> Option<Memory> {
        let cache = section.get("cache")?;
        let count = |name: &str| cache.get(name)?.as_u64();
        Some(Memory {
            resident_bytes: count("resident_size_in_bytes")?,
            policy_bytes: count("policy_size_in_bytes")?,
            hit_count: count("hit_count")? + count("first_level_hit_count")?,
            miss_count: count("miss_count")?,
            load_count: count("load_count")?,
            load_nanos: count("load_time_in_nanos")?,
        })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.resident_bytes + self.policy_bytes
    }
}

/// Figures of one task: memory of the term index when it was done, throughput (docs/s or ops/s) and
/// percentiles of the service time. A percentile is NaN if there are too few samples for it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct TaskFigures {
    pub memory_bytes: u64,
    pub per_s: f64,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p99_ms: f64,
}

impl TaskFigures {
    pub(crate) fn new(results: &TaskResults, memory_bytes: u64) -> TaskFigures {
        let time = |key: &str| results.service_time.get(key).map_or(f64::NAN, |number| number.as_f64());
        TaskFigures {
            memory_bytes,
            per_s: results.throughput.median.map_or(f64::NAN, |number| number.as_f64()),
            p50_ms: time("50_0"),
            p90_ms: time("90_0"),
            p99_ms: time("99_0"),
        }
    }
}

/// One scheme in one round.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Figures {
    pub write: TaskFigures,
    pub query: TaskFigures,
}
