//! `_search_shards` and `_recovery`: where the shards are and how they were recovered.
//!
//! All shards are on this one node and are recovered from its own disk.

use limber_engine::{IndicesOptions, RestoredIndex, Result};
use limber_mapping::date::DateFormat;
use limber_text::time_value;
use serde_json::{Map, Value, json};

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::human::with_words;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::management as route;
use crate::rest::searches::search::placement;
use crate::rest::{App, Route};

const BOTH: &[Method] = &[Method::Get, Method::Post];
const SEARCH_SHARDS: &[&str] = with_indices_options!["local", "preference", "routing", "master_timeout"];
const RECOVERY: &[&str] = with_indices_options!["active_only", "detailed"];

/// The endpoints of this file (`_search_shards`, `_recovery`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(BOTH, "/_search_shards", SEARCH_SHARDS, search_shards),
    route(BOTH, "/{index}/_search_shards", SEARCH_SHARDS, search_shards),
    route(&[Method::Get], "/_recovery", RECOVERY, recovery),
    route(&[Method::Get], "/{index}/_recovery", RECOVERY, recovery),
];

fn search_shards(app: &App, request: &Request) -> Result<Response> {
    // Closed and missing indices have no shards to search.
    let lenient = IndicesOptions { ignore_unavailable: true, ..IndicesOptions::SEARCH };
    let options = indices_options(request, lenient)?;
    let expression = request.param("index").unwrap_or("_all");
    let targets = app.node.search_targets(expression, options, placement(request))?;
    let config = app.node.config();
    let node = json!({
        "name": config.node_name,
        "ephemeral_id": app.node.node_id(),
        "transport_address": app.config.http_address,
        "external_id": config.node_name,
        "attributes": crate::rest::server::nodes::attributes(app),
        "roles": crate::rest::server::nodes::ROLES,
        "version": app.config.compat_version,
        "min_index_version": 7_000_099,
        "max_index_version": 8_505_000,
    });
    let mut indices = Map::new();
    let mut shards = Vec::new();
    for target in &targets {
        let mut entry = Map::new();
        if !target.aliases.is_empty() {
            entry.insert("aliases".into(), json!(target.aliases));
        }
        if let Some(filter) = &target.filter {
            entry.insert("filter".into(), spelled_out(filter));
        }
        indices.insert(target.index.to_string(), Value::Object(entry));
        for number in &target.shards {
            shards.push(json!([{
                "state": "STARTED",
                "primary": true,
                "node": app.node.node_id(),
                "relocating_node": null,
                "shard": number,
                "index": &*target.index,
                "allocation_id": {"id": format!("{}-{number}", target.uuid)},
                "relocation_failure_info": {"failed_attempts": 0},
            }]));
        }
    }
    Ok(Response::ok(json!({"nodes": {app.node.node_id(): node}, "indices": indices, "shards": shards})))
}

/// Expands an alias filter the way Elasticsearch shows a parsed query: `{"term": {"f": {"value": v}}}`.
/// Queries without a short form stay as they were given.
fn spelled_out(filter: &Value) -> Value {
    let Some((name, Value::Object(body))) = filter.as_object().and_then(|object| object.iter().next()) else {
        return filter.clone();
    };
    match (name.as_str(), body.iter().next()) {
        ("term", Some((field, value))) if body.len() == 1 && !value.is_object() => {
            json!({"term": {field: {"value": value}}})
        }
        ("bool", Some((clause, Value::Array(queries)))) if body.len() == 1 && clause == "should" => {
            json!({"bool": {"should": queries.iter().map(spelled_out).collect::<Vec<_>>(), "boost": 1.0}})
        }
        ("match_all", None) => json!({"match_all": {"boost": 1.0}}),
        _ => filter.clone(),
    }
}

fn recovery(app: &App, request: &Request) -> Result<Response> {
    let human = request.flag_or("human", false)?;
    let detailed = request.flag_or("detailed", false)?;
    let active_only = request.flag_or("active_only", false)?;
    let options = indices_options(
        request,
        IndicesOptions { expand_closed: true, forbid_closed_indices: false, ..IndicesOptions::BROADCAST },
    )?;
    let mut answer: Map<String, Value> = Map::new();
    // Shards are recovered before any request can see them, so no recovery is ever active.
    if active_only {
        return Ok(Response::ok(Value::Object(answer)));
    }
    for (index, mut entry) in recoveries(app, request.param("index").unwrap_or("_all"), options)? {
        if detailed {
            entry["index"]["files"]["details"] = json!([]);
        }
        if let Some(object) = entry.as_object_mut().filter(|_| !human) {
            for name in ["start_time", "stop_time", "total_time"] {
                object.shift_remove(name);
            }
        }
        let shards = answer.entry(&*index).or_insert_with(|| json!({"shards": []}));
        shards["shards"].as_array_mut().into_iter().for_each(|shards| shards.push(entry.clone()));
    }
    Ok(Response::ok(with_words(request, Value::Object(answer))?))
}

