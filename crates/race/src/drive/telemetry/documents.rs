//! Metrics documents for the statistics before and after a race.
//!
//! Names and units are those of `esrally/telemetry.py` (`IndexStats`, `JvmStatsSummary`,
//! `IngestPipelineStats`, `MlBucketProcessingTime`). Values that the server did not report have no document.

use std::time::Instant;

use serde_json::{Value, json};

use crate::drive::telemetry::{ShardTime, SystemMetrics};
use crate::metrics::document::{Level, Metric, RaceContext};
use crate::model::Params;

/// Returns all documents about the cluster, in Rally's order.
pub(crate) fn documents(context: &RaceContext, at: Instant, system: &SystemMetrics) -> Vec<Value> {
    let mut documents = Documents { context, at, found: Vec::new() };
    documents.indices(system);
    documents.garbage_collection(system);
    for job in &system.ml_jobs {
        documents.fields(
            json!({"name": "ml_processing_time", "job": job.job, "min": job.min_ms, "mean": job.mean_ms,
            "median": job.median_ms, "max": job.max_ms, "unit": "ms"}),
        );
    }
    if let Some(ingest) = &system.ingest {
        documents.value("ingest_pipeline_cluster_count", ingest.count, None);
        documents.value("ingest_pipeline_cluster_time", ingest.time_ms, Some("ms"));
        documents.value("ingest_pipeline_cluster_failed", ingest.failed, None);
    }
    documents.found
}

struct Documents<'a> {
    context: &'a RaceContext,
    at: Instant,
    found: Vec<Value>,
}

impl Documents<'_> {
    fn value(&mut self, name: &str, value: impl Into<Value>, unit: Option<&'static str>) {
        let metric = Metric { name: name.to_owned(), value: value.into(), unit, meta: Params::new() };
        self.found.push(self.context.value(self.at, Level::Cluster, &metric));
    }

    fn some(&mut self, name: &str, value: Option<u64>, unit: Option<&'static str>) {
        if let Some(value) = value {
            self.value(name, value, unit);
        }
    }

    fn fields(&mut self, fields: Value) {
        let fields = fields.as_object().cloned().unwrap_or_default();
        self.found.push(self.context.document(self.at, Level::Cluster, fields, &Params::new()));
    }

    fn time(&mut self, name: &str, time: &ShardTime) {
        if let Some(total_ms) = time.total_ms {
            self.fields(
                json!({"name": name, "value": total_ms, "unit": "ms", "per-shard": time.per_shard_ms}),
            );
        }
    }

    fn count(&mut self, name: &str, count: Option<u64>) {
        if let Some(count) = count {
            self.fields(json!({"name": name, "value": count}));
        }
    }

    fn indices(&mut self, system: &SystemMetrics) {
        let indices = &system.indices;
        self.some("segments_count", indices.segment_count, None);
        self.some("segments_memory_in_bytes", indices.segments_bytes, Some("byte"));
        self.time("merges_total_time", &indices.merge);
        self.time("merges_total_throttled_time", &indices.merge_throttle);
        self.time("indexing_total_time", &indices.indexing);
        self.time("indexing_throttle_time", &indices.indexing_throttle);
        self.time("refresh_total_time", &indices.refresh);
        self.time("flush_total_time", &indices.flush);
        self.count("merges_total_count", indices.merge_count);
        self.count("refresh_total_count", indices.refresh_count);
        self.count("flush_total_count", indices.flush_count);
        for (name, bytes) in [
            ("segments_doc_values_memory_in_bytes", indices.doc_values_bytes),
            ("segments_stored_fields_memory_in_bytes", indices.stored_fields_bytes),
            ("segments_terms_memory_in_bytes", indices.terms_bytes),
            ("segments_norms_memory_in_bytes", indices.norms_bytes),
            ("segments_points_memory_in_bytes", indices.points_bytes),
            ("dataset_size_in_bytes", indices.dataset_bytes),
            ("store_size_in_bytes", indices.store_bytes),
            ("translog_size_in_bytes", indices.translog_bytes),
        ] {
            self.some(name, bytes, Some("byte"));
        }
    }

    fn garbage_collection(&mut self, system: &SystemMetrics) {
        for (collector, (time_ms, count)) in &system.garbage_collection.collectors {
            self.value(&format!("node_total_{collector}_gc_time"), *time_ms, Some("ms"));
            self.value(&format!("node_total_{collector}_gc_count"), *count, None);
        }
    }
}
