//! `_nodes/stats`: which nodes a request is about, and what this node is doing.
//!
//! There is no JVM: the `jvm` section has the members that clients expect (`mem`, `gc.collectors`), with
//! zeros and no collectors. Limber's own statistics are under `limber`.

use std::path::Path;

use limber_engine::{Result, StatsRequest};
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use super::open_search_sections::SECTIONS;
use crate::http::request::Request;
use crate::http::response::Response;
use crate::machine;
use crate::rest::human::with_words;
use crate::rest::indices::stats::parse_stats_request;
use crate::rest::router::{get, unrecognized};
use crate::rest::{App, Route};

const STATS: &[&str] = &[
    "level",
    "groups",
    "fields",
    "completion_fields",
    "fielddata_fields",
    "timeout",
    "include_segment_file_sizes",
    "include_unloaded_segments",
    // OpenSearch's, of a section that is always empty.
    "include_all",
    "top",
];

/// The endpoints of this file (`_nodes/stats`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    get("/_nodes/stats", STATS, stats),
    get("/_nodes/stats/{metric}", STATS, stats),
    get("/_nodes/stats/{metric}/{index_metric}", STATS, stats),
    get("/_nodes/{node}/stats", STATS, stats),
    get("/_nodes/{node}/stats/{metric}", STATS, stats),
    get("/_nodes/{node}/stats/{metric}/{index_metric}", STATS, stats),
];

const STATS_METRICS: &[&str] = &[
    "indices",
    "os",
    "process",
    "jvm",
    "thread_pool",
    "fs",
    "transport",
    "http",
    "breaker",
    "ingest",
    "indexing_pressure",
    "script",
    "script_cache",
    "discovery",
    "adaptive_selection",
    "repositories",
    "allocations",
    "search_pipeline",
    "limber",
];

/// The roles of a node that does everything.
pub const ROLES: [&str; 4] = ["data", "ingest", "master", "remote_cluster_client"];

/// Returns the attributes `node.attr.*`.
pub fn attributes(app: &App) -> Map<String, Value> {
    app.config.node_attributes.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect()
}

/// Whether the comma-separated list `filter` selects this node.
pub fn selects(app: &App, filter: &str) -> bool {
    let config = app.node.config();
    filter.split(',').any(|word| {
        matches!(word, "_all" | "_local" | "_master" | "*")
            || word == app.node.node_id()
            || limber_text::wildcard::matches(word, &config.node_name)
            || matches!(word.split_once(':'), Some((role, "true")) if ROLES.contains(&role))
            || is_address(&app.config.http_address, word)
    })
}

/// Whether `word` is the address or its host, or a pattern that matches one of them.
fn is_address(address: &str, word: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    limber_text::wildcard::matches(word, address) || limber_text::wildcard::matches(word, host)
}

/// Wraps the node, if it was selected, into a response with `_nodes` and the cluster's name.
pub fn envelope(app: &App, node: Option<Value>) -> Response {
    let count = u32::from(node.is_some());
    let nodes: Map<String, Value> =
        node.map(|node| (app.node.node_id().to_owned(), node)).into_iter().collect();
    Response::ok(json!({
        "_nodes": {"total": count, "successful": count, "failed": 0},
        "cluster_name": app.node.config().cluster_name,
        "nodes": nodes,
    }))
}

/// Returns the host under which clients reach the node.
pub fn host(app: &App) -> &str {
    app.config.http_address.rsplit_once(':').map_or("127.0.0.1", |(host, _)| host)
}

fn stats(app: &App, request: &Request) -> Result<Response> {
    let metrics = request.list("metric");
    let is_known = |metric: &str| {
        metric == "_all"
            || STATS_METRICS.contains(&metric)
            || SECTIONS.iter().any(|(section, _)| *section == metric)
    };
    let unknown: Vec<&str> = metrics.iter().map(String::as_str).filter(|metric| !is_known(metric)).collect();
    if !unknown.is_empty() {
        return Err(unrecognized(&request.uri, "metric", &unknown, STATS_METRICS));
    }
    if metrics.iter().any(|m| m == "_all") && metrics.len() > 1 {
        return Err(RequestError::illegal_argument(format!(
            "request [{}] contains _all and individual metrics [{}]",
            request.uri.split('?').next().unwrap_or(""),
            metrics.join(",")
        )));
    }
    let of_indices = request.list("index_metric");
    if !of_indices.is_empty() && !metrics.iter().any(|metric| metric == "_all" || metric == "indices") {
        return Err(RequestError::illegal_argument(format!(
            "request [{}] contains index metrics [{}] but indices stats not requested",
            request.uri.split('?').next().unwrap_or(""),
            of_indices.join(",")
        )));
    }
    if !request.param("node").is_none_or(|filter| selects(app, filter)) {
        return Ok(envelope(app, None));
    }
    let wants = |metric: &str| metrics.is_empty() || metrics.iter().any(|m| m == "_all" || m == metric);
    let indices = match wants("indices") {
        true => parse_stats_request(request, "index_metric")?,
        false => StatsRequest::default(),
    };
    let mut answer = node_stats(app, &wants, &indices)?;
    for (name, section) in SECTIONS.iter().filter(|(name, _)| metrics.iter().any(|metric| metric == name)) {
        let section = section(app)?;
        if !section.is_null() {
            answer[*name] = section;
        }
    }
    Ok(envelope(app, Some(with_words(request, answer)?)))
}

