//! `_prometheus/metrics`: the metrics of `_nodes/stats` in the format that Prometheus reads.
//!
//! Metrics that common Elasticsearch exporters have use their names: `elasticsearch_` and the section.
//! Limber's own begin with `limber_`. Source: Prometheus, "Exposition formats", text format 0.0.4.

use std::fmt::Write as _;

use limber_engine::{HealthRequest, HealthStatus, IndicesOptions, Result, StatsLevel, StatsRequest};
use serde_json::Value;

use super::nodes::node_stats;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

/// The endpoints of this file (`_prometheus`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[route(&[Method::Get], "/_prometheus/metrics", &[], metrics)];

/// A gauge may go up and down; a counter only goes up.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Gauge,
    Counter,
}

use Kind::{Counter, Gauge};

/// A metric read from `_nodes/stats`.
struct Metric {
    name: &'static str,
    kind: Kind,
    help: &'static str,
    /// The member names on the path to the value. `*` stands for every member; its name becomes the value of
    /// the label.
    path: &'static str,
    /// The name of the label for `*`.
    label: &'static str,
    /// The value is multiplied by this factor, such as 0.001 for milliseconds.
    scale: f64,
}

const fn plain(name: &'static str, kind: Kind, path: &'static str, help: &'static str) -> Metric {
    Metric { name, kind, help, path, label: "", scale: 1.0 }
}

const fn seconds(name: &'static str, kind: Kind, path: &'static str, help: &'static str) -> Metric {
    Metric { scale: 0.001, ..plain(name, kind, path, help) }
}

const fn each(
    name: &'static str,
    kind: Kind,
    path: &'static str,
    label: &'static str,
    help: &'static str,
) -> Metric {
    Metric { label, ..plain(name, kind, path, help) }
}

