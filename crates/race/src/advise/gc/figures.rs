//! The figures that describe a garbage collector.

use serde_json::{Value, json};

use super::events::{GcEvents, PauseKind};

/// The figures of one JVM's logs. Times are in ms, sizes in bytes, rates in bytes per second.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GcFigures {
    pub format: &'static str,
    pub collector: Option<String>,
    /// Seconds the logs cover.
    pub span_s: f64,
    pub pause_count: usize,
    pub full_count: usize,
    pub pause_millis: f64,
    /// Share of the time in which the application was stopped for the collector.
    pub pause_percent: f64,
    pub pause_mean_millis: f64,
    /// Pairs of a percentile (50, 90, 99 and 99.9) and its value.
    pub pause_percentiles_millis: Vec<(f64, f64)>,
    pub pause_max_millis: f64,
    pub pauses_per_minute: f64,
    pub full_millis: f64,
    pub allocation_rate: f64,
    pub promotion_rate: Option<f64>,
    /// Mean over the last tenth of the collections (at least ten of them): an estimate of the live data.
    pub after_bytes: Option<f64>,
    pub after_bytes_max: Option<u64>,
    pub capacity_bytes: Option<u64>,
    pub evacuation_failures: u64,
    pub stall_count: u64,
    pub stall_millis: f64,
    pub safepoint_count: u64,
    pub safepoint_percent: f64,
    pub reaching_millis_max: f64,
    pub has_compressed_oops: Option<bool>,
    pub line_count: u64,
    pub unrecognized_line_count: u64,
}

impl GcFigures {
    /// Computes the figures. Returns `None` when the logs cover no time, since shares and rates are undefined
    /// then.
    pub(crate) fn of(events: &GcEvents) -> Option<GcFigures> {
        let span_s = events.span_s();
        if span_s <= 0.0 {
            return None;
        }
        let mut millis: Vec<f64> = events.pauses.iter().map(|pause| pause.millis).collect();
        millis.sort_by(f64::total_cmp);
        let total: f64 = millis.iter().sum();
        let full = || events.pauses.iter().filter(|pause| pause.kind == PauseKind::Full);
        let recent_count = (events.after_bytes.len() / 10).max(10).min(events.after_bytes.len());
        let recent = &events.after_bytes[events.after_bytes.len() - recent_count..];
        let mean =
            |values: &[u64]| values.iter().map(|value| *value as f64).sum::<f64>() / values.len() as f64;
        Some(GcFigures {
            format: events.format,
            collector: events.collector.clone(),
            span_s,
            pause_count: millis.len(),
            full_count: full().count(),
            pause_millis: total,
            pause_percent: total / 10.0 / span_s,
            pause_mean_millis: if millis.is_empty() { 0.0 } else { total / millis.len() as f64 },
            pause_percentiles_millis: [50.0, 90.0, 99.0, 99.9]
                .iter()
                .filter_map(|&percentile| Some((percentile, nearest_rank(&millis, percentile)?)))
                .collect(),
            pause_max_millis: millis.last().copied().unwrap_or(0.0),
            pauses_per_minute: millis.len() as f64 * 60.0 / span_s,
            full_millis: full().map(|pause| pause.millis).sum(),
            allocation_rate: events.allocated_bytes as f64 / span_s,
            promotion_rate: events.promoted_bytes.map(|bytes| bytes as f64 / span_s),
            after_bytes: (!recent.is_empty()).then(|| mean(recent)),
            after_bytes_max: events.after_bytes.iter().max().copied(),
            capacity_bytes: (events.capacity_bytes > 0).then_some(events.capacity_bytes),
            evacuation_failures: events.evacuation_failures,
            stall_count: events.stall_count,
            stall_millis: events.stall_millis,
            safepoint_count: events.safepoint_count,
            safepoint_percent: events.safepoint_millis / 10.0 / span_s,
            reaching_millis_max: events.reaching_millis_max,
            has_compressed_oops: events.has_compressed_oops,
            line_count: events.line_count,
            unrecognized_line_count: events.unrecognized_line_count,
        })
    }

    pub(crate) fn percentile_millis(&self, percentile: f64) -> f64 {
        let found = self.pause_percentiles_millis.iter().find(|(known, _)| *known == percentile);
        found.map_or(0.0, |(_, millis)| *millis)
    }

    pub(crate) fn to_json(&self) -> Value {
        let percentiles: serde_json::Map<String, Value> = self
            .pause_percentiles_millis
            .iter()
            .map(|(percentile, millis)| (percentile.to_string(), json!(millis)))
            .collect();
        json!({
            "format": self.format,
            "collector": self.collector,
            "span_seconds": self.span_s,
            "pauses": {
                "count": self.pause_count, "per_minute": self.pauses_per_minute, "total_millis": self.pause_millis,
                "percent_of_time": self.pause_percent, "mean_millis": self.pause_mean_millis,
                "percentiles_millis": percentiles, "max_millis": self.pause_max_millis,
            },
            "full": {"count": self.full_count, "total_millis": self.full_millis},
            "allocation_bytes_per_second": self.allocation_rate,
            "promotion_bytes_per_second": self.promotion_rate,
            "heap_after_collection": {
                "recent_mean_bytes": self.after_bytes, "max_bytes": self.after_bytes_max, "capacity_bytes": self.capacity_bytes,
            },
            "evacuation_failures": self.evacuation_failures,
            "allocation_stalls": {"count": self.stall_count, "total_millis": self.stall_millis},
            "safepoints": {
                "count": self.safepoint_count, "percent_of_time": self.safepoint_percent,
                "longest_way_there_millis": self.reaching_millis_max,
            },
            "compressed_oops": self.has_compressed_oops,
            "lines": {"read": self.line_count, "not_understood": self.unrecognized_line_count},
        })
    }
}

/// Returns the nearest-rank percentile of values in ascending order.
fn nearest_rank(sorted: &[f64], percentile: f64) -> Option<f64> {
    let rank = (percentile / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}
