//! The cluster of one: health, state, settings, statistics, pending tasks.

use limber_engine::{HealthRequest, HealthStatus, IndicesOptions, Result};
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use super::options::{indices_options, with_indices_options};
use super::router::management as route;
use super::{App, Route};
use crate::http::request::{Method, Request};
use crate::http::response::Response;

const HEALTH: &[&str] = with_indices_options![
    "level",
    "local",
    "master_timeout",
    "timeout",
    "wait_for_active_shards",
    "wait_for_events",
    "wait_for_no_initializing_shards",
    "wait_for_no_relocating_shards",
    "wait_for_nodes",
    "wait_for_status",
];
const STATE: &[&str] = with_indices_options![
    "local",
    "master_timeout",
    "flat_settings",
    "wait_for_metadata_version",
    "wait_for_timeout",
];

pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_cluster/health", HEALTH, health),
    route(&[Method::Get], "/_cluster/health/{index}", HEALTH, health),
    route(&[Method::Get], "/_cluster/state", STATE, state),
    route(&[Method::Get], "/_cluster/state/{metrics}", STATE, state),
    route(&[Method::Get], "/_cluster/state/{metrics}/{index}", STATE, state),
    route(
        &[Method::Get],
        "/_cluster/settings",
        &["flat_settings", "include_defaults", "local", "master_timeout", "timeout"],
        settings,
    ),
    route(
        &[Method::Put],
        "/_cluster/settings",
        &["flat_settings", "timeout", "master_timeout"],
        put_settings,
    ),
    route(&[Method::Get], "/_cluster/pending_tasks", &["local", "master_timeout"], pending_tasks),
    route(&[Method::Get], "/_cluster/stats", &["flat_settings", "timeout"], stats),
    route(&[Method::Get], "/_cluster/stats/nodes/{node}", &["flat_settings", "timeout"], stats),
];

fn health(app: &App, request: &Request) -> Result<Response> {
    let level = request.param("level").unwrap_or("cluster");
    if !matches!(level, "cluster" | "indices" | "shards") {
        return Err(RequestError::illegal_argument(format!(
            "level parameter must be one of [cluster] or [indices] or [shards] but was [{level}]"
        )));
    }
    let wanted = HealthRequest {
        index: request.param("index").map(str::to_owned),
        options: indices_options(request, IndicesOptions::LENIENT)?,
        wait_for_status: request.param("wait_for_status").map(HealthStatus::parse).transpose()?,
        wait_for_nodes: request.param("wait_for_nodes").map(str::to_owned),
        wait_for_active_shards: request.param("wait_for_active_shards").map(str::to_owned),
        wait_for_no_relocating_shards: request.flag_or("wait_for_no_relocating_shards", false)?,
        wait_for_no_initializing_shards: request.flag_or("wait_for_no_initializing_shards", false)?,
        wait_for_events: request.param("wait_for_events").map(str::to_owned),
        timeout_ms: request.time_ms("timeout")?.unwrap_or(30_000),
    };
    let response = app.node.cluster_health(&wanted)?;
    Ok(Response::json(if response.timed_out { 408 } else { 200 }, response.to_json(level)))
}

fn state(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::LENIENT)?;
    let metrics = request.param("metrics").unwrap_or("_all");
    Ok(Response::ok(app.node.cluster_state(metrics, request.param("index").unwrap_or("_all"), options)?))
}

fn settings(app: &App, request: &Request) -> Result<Response> {
    let answer = app.node.cluster_settings(request.flag_or("include_defaults", false)?)?;
    shape(answer, request).map(Response::ok)
}

fn put_settings(app: &App, request: &Request) -> Result<Response> {
    let mut answer = shape(app.node.put_cluster_settings(&request.json_required()?)?, request)?;
    crate::log::apply(app.node.loggers());
    if let Some(object) = answer.as_object_mut() {
        object.shift_insert(0, "acknowledged".into(), true.into());
    }
    Ok(Response::ok(answer))
}