fn fs_section(app: &App) -> Value {
    let mut fs = app.node.fs_stats();
    let mut traffic = None;
    if let Some(data) = fs["data"].as_array_mut() {
        let paths = data.iter().filter_map(|entry| entry["path"].as_str()).map(Path::new);
        traffic = machine::disk_traffic(paths);
        for entry in data {
            let path = entry["path"].as_str().unwrap_or_default().to_owned();
            let (mount, kind) = machine::mount_of(Path::new(&path));
            entry["mount"] = mount.into();
            entry["type"] = kind.into();
        }
    }
    if let Some(traffic) = traffic {
        fs["io_stats"] = traffic;
    }
    fs
}

/// Returns the section `transport`. There are no other nodes to talk to.
fn transport_section() -> Value {
    json!({
        "server_open": 0,
        "total_outbound_connections": 0,
        "rx_count": 0,
        "rx_size_in_bytes": 0,
        "tx_count": 0,
        "tx_size_in_bytes": 0,
        "inbound_handling_time_histogram": [],
        "outbound_handling_time_histogram": [],
        "actions": {},
    })
}

/// Renders the requested sections. `indices` selects what the section of that name contains.
pub(in crate::rest) fn node_stats(
    app: &App,
    wants: &dyn Fn(&str) -> bool,
    indices: &StatsRequest,
) -> Result<Value> {
    let config = app.node.config();
    let mut node = json!({
        "timestamp": now_millis(),
        "name": config.node_name,
        "transport_address": app.config.http_address,
        "host": host(app),
        "ip": app.config.http_address,
        "roles": ROLES,
    });
    if !app.config.node_attributes.is_empty() {
        node["attributes"] = Value::Object(attributes(app));
    }
    if wants("indices") {
        node["indices"] = app.node.node_indices_stats(indices)?;
    }
    if wants("os") {
        node["os"] = os_section();
    }
    if wants("process") {
        node["process"] = process_section();
    }
    if wants("jvm") {
        node["jvm"] = jvm_section(app);
    }
    if wants("thread_pool") {
        node["thread_pool"] = thread_pool_section(app);
    }
    if wants("fs") {
        node["fs"] = fs_section(app);
    }
    if wants("transport") {
        node["transport"] = transport_section();
    }
    if wants("http") {
        let stats = app.connections.stats();
        node["http"] = json!({
            "current_open": stats.current_open,
            "total_opened": stats.total_opened,
            "clients": [],
            "routes": app.usage.routes_json(),
        });
    }
    if wants("breaker") {
        node["breakers"] = super::node_sections::breakers(app.node.ledger());
    }
    if wants("ingest") {
        node["ingest"] = app.node.ingest_stats();
    }
    if wants("search_pipeline") {
        node["search_pipeline"] = app.node.search_pipeline_stats();
    }
    if wants("indexing_pressure") {
        node["indexing_pressure"] = pressure_section(app);
    }
    for name in super::node_sections::NAMES.into_iter().filter(|name| wants(name)) {
        node[name] = super::node_sections::section(app, name);
    }
    if wants("limber") {
        node["limber"] = limber_section(app);
    }
    Ok(node)
}

/// Returns the wall clock in milliseconds since 1970.
pub fn now_millis() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
}

/// Renders the section `os`.
pub(super) fn os_section() -> Value {
    let os = machine::os();
    let used = os.memory_total_bytes.saturating_sub(os.memory_available_bytes);
    let percent = |part: u64, whole: u64| (part * 100).checked_div(whole).unwrap_or(0);
    json!({
        "timestamp": now_millis(),
        "cpu": {
            "percent": percent(os.busy_millis, os.busy_millis + os.idle_millis),
            "load_average": {"1m": os.load_average[0], "5m": os.load_average[1], "15m": os.load_average[2]},
        },
        "mem": {
            "total_in_bytes": os.memory_total_bytes,
            "adjusted_total_in_bytes": os.memory_total_bytes,
            "free_in_bytes": os.memory_available_bytes,
            "used_in_bytes": used,
            "free_percent": percent(os.memory_available_bytes, os.memory_total_bytes),
            "used_percent": percent(used, os.memory_total_bytes),
        },
        "swap": {
            "total_in_bytes": os.swap_total_bytes,
            "free_in_bytes": os.swap_free_bytes,
            "used_in_bytes": os.swap_total_bytes.saturating_sub(os.swap_free_bytes),
        },
    })
}

