//! The figures of a race as one list of named numbers, for comparisons and as goals of tuning.

use crate::inference::Direction;
use crate::notation::number::Number;
use crate::record::measurements::Measurements;
use crate::record::race::Race;
use crate::record::results::{PERCENTILES, Results, TaskResults, TimeStats};
use crate::record::store::StoreError;

/// One number of one race.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// For example `service_time.p99`, `throughput.median`, or `race.merge_time` for the whole race.
    pub key: String,
    /// For example `99th percentile service time`, in the words of Rally's reports.
    pub metric: String,
    /// Empty for figures of the whole race.
    pub task: String,
    pub unit: String,
    pub direction: Direction,
    pub value: f64,
}

impl Figure {
    /// Whether `pattern` matches this figure: its key, or the part of the key before the dot.
    pub fn is_meant_by(&self, pattern: &str) -> bool {
        let kind = self.key.split('.').next().unwrap_or_default();
        self.key == pattern || kind == pattern
    }
}

/// The kinds of figures that a pattern can name; see [`Figure::is_meant_by`].
pub(crate) const KINDS: [&str; 7] =
    ["throughput", "latency", "service_time", "processing_time", "took", "error_rate", "race"];

/// Returns all figures of a race in the order of Rally's report. What was not measured is left out, and so is
/// latency that equals service time (of unthrottled tasks).
///
/// # Errors
/// `Results` when the race's results are not in Rally's layout.
pub(crate) fn of_race(race: &Race) -> Result<Vec<Figure>, StoreError> {
    let results = race.results()?;
    let mut figures = of_whole_race(&results);
    for task in &results.op_metrics {
        add_task(task, &mut figures);
    }
    Ok(figures)
}

/// Returns the figures of what the server used, if they are known.
pub(crate) fn of_measurements(measurements: &Measurements) -> Vec<Figure> {
    let server = &measurements.server;
    let peak_bytes = server.peak_resident_bytes.filter(|_| server.is_peak_of_race != Some(false));
    let listed = [
        ("peak_memory", "Peak resident memory of the server", "bytes", peak_bytes.map(|bytes| bytes as f64)),
        ("server_cpu", "Processor time of the server", "s", server.cpu_s),
    ];
    listed
        .into_iter()
        .filter_map(|(key, metric, unit, value)| Some(whole_race(key, metric, unit, value?)))
        .collect()
}

fn whole_race(key: &str, metric: &str, unit: &str, value: f64) -> Figure {
    Figure {
        key: format!("race.{key}"),
        metric: metric.to_owned(),
        task: String::new(),
        unit: unit.to_owned(),
        direction: Direction::LessIsBetter,
        value,
    }
}

fn of_whole_race(results: &Results) -> Vec<Figure> {
    let listed: [(&str, &str, &str, Option<Number>); 13] = [
        ("indexing_time", "Cumulative indexing time of primary shards", "ms", results.total_time),
        ("merge_time", "Cumulative merge time of primary shards", "ms", results.merge_time),
        (
            "merge_throttle_time",
            "Cumulative merge throttle time of primary shards",
            "ms",
            results.merge_throttle_time,
        ),
        ("refresh_time", "Cumulative refresh time of primary shards", "ms", results.refresh_time),
        ("flush_time", "Cumulative flush time of primary shards", "ms", results.flush_time),
        ("young_gc_time", "Total Young Gen GC time", "ms", results.young_gc_time),
        ("old_gc_time", "Total Old Gen GC time", "ms", results.old_gc_time),
        ("zgc_cycles_gc_time", "Total ZGC Cycles GC time", "ms", results.zgc_cycles_gc_time),
        ("zgc_pauses_gc_time", "Total ZGC Pauses GC time", "ms", results.zgc_pauses_gc_time),
        ("dataset_size", "Dataset size", "bytes", results.dataset_size),
        ("store_size", "Store size", "bytes", results.store_size),
        ("translog_size", "Translog size", "bytes", results.translog_size),
        ("segment_count", "Segment count", "", results.segment_count),
    ];
    listed
        .into_iter()
        .filter_map(|(key, metric, unit, value)| Some(whole_race(key, metric, unit, value?.as_f64())))
        .collect()
}

