//! Prints Rally's summary of a race, row for row (`SummaryReporter` in `esrally/reporter.py`).

use std::collections::HashMap;
use std::io::{self, Write};

use super::output::{self, ReportOptions, Show};
use super::table::{Cell, Row};
use crate::notation::number::{self, Number};
use crate::notation::units;
use crate::record::results::{DiskUsage, PERCENTILES, PerShard, Results, TaskResults, TimeStats};

pub(crate) const HEADERS: [&str; 4] = ["Metric", "Task", "Value", "Unit"];

/// Prints the heading, the table and warnings, and appends the table to the report file.
///
/// # Errors
/// Those of `out` and of the report file.
pub(crate) fn write(results: &Results, options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    output::write_heading(options, out)?;
    let rows = rows(results, options);
    output::write_table(&HEADERS, &rows, &rows, options, out)?;
    for warning in warnings(results) {
        writeln!(out, "[WARNING] {warning}")?;
    }
    Ok(())
}

/// Returns the table's rows, in Rally's order.
pub(crate) fn rows(results: &Results, options: &ReportOptions) -> Vec<Row> {
    let mut table = Rows { rows: Vec::new(), show: options.show };
    add_totals(results, &mut table);
    add_ml_processing_times(results, &mut table);
    add_garbage_collection(results, &mut table);
    add_sizes(results, &mut table);
    add_transforms(results, &mut table);
    add_ingest_pipelines(results, &mut table);
    add_disk_usage(results, &mut table);
    for task in &results.op_metrics {
        add_task(task, options, &mut table);
    }
    table.rows
}

/// Returns warnings about tasks with errors or without measurements.
pub(crate) fn warnings(results: &Results) -> Vec<String> {
    results
        .op_metrics
        .iter()
        .flat_map(|task| error_warning(task).into_iter().chain(no_throughput(task)))
        .collect()
}

/// Returns a warning if requests of the task failed.
fn error_warning(task: &TaskResults) -> Option<String> {
    (task.error_rate > 0.0).then(|| {
        format!(
            "Error rate is {} for operation '{}'. Please check the logs.",
            number::rounded_2(task.error_rate * 100.0),
            task.task
        )
    })
}

/// Returns a warning if the task has no throughput, with the possible cause.
pub(crate) fn no_throughput(task: &TaskResults) -> Option<String> {
    let cause = match (task.throughput.median, task.error_rate) {
        (Some(_), _) => return None,
        (None, share) if share > 0.0 => {
            format!("Error rate is {:.1}%. Please check the logs.", share * 100.0)
        }
        (None, _) => "The benchmark ended already during warmup.".to_owned(),
    };
    Some(format!("No throughput metrics available for [{}]. Likely cause: {cause}", task.task))
}

struct Rows {
    rows: Vec<Row>,
    show: Show,
}

impl Rows {
    fn add(&mut self, metric: impl Into<String>, task: &str, value: Option<impl Into<Cell>>, unit: &str) {
        if value.is_none() && self.show != Show::All {
            return;
        }
        let unit = if value.is_some() { Cell::from(unit) } else { Cell::Missing };
        self.rows.push(vec![Cell::Text(metric.into()), Cell::from(task), Cell::from(value), unit]);
    }

    fn add_total(&mut self, name: &str, total_ms: Option<Number>) {
        self.add(
            format!("Cumulative {name} of primary shards"),
            "",
            total_ms.map(units::ms_to_minutes),
            "min",
        );
    }

    fn add_count(&mut self, name: &str, count: Option<Number>) {
        self.add(format!("Cumulative {name} of primary shards"), "", count, "");
    }

    fn add_per_shard(&mut self, name: &str, per_shard: &PerShard) {
        for (label, ms) in [("Min", per_shard.min), ("Median", per_shard.median), ("Max", per_shard.max)] {
            let metric = format!("{label} cumulative {name} across primary shards");
            self.add(metric, "", ms.map(units::ms_to_minutes), "min");
        }
    }
}