const METRICS: &[Metric] = &[
    plain("elasticsearch_indices_docs", Gauge, "indices.docs.count", "Documents"),
    plain(
        "elasticsearch_indices_docs_deleted",
        Gauge,
        "indices.docs.deleted",
        "Deleted documents that are not merged away yet",
    ),
    plain(
        "elasticsearch_indices_store_size_bytes",
        Gauge,
        "indices.store.size_in_bytes",
        "Bytes of all shards on disk",
    ),
    plain(
        "elasticsearch_indices_indexing_index_total",
        Counter,
        "indices.indexing.index_total",
        "Documents indexed",
    ),
    plain(
        "elasticsearch_indices_indexing_failed_total",
        Counter,
        "indices.indexing.index_failed",
        "Documents refused",
    ),
    seconds(
        "elasticsearch_indices_indexing_index_time_seconds_total",
        Counter,
        "indices.indexing.index_time_in_millis",
        "Time spent indexing",
    ),
    plain(
        "elasticsearch_indices_indexing_delete_total",
        Counter,
        "indices.indexing.delete_total",
        "Documents deleted",
    ),
    plain("elasticsearch_indices_get_total", Counter, "indices.get.total", "Gets"),
    plain(
        "elasticsearch_indices_search_query_total",
        Counter,
        "indices.search.query_total",
        "Searches of shards",
    ),
    seconds(
        "elasticsearch_indices_search_query_time_seconds",
        Counter,
        "indices.search.query_time_in_millis",
        "Time spent searching",
    ),
    plain(
        "elasticsearch_indices_search_query_current",
        Gauge,
        "indices.search.query_current",
        "Searches of shards under way",
    ),
    plain(
        "elasticsearch_indices_search_scroll_current",
        Gauge,
        "indices.search.scroll_current",
        "Open scrolls",
    ),
    plain("elasticsearch_indices_merges_total", Counter, "indices.merges.total", "Merges"),
    plain("elasticsearch_indices_merges_current", Gauge, "indices.merges.current", "Merges under way"),
    seconds(
        "elasticsearch_indices_merges_total_time_seconds_total",
        Counter,
        "indices.merges.total_time_in_millis",
        "Time spent merging",
    ),
    plain("elasticsearch_indices_refresh_total", Counter, "indices.refresh.total", "Refreshes"),
    seconds(
        "elasticsearch_indices_refresh_time_seconds_total",
        Counter,
        "indices.refresh.total_time_in_millis",
        "Time spent refreshing",
    ),
    plain("elasticsearch_indices_flush_total", Counter, "indices.flush.total", "Flushes"),
    plain("elasticsearch_indices_segments_count", Gauge, "indices.segments.count", "Segments"),
    plain(
        "elasticsearch_indices_translog_size_in_bytes",
        Gauge,
        "indices.translog.size_in_bytes",
        "Bytes of the translogs",
    ),
    plain(
        "elasticsearch_indices_query_cache_memory_size_bytes",
        Gauge,
        "indices.query_cache.memory_size_in_bytes",
        "Bytes of the filter cache",
    ),
    plain(
        "elasticsearch_indices_request_cache_memory_size_bytes",
        Gauge,
        "indices.request_cache.memory_size_in_bytes",
        "Bytes of the request cache",
    ),
    plain(
        "elasticsearch_process_open_files_count",
        Gauge,
        "process.open_file_descriptors",
        "Open file descriptors",
    ),
    plain(
        "elasticsearch_process_max_files_descriptors",
        Gauge,
        "process.max_file_descriptors",
        "File descriptors that may be open",
    ),
    seconds(
        "elasticsearch_process_cpu_seconds_total",
        Counter,
        "process.cpu.total_in_millis",
        "Processor time of the process",
    ),
    plain(
        "elasticsearch_process_mem_resident_size_bytes",
        Gauge,
        "process.mem.resident_in_bytes",
        "Resident memory of the process",
    ),
    plain("elasticsearch_os_load1", Gauge, "os.cpu.load_average.1m", "Load average of a minute"),
    plain(
        "elasticsearch_os_mem_free_bytes",
        Gauge,
        "os.mem.free_in_bytes",
        "Memory of the machine that is available",
    ),
    plain(
        "elasticsearch_filesystem_data_available_bytes",
        Gauge,
        "fs.total.available_in_bytes",
        "Room on the disk of the data folder",
    ),
    plain(
        "elasticsearch_filesystem_data_size_bytes",
        Gauge,
        "fs.total.total_in_bytes",
        "Size of the disk of the data folder",
    ),
    each("elasticsearch_thread_pool_active_count", Gauge, "thread_pool.*.active", "type", "Threads at work"),
    each(
        "elasticsearch_thread_pool_queue_count",
        Gauge,
        "thread_pool.*.queue",
        "type",
        "Requests that wait for a thread",
    ),
    each(
        "elasticsearch_thread_pool_completed_count",
        Counter,
        "thread_pool.*.completed",
        "type",
        "Requests done",
    ),
    each(
        "elasticsearch_thread_pool_rejected_count",
        Counter,
        "thread_pool.*.rejected",
        "type",
        "Requests turned away (429)",
    ),
    each(
        "elasticsearch_breakers_estimated_size_bytes",
        Gauge,
        "breakers.*.estimated_size_in_bytes",
        "breaker",
        "Bytes charged to a pool of memory",
    ),
    each(
        "elasticsearch_breakers_limit_size_bytes",
        Gauge,
        "breakers.*.limit_size_in_bytes",
        "breaker",
        "Bytes that a pool of memory may have",
    ),
    each(
        "elasticsearch_breakers_tripped",
        Counter,
        "breakers.*.tripped",
        "breaker",
        "Charges that were refused",
    ),
    plain(
        "elasticsearch_indexing_pressure_current_all_in_bytes",
        Gauge,
        "indexing_pressure.memory.current.all_in_bytes",
        "Bytes of writes under way",
    ),
    plain("elasticsearch_http_open_connections", Gauge, "http.current_open", "Open connections"),
    plain("limber_memory_limit_bytes", Gauge, "limber.memory.limit_in_bytes", "memory.limit"),
    plain(
        "limber_memory_unexplained_bytes",
        Gauge,
        "limber.memory.unexplained_in_bytes",
        "Memory of the process that no pool was charged for",
    ),
    plain("limber_connections_refused_total", Counter, "limber.connections.refused", "Connections refused"),
];

