//! Which telemetry devices run, and in which order.

use serde_json::Value;

use super::{Environment, GarbageCollection, IndexMetrics, IngestTotals, MlJob};
use super::{environment, index_stats, ingest, jvm, ml};
use crate::http::cluster::Cluster;
use crate::metrics::Metric;

/// What all devices found.
#[derive(Debug, Clone, Default)]
pub(crate) struct SystemMetrics {
    pub indices: IndexMetrics,
    pub garbage_collection: GarbageCollection,
    pub ingest: Option<IngestTotals>,
    pub ml_jobs: Vec<MlJob>,
    /// Values that optional devices found and that have rows in the report.
    pub watched: Vec<Metric>,
}

/// The devices between the start and the end of the race.
#[derive(Debug)]
pub(crate) struct Telemetry {
    environment: Environment,
    jvm: Option<Value>,
    ingest: Option<Value>,
    pub warnings: Vec<String>,
    is_off: bool,
}

impl Telemetry {
    /// Returns the telemetry of a race without a server.
    pub(crate) fn off() -> Telemetry {
        Telemetry {
            environment: Environment::default(),
            jvm: None,
            ingest: None,
            warnings: Vec::new(),
            is_off: true,
        }
    }

    pub(crate) fn start(cluster: &mut Cluster, info: &Value) -> Telemetry {
        let mut warnings = Vec::new();
        let environment = environment::describe(cluster, info, &mut warnings);
        let jvm = stats(cluster, jvm::PATH, &mut warnings);
        if let Some(before) = stats(cluster, index_stats::PATH, &mut warnings) {
            warnings.extend(index_stats::unclean_state(&before));
        }
        let ingest = stats(cluster, ingest::PATH, &mut warnings);
        Telemetry { environment, jvm, ingest, warnings, is_off: false }
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(crate) fn stop(self, cluster: &mut Cluster) -> (SystemMetrics, Vec<String>) {
        let mut warnings = Vec::new();
        if self.is_off {
            return (SystemMetrics::default(), warnings);
        }
        let jvm = stats(cluster, jvm::PATH, &mut warnings);
        let indices = stats(cluster, index_stats::PATH, &mut warnings);
        let ml_jobs = ml::processing_times(cluster, &mut warnings);
        let ingest = stats(cluster, ingest::PATH, &mut warnings);
        let metrics = SystemMetrics {
            indices: indices.map(|stats| index_stats::read(&stats)).unwrap_or_default(),
            garbage_collection: jvm::difference(self.jvm.as_ref(), jvm.as_ref()),
            ingest: ingest::difference(self.ingest.as_ref(), ingest.as_ref()),
            ml_jobs,
            watched: Vec::new(),
        };
        (metrics, warnings)
    }
}

/// Fetches statistics; on failure, adds a warning and returns `None`.
pub(super) fn stats(cluster: &mut Cluster, path: &str, warnings: &mut Vec<String>) -> Option<Value> {
    cluster.fetch(path).map_err(|reason| warnings.push(format!("{reason}; its rows are missing"))).ok()
}