/// Time that one kind of work took on the primary shards, in ms.
pub(crate) struct Work {
    pub name: &'static str,
    pub total_ms: Option<Number>,
    /// How often it was done: (name, count), if Rally reports that.
    pub count: Option<(&'static str, Option<Number>)>,
}

/// Returns the kinds of work in the order of the reports, each with its times per shard.
pub(crate) fn work(results: &Results) -> [(Work, &PerShard); 6] {
    let work = |name, total_ms, count| Work { name, total_ms, count };
    [
        (work("indexing time", results.total_time, None), &results.total_time_per_shard),
        (
            work("indexing throttle time", results.indexing_throttle_time, None),
            &results.indexing_throttle_time_per_shard,
        ),
        (
            work("merge time", results.merge_time, Some(("merge count", results.merge_count))),
            &results.merge_time_per_shard,
        ),
        (
            work("merge throttle time", results.merge_throttle_time, None),
            &results.merge_throttle_time_per_shard,
        ),
        (
            work("refresh time", results.refresh_time, Some(("refresh count", results.refresh_count))),
            &results.refresh_time_per_shard,
        ),
        (
            work("flush time", results.flush_time, Some(("flush count", results.flush_count))),
            &results.flush_time_per_shard,
        ),
    ]
}

fn add_totals(results: &Results, table: &mut Rows) {
    for (work, per_shard) in work(results) {
        table.add_total(work.name, work.total_ms);
        if let Some((name, count)) = work.count {
            table.add_count(name, count);
        }
        table.add_per_shard(work.name, per_shard);
    }
}

fn add_ml_processing_times(results: &Results, table: &mut Rows) {
    for job in &results.ml_processing_time {
        table.add("Min ML processing time", &job.job, job.min, &job.unit);
        table.add("Mean ML processing time", &job.job, job.mean, &job.unit);
        table.add("Median ML processing time", &job.job, job.median, &job.unit);
        table.add("Max ML processing time", &job.job, job.max, &job.unit);
    }
}

/// Returns each collector's time in ms and its number of collections.
pub(crate) fn collections(results: &Results) -> [(&'static str, Option<Number>, Option<Number>); 4] {
    [
        ("Young Gen", results.young_gc_time, results.young_gc_count),
        ("Old Gen", results.old_gc_time, results.old_gc_count),
        ("ZGC Cycles", results.zgc_cycles_gc_time, results.zgc_cycles_gc_count),
        ("ZGC Pauses", results.zgc_pauses_gc_time, results.zgc_pauses_gc_count),
    ]
}

fn add_garbage_collection(results: &Results, table: &mut Rows) {
    for (collector, time_ms, count) in collections(results) {
        table.add(format!("Total {collector} GC time"), "", time_ms.map(units::ms_to_seconds), "s");
        table.add(format!("Total {collector} GC count"), "", count, "");
    }
}

/// Returns the bytes on disk.
pub(crate) fn sizes(results: &Results) -> [(&'static str, Option<Number>); 3] {
    [
        ("Dataset size", results.dataset_size),
        ("Store size", results.store_size),
        ("Translog size", results.translog_size),
    ]
}

/// Returns the bytes of memory that parts of segments take.
pub(crate) fn memory_parts(results: &Results) -> [(&'static str, Option<Number>); 6] {
    [
        ("segments", results.memory_segments),
        ("doc values", results.memory_doc_values),
        ("terms", results.memory_terms),
        ("norms", results.memory_norms),
        ("points", results.memory_points),
        ("stored fields", results.memory_stored_fields),
    ]
}

fn add_sizes(results: &Results, table: &mut Rows) {
    for (name, bytes) in sizes(results) {
        table.add(name, "", bytes.map(units::bytes_to_gb), "GB");
    }
    for (part, bytes) in memory_parts(results) {
        table.add(format!("Heap used for {part}"), "", bytes.map(units::bytes_to_mb), "MB");
    }
    table.add("Segment count", "", results.segment_count, "");
}

fn add_transforms(results: &Results, table: &mut Rows) {
    for (name, transforms) in [
        ("processing time", &results.total_transform_processing_times),
        ("indexing time", &results.total_transform_index_times),
        ("search time", &results.total_transform_search_times),
        ("throughput", &results.total_transform_throughput),
    ] {
        for transform in transforms {
            table.add(format!("Transform {name}"), &transform.id, transform.mean, &transform.unit);
        }
    }
}

fn add_ingest_pipelines(results: &Results, table: &mut Rows) {
    table.add("Total Ingest Pipeline count", "", results.ingest_pipeline_cluster_count, "");
    let seconds = results.ingest_pipeline_cluster_time.map(units::ms_to_seconds);
    table.add("Total Ingest Pipeline time", "", seconds, "s");
    table.add("Total Ingest Pipeline failed", "", results.ingest_pipeline_cluster_failed, "");
}

/// Returns the parts of a field's disk usage, in the order of the report.
pub(crate) fn disk_usage_parts(results: &Results) -> [(&'static str, &[DiskUsage]); 7] {
    [
        ("inverted index", &results.disk_usage_inverted_index),
        ("stored fields", &results.disk_usage_stored_fields),
        ("doc values", &results.disk_usage_doc_values),
        ("points", &results.disk_usage_points),
        ("norms", &results.disk_usage_norms),
        ("term vectors", &results.disk_usage_term_vectors),
        ("total", &results.disk_usage_total),
    ]
}

/// Returns the bytes of each measured part, by index and field.
pub(crate) fn disk_usage_by_field(results: &Results) -> HashMap<(&str, &str), Vec<(&'static str, Number)>> {
    let mut by_field: HashMap<(&str, &str), Vec<(&'static str, Number)>> = HashMap::new();
    for (part, usages) in disk_usage_parts(results) {
        for usage in usages {
            let parts = by_field.entry((&usage.index, &usage.field)).or_default();
            match parts.iter_mut().find(|(known, _)| *known == part) {
                Some(entry) => entry.1 = usage.value,
                None => parts.push((part, usage.value)),
            }
        }
    }
    by_field
}

fn add_disk_usage(results: &Results, table: &mut Rows) {
    let by_field = disk_usage_by_field(results);
    let mut totals: Vec<&DiskUsage> = results.disk_usage_total.iter().collect();
    totals.sort_by(|a, b| {
        a.index.cmp(&b.index).then(a.value.as_f64().total_cmp(&b.value.as_f64())).then(a.field.cmp(&b.field))
    });
    for total in totals {
        let parts = by_field.get(&(total.index.as_str(), total.field.as_str()));
        for (part, bytes) in parts.into_iter().flatten() {
            let (unit, unit_bytes) = units::human_unit(bytes.as_f64());
            let value = Number::Float(bytes.as_f64().trunc() / unit_bytes);
            table.add(format!("{} {} {part}", total.index, total.field), "", Some(value), unit);
        }
    }
}

fn add_task(task: &TaskResults, options: &ReportOptions, table: &mut Rows) {
    let name = task.task.as_str();
    let throughput = &task.throughput;
    let unit = throughput.unit.as_deref().unwrap_or_default();
    for (label, value) in [
        ("Min", throughput.min),
        ("Mean", throughput.mean),
        ("Median", throughput.median),
        ("Max", throughput.max),
    ] {
        let value = value.map(|value| format!("{:.2}", value.as_f64()));
        table.add(format!("{label} Throughput"), name, value, unit);
    }
    add_percentiles("latency", name, &task.latency, table);
    add_percentiles("service time", name, &task.service_time, table);
    if options.processing_time {
        add_percentiles("processing time", name, &task.processing_time, table);
    }
    table.add("error rate", name, Some(format!("{:.2}", task.error_rate * 100.0)), "%");
}

fn add_percentiles(metric: &str, task: &str, times: &TimeStats, table: &mut Rows) {
    if times.is_empty() {
        return;
    }
    for (label, key, _) in PERCENTILES {
        let metric = format!("{label}th percentile {metric}");
        match times.get(key) {
            None if table.show == Show::AllPercentiles => {
                table.rows.push(vec![Cell::Text(metric), Cell::from(task), Cell::Missing, Cell::Missing]);
            }
            value => table.add(metric, task, value, "ms"),
        }
    }
}
