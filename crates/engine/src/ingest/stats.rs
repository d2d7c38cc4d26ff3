//! Counts and times of pipelines and processors: "how often did this run, how long did it take, how often did
//! it fail?"
//!
//! A runner counts in plain numbers and adds them here once, at its end: no atomics and almost no clock reads
//! per document. Times are measured on a sample of the documents and scaled to all of them.

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
    /// Documents that came in.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Documents that failed.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// A runner begins to use it.
    pub fn enter(&self) {
        self.current.fetch_add(1, Ordering::Relaxed);
    }

    /// A runner stops to use it.
    pub fn leave(&self) {
        self.current.fetch_sub(1, Ordering::Relaxed);
    }

    /// Adds what a runner counted.
    pub fn add(&self, tally: &Tally) {
        self.count.fetch_add(tally.count, Ordering::Relaxed);
        self.failed.fetch_add(tally.failed, Ordering::Relaxed);
        self.nanos.fetch_add(tally.nanos(), Ordering::Relaxed);
    }

    /// Takes over the totals of the metric this one replaces.
    pub fn inherit(&self, old: &Metric) {
        self.count.fetch_add(old.count(), Ordering::Relaxed);
        self.failed.fetch_add(old.failed(), Ordering::Relaxed);
        self.nanos.fetch_add(old.nanos.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// `{"count", "time_in_millis", "current", "failed"}`. `current` counts the batches (not documents) in
    /// it.
    pub fn to_json(&self) -> Value {
        json!({
            "count": self.count(),
            "time_in_millis": self.nanos.load(Ordering::Relaxed) / 1_000_000,
            "current": self.current.load(Ordering::Relaxed),
            "failed": self.failed(),
        })
    }
}

/// What one runner has to add to a [`Metric`].
#[derive(Debug, Default, Clone, Copy)]
pub struct Tally {
    pub count: u64,
    pub failed: u64,
    /// Documents that were timed, and their time.
    pub timed_count: u64,
    pub timed_nanos: u64,
}

impl Tally {
    /// Time of all documents, scaled from those that were timed.
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
    /// One for every processor outside of `on_failure`, in order, with its name in the statistics and its
    /// type.
    pub steps: Vec<(String, &'static str, Metric)>,
    /// Bytes of the documents for which this was the first pipeline, before and after.
    pub ingested_bytes: AtomicU64,
    pub produced_bytes: AtomicU64,
}

impl PipelineMetrics {
    /// Zeros, for processors with these names and types.
    pub fn new(steps: impl Iterator<Item = (String, &'static str)>) -> PipelineMetrics {
        PipelineMetrics {
            whole: Metric::default(),
            steps: steps.map(|(name, kind)| (name, kind, Metric::default())).collect(),
            ingested_bytes: AtomicU64::new(0),
            produced_bytes: AtomicU64::new(0),
        }
    }

    /// Takes over the totals of the pipeline this one replaces; those of processors that stand where one of
    /// the same name stood.
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

    /// As `GET _nodes/stats/ingest` shows the pipeline.
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