fn add_task(task: &TaskResults, figures: &mut Vec<Figure>) {
    let mut add = |key: String, metric: String, unit: &str, direction: Direction, value: Option<Number>| {
        if let Some(value) = value.map(|value| value.as_f64()).filter(|value| value.is_finite()) {
            figures.push(Figure {
                key,
                metric,
                task: task.task.clone(),
                unit: unit.to_owned(),
                direction,
                value,
            });
        }
    };
    let unit = task.throughput.unit.as_deref().unwrap_or_default();
    for (key, label, value) in
        [("mean", "Mean", task.throughput.mean), ("median", "Median", task.throughput.median)]
    {
        let metric = format!("{label} Throughput");
        add(format!("throughput.{key}"), metric, unit, Direction::MoreIsBetter, value);
    }
    let is_closed_loop = task.latency == task.service_time;
    let mut percentiles = |kind: &str, label: &str, times: &TimeStats| {
        for (percentile, key, _) in PERCENTILES {
            let metric = format!("{percentile}th percentile {label}");
            let value = times.get(key);
            add(format!("{kind}.p{percentile}"), metric, "ms", Direction::LessIsBetter, value);
        }
        let metric = format!("Mean {label}");
        add(format!("{kind}.mean"), metric, "ms", Direction::LessIsBetter, times.mean);
    };
    if !is_closed_loop {
        percentiles("latency", "latency", &task.latency);
    }
    percentiles("service_time", "service time", &task.service_time);
    percentiles("processing_time", "processing time", &task.processing_time);
    percentiles("took", "took", &task.took);
    let rate = Some(Number::Float(task.error_rate * 100.0));
    add("error_rate".to_owned(), "error rate".to_owned(), "%", Direction::LessIsBetter, rate);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::race::{Car, Cluster};
    use crate::record::results::ThroughputStats;

    /// Returns a stored race of one closed-loop task `index` with this median throughput and p99.
    pub(crate) fn race(id: &str, docs_per_s: f64, p99_ms: f64) -> Race {
        let times = TimeStats::new(&[(50.0, 2.0), (99.0, p99_ms), (100.0, p99_ms)], 2.5);
        let task = TaskResults {
            task: "index".into(),
            operation: "bulk".into(),
            throughput: ThroughputStats {
                median: Some(Number::Float(docs_per_s)),
                unit: Some("docs/s".into()),
                ..ThroughputStats::default()
            },
            latency: times.clone(),
            service_time: times,
            ..TaskResults::default()
        };
        let results =
            Results { op_metrics: vec![task], store_size: Some(Number::Int(7)), ..Results::default() };
        let mut race = Race {
            rally_version: "limber 0".into(),
            rally_revision: None,
            environment: "local".into(),
            race_id: id.into(),
            race_timestamp: "20261122T120000Z".into(),
            pipeline: "benchmark-only".into(),
            user_tags: serde_json::Map::new(),
            track: "log_ingest".into(),
            car: Car::Name("limber".into()),
            cluster: Cluster::default(),
            results: None,
            track_revision: None,
            challenge: Some("default".into()),
            track_params: None,
            car_params: None,
            plugin_params: None,
            scope: None,
        };
        race.set_results(&results);
        race
    }

    #[test]
    fn a_race_comes_down_to_named_figures() {
        let figures = of_race(&race("a", 1000.0, 9.0)).unwrap();
        let keys: Vec<&str> = figures.iter().map(|figure| figure.key.as_str()).collect();
        // The latency of a closed loop is its service time, and is not listed twice.
        let expected = [
            "race.store_size",
            "throughput.median",
            "service_time.p50",
            "service_time.p99",
            "service_time.p100",
            "service_time.mean",
            "error_rate",
        ];
        assert_eq!(keys, expected);
        let p99 = &figures[3];
        assert_eq!(
            (p99.value, p99.metric.as_str(), p99.task.as_str()),
            (9.0, "99th percentile service time", "index")
        );
        assert!(p99.is_meant_by("service_time") && p99.is_meant_by("service_time.p99"));
        assert!(!p99.is_meant_by("service_time.p9") && !p99.is_meant_by("service"));
    }
}