fn process_section() -> Value {
    let process = machine::process();
    json!({
        "timestamp": now_millis(),
        "open_file_descriptors": process.open_file_descriptors,
        "max_file_descriptors": process.max_file_descriptors,
        "cpu": {"percent": 0, "total_in_millis": process.cpu_millis},
        "mem": {
            "total_virtual_in_bytes": process.virtual_bytes,
            "resident_in_bytes": process.resident_bytes,
            "anonymous_in_bytes": process.anonymous_bytes,
        },
    })
}

fn jvm_section(app: &App) -> Value {
    let process = machine::process();
    json!({
        "timestamp": now_millis(),
        "uptime_in_millis": app.node.uptime_ms(),
        "mem": {
            "heap_used_in_bytes": 0, "heap_used_percent": 0, "heap_committed_in_bytes": 0, "heap_max_in_bytes": 0,
            "non_heap_used_in_bytes": 0, "non_heap_committed_in_bytes": 0, "pools": {},
        },
        "threads": {"count": process.thread_count, "peak_count": process.thread_count},
        "gc": {"collectors": {}},
        "buffer_pools": {"direct": {"count": 0, "used_in_bytes": 0, "total_capacity_in_bytes": 0}},
        "classes": {"current_loaded_count": 0, "total_loaded_count": 0, "total_unloaded_count": 0},
    })
}

fn thread_pool_section(app: &App) -> Value {
    let pools = app.pools.stats();
    Value::Object(
        pools
            .iter()
            .map(|pool| {
                let body = json!({
                    "threads": pool.threads, "queue": pool.queue, "active": pool.active, "rejected": pool.rejected,
                    "largest": pool.largest, "completed": pool.completed,
                });
                (pool.name.to_owned(), body)
            })
            .collect(),
    )
}

fn pressure_section(app: &App) -> Value {
    let stats = app.node.indexing_pressure().stats();
    let bytes = |bytes: u64| {
        json!({
            "combined_coordinating_and_primary_in_bytes": bytes, "coordinating_in_bytes": bytes,
            "primary_in_bytes": 0, "replica_in_bytes": 0, "all_in_bytes": bytes,
        })
    };
    let mut total = bytes(stats.total_bytes);
    total["coordinating_rejections"] = stats.rejection_count.into();
    total["primary_rejections"] = 0.into();
    total["replica_rejections"] = 0.into();
    json!({"memory": {
        "current": bytes(stats.current_bytes), "total": total, "limit_in_bytes": stats.limit_bytes,
    }})
}

/// Returns Limber's own section: each pool of the ledger, the memory that the process really holds, and the
/// counters of the term-index cache.
fn limber_section(app: &App) -> Value {
    let ledger = app.node.ledger();
    let parent = &ledger.parent;
    let process = machine::process();
    let allocator = machine::allocator_stats();
    let pools: Map<String, Value> = ledger
        .pools()
        .iter()
        .map(|pool| {
            let body = json!({
                "used_in_bytes": pool.used_bytes(), "limit_in_bytes": pool.limit_bytes(), "trips": pool.tripped_count(),
            });
            (pool.name().to_owned(), body)
        })
        .collect();
    let connections = app.connections.stats();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "connections": {
            "open": connections.current_open,
            "allowed": connections.allowed,
            "max": app.connections.max(),
            "refused": connections.refused,
            "closed_idle": connections.closed_idle,
            "accept_failures": connections.accept_failures,
        },
        "memory": {
            "limit_in_bytes": ledger.limit_bytes,
            "resident_in_bytes": process.resident_bytes,
            "anonymous_in_bytes": process.anonymous_bytes,
            "explained_in_bytes": parent.used_bytes(),
            "unexplained_in_bytes": process.anonymous_bytes.saturating_sub(parent.used_bytes()),
            "allocator": {
                "allocated_in_bytes": allocator.allocated_bytes,
                "active_in_bytes": allocator.active_bytes,
                "resident_in_bytes": allocator.resident_bytes,
            },
            "pools_limit_in_bytes": parent.limit_bytes(),
            "trips": parent.tripped_count(),
            "pools": pools,
            "term_index_cache": app.node.term_index_stats_json(),
        },
        "search_backpressure": {"ended": app.back_pressure.ended_count()},
        "integrity": app.node.integrity_stats(),
    })
}
