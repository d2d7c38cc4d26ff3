//! Turns measurements into the results of a race.

use super::driver::TaskResult;
use super::telemetry::{GarbageCollection, ShardTime, SystemMetrics};
use crate::metrics::Metric;
use crate::model::{Challenge, Params, Track};
use crate::notation::Number;
use crate::record::results::{
    DiskUsage, MlProcessingTime, PerShard, Results, TaskResults, ThroughputStats, TransformResult,
};

/// Rally's `results` object (`metrics.py`, `GlobalStatsCalculator`).
///
/// Tasks that reports leave out are included if they failed.
pub(crate) fn results(
    track: &Track,
    challenge: &Challenge,
    tasks: &mut [TaskResult<'_>],
    system: &SystemMetrics,
) -> Results {
    let mut results = Results::default();
    for result in tasks {
        if result.task.operation.include_in_reporting || result.statistics.error_rate() > 0.0 {
            let metas = [&track.meta, &challenge.meta, &result.task.operation.meta, &result.task.meta];
            let task = task_results(result, merged(&metas));
            results.op_metrics.push(task);
        }
    }
    add_indices(&mut results, system);
    add_garbage_collection(&mut results, &system.garbage_collection);
    let ml_job = |job: &super::telemetry::MlJob| MlProcessingTime {
        job: job.job.clone(),
        min: Some(job.min_ms.into()),
        mean: Some(job.mean_ms.into()),
        median: Some(job.median_ms.into()),
        max: Some(job.max_ms.into()),
        unit: "ms".into(),
    };
    results.ml_processing_time = system.ml_jobs.iter().map(ml_job).collect();
    add_watched(&mut results, &system.watched);
    if let Some(ingest) = system.ingest {
        results.ingest_pipeline_cluster_count = Some(ingest.count.into());
        results.ingest_pipeline_cluster_time = Some(ingest.time_ms.into());
        results.ingest_pipeline_cluster_failed = Some(ingest.failed.into());
    }
    results
}

fn task_results(result: &mut TaskResult<'_>, meta: Params) -> TaskResults {
    let statistics = &mut result.statistics;
    let throughput = statistics.throughput();
    TaskResults {
        task: result.task.name.clone(),
        operation: result.task.operation.name.clone(),
        throughput: ThroughputStats {
            min: throughput.map(|summary| summary.min.into()),
            mean: throughput.map(|summary| summary.mean.into()),
            median: throughput.map(|summary| summary.median.into()),
            max: throughput.map(|summary| summary.max.into()),
            unit: Some(statistics.throughput_unit()),
        },
        latency: statistics.latency.time_stats(),
        service_time: statistics.service_time.time_stats(),
        processing_time: statistics.processing_time.time_stats(),
        took: statistics.took.time_stats(),
        error_rate: statistics.error_rate(),
        duration: Some(Number::Float(statistics.duration().as_secs_f64() * 1000.0)),
        meta,
    }
}

/// Merges the objects; later ones take precedence.
fn merged(metas: &[&Params]) -> Params {
    let mut all = Params::new();
    for meta in metas {
        all.extend(meta.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    all
}

fn add_indices(results: &mut Results, system: &SystemMetrics) {
    let indices = &system.indices;
    let number = |value: Option<u64>| value.map(Number::from);
    let time = |time: &ShardTime| (number(time.total_ms), PerShard::of_ms(&time.per_shard_ms));
    (results.total_time, results.total_time_per_shard) = time(&indices.indexing);
    (results.indexing_throttle_time, results.indexing_throttle_time_per_shard) =
        time(&indices.indexing_throttle);
    (results.merge_time, results.merge_time_per_shard) = time(&indices.merge);
    (results.merge_throttle_time, results.merge_throttle_time_per_shard) = time(&indices.merge_throttle);
    (results.refresh_time, results.refresh_time_per_shard) = time(&indices.refresh);
    (results.flush_time, results.flush_time_per_shard) = time(&indices.flush);
    results.merge_count = number(indices.merge_count);
    results.refresh_count = number(indices.refresh_count);
    results.flush_count = number(indices.flush_count);
    results.memory_segments = number(indices.segments_bytes);
    results.memory_doc_values = number(indices.doc_values_bytes);
    results.memory_terms = number(indices.terms_bytes);
    results.memory_norms = number(indices.norms_bytes);
    results.memory_points = number(indices.points_bytes);
    results.memory_stored_fields = number(indices.stored_fields_bytes);
    results.dataset_size = number(indices.dataset_bytes);
    results.store_size = number(indices.store_bytes);
    results.translog_size = number(indices.translog_bytes);
    results.segment_count = number(indices.segment_count);
}

fn add_garbage_collection(results: &mut Results, collections: &GarbageCollection) {
    let time = |collector: &str| collections.time_ms(collector).map(Number::from);
    let count = |collector: &str| collections.count(collector).map(Number::from);
    (results.young_gc_time, results.young_gc_count) = (time("young_gen"), count("young_gen"));
    (results.old_gc_time, results.old_gc_count) = (time("old_gen"), count("old_gen"));
    (results.zgc_cycles_gc_time, results.zgc_cycles_gc_count) = (time("zgc_cycles"), count("zgc_cycles"));
    (results.zgc_pauses_gc_time, results.zgc_pauses_gc_count) = (time("zgc_pauses"), count("zgc_pauses"));
}

/// Adds the rows of transforms and of disk usage by field.
fn add_watched(results: &mut Results, watched: &[Metric]) {
    for metric in watched {
        let text = |key: &str| {
            metric.meta.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
        };
        let Ok(value) = serde_json::from_value::<Number>(metric.value.clone()) else { continue };
        let unit = metric.unit.map(str::to_owned);
        let transforms = match metric.name.as_str() {
            "total_transform_search_time" => Some(&mut results.total_transform_search_times),
            "total_transform_index_time" => Some(&mut results.total_transform_index_times),
            "total_transform_processing_time" => Some(&mut results.total_transform_processing_times),
            "total_transform_throughput" => Some(&mut results.total_transform_throughput),
            _ => None,
        };
        if let Some(transforms) = transforms {
            let id = text("transform_id");
            transforms.push(TransformResult { id, mean: Some(value), unit: unit.unwrap_or_default() });
            continue;
        }
        let usages = match metric.name.as_str() {
            "disk_usage_total" => &mut results.disk_usage_total,
            "disk_usage_inverted_index" => &mut results.disk_usage_inverted_index,
            "disk_usage_stored_fields" => &mut results.disk_usage_stored_fields,
            "disk_usage_doc_values" => &mut results.disk_usage_doc_values,
            "disk_usage_points" => &mut results.disk_usage_points,
            "disk_usage_norms" => &mut results.disk_usage_norms,
            "disk_usage_term_vectors" => &mut results.disk_usage_term_vectors,
            _ => continue,
        };
        usages.push(DiskUsage { index: text("index"), field: text("field"), value, unit });
    }
}