fn metrics(app: &App, _: &Request) -> Result<Response> {
    let request = StatsRequest { level: StatsLevel::Cluster, ..StatsRequest::default() };
    let stats = node_stats(app, &|_| true, &request)?;
    let mut out = String::new();
    for metric in METRICS {
        write_metric(&mut out, metric, &stats);
    }
    write_health(&mut out, app)?;
    let mut response = Response::text(out);
    response.headers.push(("content-type", "text/plain; version=0.0.4; charset=utf-8".to_owned()));
    Ok(response)
}

/// Writes a metric, unless its value is absent.
fn write_metric(out: &mut String, metric: &Metric, stats: &Value) {
    let mut found: Vec<(Option<&str>, f64)> = Vec::new();
    match metric.path.split_once(".*.") {
        None => found.extend(member(stats, metric.path).and_then(Value::as_f64).map(|value| (None, value))),
        Some((before, after)) => {
            let members = member(stats, before).and_then(Value::as_object).into_iter().flatten();
            found.extend(
                members.filter_map(|(name, one)| Some((Some(name.as_str()), member(one, after)?.as_f64()?))),
            );
        }
    }
    if found.is_empty() {
        return;
    }
    write_head(out, metric.name, metric.kind, metric.help);
    for (label, value) in found {
        let value = value * metric.scale;
        let _ = match label {
            None => writeln!(out, "{} {value}", metric.name),
            Some(label) => writeln!(out, "{}{{{}=\"{label}\"}} {value}", metric.name, metric.label),
        };
    }
}

fn write_head(out: &mut String, name: &str, kind: Kind, help: &str) {
    let kind = match kind {
        Gauge => "gauge",
        Counter => "counter",
    };
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn member<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, name| value.get(name))
}

fn write_health(out: &mut String, app: &App) -> Result<()> {
    let request = HealthRequest { options: IndicesOptions::LENIENT, ..HealthRequest::default() };
    let health = app.node.cluster_health(&request)?;
    let name = "elasticsearch_cluster_health_status";
    write_head(out, name, Gauge, "1 for the colour of the cluster's health");
    for (status, colour) in
        [(HealthStatus::Green, "green"), (HealthStatus::Yellow, "yellow"), (HealthStatus::Red, "red")]
    {
        let _ = writeln!(out, "{name}{{color=\"{colour}\"}} {}", u8::from(health.status == status));
    }
    let name = "elasticsearch_cluster_health_active_shards";
    write_head(out, name, Gauge, "Shards that serve");
    let _ = writeln!(out, "{name} {}", health.active_shards);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_and_families_are_written_with_their_heads() {
        let stats = json!({"a": {"b": 1500}, "pools": {"x": {"n": 1}, "y": {"n": 2}, "z": {}}});
        let mut out = String::new();
        write_metric(&mut out, &seconds("time", Counter, "a.b", "Time"), &stats);
        write_metric(&mut out, &each("pool", Gauge, "pools.*.n", "name", "Pools"), &stats);
        write_metric(&mut out, &plain("none", Gauge, "a.c", "None"), &stats);
        assert_eq!(
            out,
            "# HELP time Time\n# TYPE time counter\ntime 1.5\n# HELP pool Pools\n# TYPE pool gauge\npool{name=\"x\"} 1\npool{name=\"y\"} 2\n"
        );
    }

    #[test]
    fn names_are_unique_and_well_formed() {
        let mut names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        assert!(
            names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
        );
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