/// Nests the flat maps of `persistent`, `transient` and `defaults` unless `flat_settings` is set.
fn shape(mut answer: Value, request: &Request) -> Result<Value> {
    if !request.flag_or("flat_settings", false)?
        && let Some(sections) = answer.as_object_mut()
    {
        for section in sections.values_mut() {
            if let Some(flat) = section.as_object() {
                *section = limber_engine::settings::nest(flat);
            }
        }
    }
    Ok(answer)
}

fn pending_tasks(_app: &App, _request: &Request) -> Result<Response> {
    Ok(Response::ok(json!({"tasks": []})))
}

fn stats(app: &App, _request: &Request) -> Result<Response> {
    let health = app.node.cluster_health(&HealthRequest::default())?;
    let indices = app.node.node_indices_stats(&limber_engine::StatsRequest::default())?;
    let section = |name: &str| indices.get(name).cloned().unwrap_or_else(|| json!({}));
    let os = crate::machine::os();
    let process = crate::machine::process();
    let used = os.memory_total_bytes.saturating_sub(os.memory_available_bytes);
    let (pretty_name, _) = crate::machine::os_release();
    let shards = health.active_shards;
    let per_index = |total: u32| {
        if health.indices.is_empty() { 0.0 } else { f64::from(total) / health.indices.len() as f64 }
    };
    let each = |total: u32| json!({"min": 0, "max": total, "avg": per_index(total)});
    let mut pools = Map::new();
    for pool in app.node.ledger().pools() {
        pools.insert(
            pool.name().to_owned(),
            json!({"used_in_bytes": pool.used_bytes(), "limit_in_bytes": pool.limit_bytes()}),
        );
    }
    Ok(Response::ok(json!({
        "_nodes": {"total": 1, "successful": 1, "failed": 0},
        "cluster_name": health.cluster_name,
        "cluster_uuid": app.node.cluster_uuid(),
        "timestamp": super::nodes::now_millis(),
        "status": health.status.as_str(),
        "indices": {
            "count": health.indices.len(),
            "shards": {
                "total": shards, "primaries": health.active_primary_shards, "replication": 0.0,
                "index": {"shards": each(shards), "primaries": each(shards), "replication": {"min": 0.0, "max": 0.0, "avg": 0.0}},
            },
            "docs": section("docs"), "store": section("store"), "fielddata": section("fielddata"),
            "query_cache": section("query_cache"), "completion": section("completion"), "segments": section("segments"),
        },
        "nodes": {
            "count": {"total": 1, "data": 1, "ingest": 1, "master": 1, "coordinating_only": 0, "remote_cluster_client": 1},
            "versions": [app.config.compat_version],
            "os": {
                "available_processors": app.config.cores, "allocated_processors": app.config.cores,
                "names": [{"name": "Linux", "count": 1}],
                "pretty_names": [{"pretty_name": pretty_name, "count": 1}],
                "architectures": [{"arch": std::env::consts::ARCH, "count": 1}],
                "mem": {
                    "total_in_bytes": os.memory_total_bytes, "free_in_bytes": os.memory_available_bytes, "used_in_bytes": used,
                    "free_percent": 100 - used * 100 / os.memory_total_bytes.max(1), "used_percent": used * 100 / os.memory_total_bytes.max(1),
                },
            },
            "process": {
                "cpu": {"percent": 0},
                "open_file_descriptors": {"min": process.open_file_descriptors, "max": process.open_file_descriptors, "avg": process.open_file_descriptors},
            },
            "jvm": {"max_uptime_in_millis": app.node.uptime_ms(), "versions": [], "mem": {"heap_used_in_bytes": 0, "heap_max_in_bytes": app.node.ledger().limit_bytes}, "threads": process.thread_count},
            "fs": app.node.fs_stats().get("total").cloned().unwrap_or_else(|| json!({})),
            "plugins": [],
            "network_types": {"transport_types": {"limber": 1}, "http_types": {"limber": 1}},
            "discovery_types": {"single-node": 1},
            "packaging_types": [{"flavor": "default", "type": "tar", "count": 1}],
            "ingest": {"number_of_pipelines": app.node.ingest_stats()["pipelines"].as_object().map_or(0, Map::len), "processor_stats": {}},
            "limber": {"memory": pools},
        },
    })))
}