/// Returns how each shard was recovered, in the shape of `_recovery` with human-readable times, together with
/// the name of its index.
pub fn recoveries(app: &App, expression: &str, options: IndicesOptions) -> Result<Vec<(String, Value)>> {
    let format = DateFormat::parse_list("strict_date_time")?;
    let mut all = Vec::new();
    for info in app.node.show_index(expression, options)? {
        let setting = |name: &str| info.settings.get(name).and_then(Value::as_str);
        let created = info.created_millis();
        let shard_count: u32 =
            setting("index.number_of_shards").and_then(|text| text.parse().ok()).unwrap_or(1);
        let started = created.max(app.node.started_millis());
        let kind =
            if info.open && created >= app.node.started_millis() { "EMPTY_STORE" } else { "EXISTING_STORE" };
        let restored = app.node.restored_index(&info.uuid);
        for number in 0..shard_count {
            let mut entry = came_up(app, number, kind, started);
            if let Some(restored) = &restored {
                add_restored(&mut entry, restored, number as usize);
            }
            for (name, millis) in
                [("start_time", "start_time_in_millis"), ("stop_time", "stop_time_in_millis")]
            {
                entry[name] = format.format_millis(entry[millis].as_i64().unwrap_or(0)).into();
            }
            entry["total_time"] =
                time_value::show_millis(entry["total_time_in_millis"].as_u64().unwrap_or(0)).into();
            all.push((info.name.to_string(), entry));
        }
    }
    Ok(all)
}

/// Renders the recovery of a shard from the node's own disk.
fn came_up(app: &App, number: u32, kind: &str, started: u64) -> Value {
    json!({
        "id": number,
        "type": kind,
        "stage": "DONE",
        "primary": true,
        "start_time_in_millis": started,
        "stop_time_in_millis": started,
        "total_time_in_millis": 0,
        "source": if kind == "EXISTING_STORE" { json!({"bootstrap_new_history_uuid": false}) } else { json!({}) },
        "target": target(app),
        "index": {
            "size": {
                "total_in_bytes": 0, "reused_in_bytes": 0, "recovered_in_bytes": 0,
                "recovered_from_snapshot_in_bytes": 0, "percent": "0.0%",
            },
            "files": {"total": 0, "reused": 0, "recovered": 0, "percent": "0.0%"},
            "total_time_in_millis": 0,
            "source_throttle_time_in_millis": 0,
            "target_throttle_time_in_millis": 0,
        },
        "translog": {
            "recovered": 0, "total": 0, "percent": "100.0%", "total_on_start": 0,
            "total_time_in_millis": 0,
        },
        "verify_index": {"check_index_time_in_millis": 0, "total_time_in_millis": 0},
    })
}

/// Adds what was copied from a snapshot.
fn add_restored(entry: &mut Value, restored: &RestoredIndex, number: usize) {
    let (files, bytes, start_ms, took_ms) = restored.shards.get(number).copied().unwrap_or_default();
    entry["type"] = "SNAPSHOT".into();
    entry["start_time_in_millis"] = start_ms.into();
    entry["stop_time_in_millis"] = (start_ms + took_ms).into();
    entry["total_time_in_millis"] = took_ms.into();
    entry["source"] = json!({
        "repository": restored.repository,
        "snapshot": restored.snapshot,
        "version": restored.version,
        "index": restored.index,
        "restoreUUID": restored.snapshot_uuid,
    });
    let index = &mut entry["index"];
    index["size"]["total_in_bytes"] = bytes.into();
    index["size"]["recovered_in_bytes"] = bytes.into();
    index["size"]["percent"] = "100.0%".into();
    index["files"]["total"] = files.into();
    index["files"]["recovered"] = files.into();
    index["files"]["percent"] = "100.0%".into();
    index["total_time_in_millis"] = took_ms.into();
}

fn target(app: &App) -> Value {
    let host = app.config.http_address.rsplit_once(':').map_or("127.0.0.1", |(host, _)| host);
    json!({
        "id": app.node.node_id(),
        "host": host,
        "transport_address": app.config.http_address,
        "ip": host,
        "name": app.node.config().node_name,
    })
}
