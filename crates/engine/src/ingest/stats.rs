//! Statistics of pipelines and processors: "how often did this run, how long did it take, how often did it
//! fail?"
//!
//! A runner counts without atomics and adds its tallies here once, when it ends. It reads the clock only for
//! a sample of the documents, and the times are scaled to all of them.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

/// One pipeline's or processor's totals since the node started.
#[derive(Debug, Default)]
pub struct Metric {
    count: AtomicU64,
    failed: AtomicU64,
    nanos: AtomicU64,
    current: AtomicU64,
}

impl Metric {
    /// Returns the documents that came in.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Returns the documents that failed.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Notes that a runner begins to use it.
    pub fn enter(&self) {
        self.current.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a runner stops using it.
    pub fn leave(&self) {
        self.current.fetch_sub(1, Ordering::Relaxed);
    }

    /// Adds the tally of a runner.
    pub fn add(&self, tally: &Tally) {
        self.count.fetch_add(tally.count, Ordering::Relaxed);
        self.failed.fetch_add(tally.failed, Ordering::Relaxed);
        self.nanos.fetch_add(tally.nanos(), Ordering::Relaxed);
    }

    /// Adds the totals of the metric that this one replaces.
    pub fn inherit(&self, old: &Metric) {
        self.count.fetch_add(old.count(), Ordering::Relaxed);
        self.failed.fetch_add(old.failed(), Ordering::Relaxed);
        self.nanos.fetch_add(old.nanos.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Renders `{"count", "time_in_millis", "current", "failed"}`. `current` counts batches, not documents.
    pub fn to_json(&self) -> Value {
        json!({
            "count": self.count(),
            "time_in_millis": self.nanos.load(Ordering::Relaxed) / 1_000_000,
            "current": self.current.load(Ordering::Relaxed),
            "failed": self.failed(),
        })
    }
}

/// What one runner adds to a [`Metric`].
#[derive(Debug, Default, Clone, Copy)]
pub struct Tally {
    pub count: u64,
    pub failed: u64,
    /// Documents that were timed.
    pub timed_count: u64,
    pub timed_nanos: u64,
}

impl Tally {
    /// Returns the time of all documents, scaled from those that were timed.
    fn nanos(&self) -> u64 {
        if self.timed_count == 0 {
            return 0;
        }
        (u128::from(self.timed_nanos) * u128::from(self.count) / u128::from(self.timed_count)) as u64
    }
}

/// The metrics of one pipeline.
#[derive(Debug)]
pub struct PipelineMetrics {
    pub whole: Metric,
    /// For every processor outside `on_failure`, in order: its name in the statistics, its type and its
    /// metric.
    pub steps: Vec<(String, &'static str, Metric)>,
    /// Bytes of the documents for which this was the first pipeline: `ingested_bytes` before the pipelines
    /// ran, `produced_bytes` after.
    pub ingested_bytes: AtomicU64,
    pub produced_bytes: AtomicU64,
}

impl PipelineMetrics {
    /// Makes metrics of zero for processors with these names and types.
    pub fn new(steps: impl Iterator<Item = (String, &'static str)>) -> PipelineMetrics {
        PipelineMetrics {
            whole: Metric::default(),
            steps: steps.map(|(name, kind)| (name, kind, Metric::default())).collect(),
            ingested_bytes: AtomicU64::new(0),
            produced_bytes: AtomicU64::new(0),
        }
    }

    /// Adds the totals of the pipeline that this one replaces, and those of processors with the same name at
    /// the same position.
    pub fn inherit(&self, old: &PipelineMetrics) {
        self.whole.inherit(&old.whole);
        self.ingested_bytes.fetch_add(old.ingested_bytes.load(Ordering::Relaxed), Ordering::Relaxed);
        self.produced_bytes.fetch_add(old.produced_bytes.load(Ordering::Relaxed), Ordering::Relaxed);
        for (new, old) in self.steps.iter().zip(&old.steps) {
            if new.0 == old.0 {
                new.2.inherit(&old.2);
            }
        }
    }

    /// Renders the pipeline as `GET _nodes/stats/ingest` shows it.
    pub fn to_json(&self) -> Value {
        let steps = self
            .steps
            .iter()
            .map(|(name, kind, metric)| json!({ name: { "type": kind, "stats": metric.to_json() } }));
        let mut object = self.whole.to_json();
        object["ingested_as_first_pipeline_in_bytes"] = self.ingested_bytes.load(Ordering::Relaxed).into();
        object["produced_as_first_pipeline_in_bytes"] = self.produced_bytes.load(Ordering::Relaxed).into();
        object["processors"] = steps.collect();
        object
    }
}
