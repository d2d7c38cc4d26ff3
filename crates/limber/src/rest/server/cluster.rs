//! The single-node cluster: health, state, settings, pending tasks.

use limber_engine::{HealthRequest, HealthStatus, IndicesOptions, Result};
use limber_mapping::RequestError;
use limber_work as work;
use serde_json::{Value, json};

use super::node_info;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const HEALTH: &[&str] = with_indices_options![
    "awareness_attribute",
    "level",
    "local",
    "master_timeout",
    "return_200_for_cluster_health_timeout",
    "timeout",
    "wait_for_active_shards",
    "wait_for_events",
    "wait_for_no_initializing_shards",
    "wait_for_no_relocating_shards",
    "wait_for_nodes",
    "wait_for_relocating_shards",
    "wait_for_status",
];
const STATE: &[&str] = with_indices_options![
    "local",
    "master_timeout",
    "flat_settings",
    "wait_for_metadata_version",
    "wait_for_timeout",
];

/// The endpoints of this file (`_cluster`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_cluster/health", HEALTH, health),
    route(&[Method::Get], "/_cluster/health/{index}", HEALTH, health),
    route(&[Method::Get], "/_cluster/state", STATE, state),
    route(&[Method::Get], "/_cluster/state/{metrics}", STATE, state),
    route(&[Method::Get], "/_cluster/state/{metrics}/{index}", STATE, state),
    route(
        &[Method::Get],
        "/_cluster/settings",
        &["flat_settings", "include_defaults", "local", "master_timeout"],
        settings,
    ),
    route(
        &[Method::Put],
        "/_cluster/settings",
        &["flat_settings", "timeout", "master_timeout"],
        put_settings,
    ),
    route(&[Method::Get], "/_cluster/pending_tasks", &["local", "master_timeout"], pending_tasks),
];

fn health(app: &App, request: &Request) -> Result<Response> {
    let level = request.param("level").unwrap_or("cluster");
    // Attributes of allocation awareness, which OpenSearch shows, are not used here.
    let level = if level == "awareness_attributes" { "cluster" } else { level };
    if !matches!(level, "cluster" | "indices" | "shards") {
        return Err(RequestError::illegal_argument(format!(
            "level parameter must be one of [cluster] or [indices] or [shards] but was [{level}]"
        )));
    }
    if request.param("wait_for_relocating_shards").is_some() {
        return Err(RequestError::illegal_argument(
            "wait_for_relocating_shards has been removed, use wait_for_no_relocating_shards [true/false] instead",
        ));
    }
    let wanted = HealthRequest {
        index: request.param("index").map(str::to_owned),
        options: indices_options(request, IndicesOptions::LENIENT)?,
        wait_for_status: request.param("wait_for_status").map(HealthStatus::parse).transpose()?,
        wait_for_nodes: request.param("wait_for_nodes").map(str::to_owned),
        wait_for_active_shards: request.param("wait_for_active_shards").map(str::to_owned),
        wait_for_no_relocating_shards: request.flag_or("wait_for_no_relocating_shards", false)?,
        wait_for_no_initializing_shards: request.flag_or("wait_for_no_initializing_shards", false)?,
        wait_for_events: wait_for_events(request)?,
        timeout_ms: request.time_ms("timeout")?.unwrap_or(30_000),
    };
    let late_status = status_of_late_health(request);
    let response = app.node.cluster_health(&wanted)?;
    let is_human = request.flag_or("human", false)?;
    Ok(Response::json(if response.timed_out { late_status } else { 200 }, response.to_json(level, is_human)))
}

/// Returns the HTTP status of an answer about health that waited in vain. The parameter
/// `return_200_for_cluster_health_timeout` is deprecated, and anything but `true` in it means false.
fn status_of_late_health(request: &Request) -> u16 {
    let Some(is_wanted) = request.param("return_200_for_cluster_health_timeout") else { return 408 };
    work::warn(
        "the [return_200_for_cluster_health_timeout] parameter is deprecated and will be removed in a future release.",
    );
    if is_wanted.eq_ignore_ascii_case("true") { 200 } else { 408 }
}

/// Reads a priority of cluster events. No event waits here, so that all of them have been processed.
fn wait_for_events(request: &Request) -> Result<Option<String>> {
    const PRIORITIES: [&str; 6] = ["IMMEDIATE", "URGENT", "HIGH", "NORMAL", "LOW", "LANGUID"];
    let Some(given) = request.param("wait_for_events") else { return Ok(None) };
    let priority = given.to_uppercase();
    match PRIORITIES.contains(&priority.as_str()) {
        true => Ok(Some(given.to_owned())),
        false => Err(RequestError::illegal_argument(format!(
            "No enum constant org.elasticsearch.common.Priority.{priority}"
        ))),
    }
}

fn state(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::LENIENT)?;
    let metrics = request.param("metrics").unwrap_or("_all");
    let is_late = match metadata_version(request)? {
        None => None,
        Some(version) => {
            let timeout_ms = request.time_ms("wait_for_timeout")?.unwrap_or(60_000);
            Some(!app.node.wait_for_metadata_version(version, timeout_ms)?)
        }
    };
    let mut answer = match is_late {
        Some(true) => json!({"cluster_name": app.node.config().cluster_name}),
        _ => app.node.cluster_state(metrics, request.param("index").unwrap_or("_all"), options)?,
    };
    if request.flag_or("flat_settings", false)? {
        let indices = answer["metadata"].get_mut("indices").and_then(Value::as_object_mut);
        for index in indices.into_iter().flat_map(|indices| indices.values_mut()) {
            if let Some(settings) = index.get_mut("settings") {
                *settings = Value::Object(limber_engine::settings::flatten(settings)?);
            }
        }
    }
    if let (Some(is_late), Some(members)) = (is_late, answer.as_object_mut()) {
        members.shift_insert(0, "wait_for_timed_out".into(), is_late.into());
    }
    Ok(Response::ok(answer))
}

/// Reads `wait_for_metadata_version`.
fn metadata_version(request: &Request) -> Result<Option<u64>> {
    let Some(text) = request.param("wait_for_metadata_version") else { return Ok(None) };
    let version = text.parse::<i64>().map_err(|_| {
        RequestError::illegal_argument(format!(
            "Failed to parse long parameter [wait_for_metadata_version] with value [{text}]"
        ))
    })?;
    match u64::try_from(version) {
        Ok(version) if version > 0 => Ok(Some(version)),
        _ => Err(RequestError::illegal_argument(format!(
            "provided waitForMetadataVersion should be >= 1, but instead is [{version}]"
        ))),
    }
}

fn settings(app: &App, request: &Request) -> Result<Response> {
    let include_defaults = request.flag_or("include_defaults", false)?;
    let mut answer = app.node.cluster_settings(include_defaults)?;
    if include_defaults {
        add_settings_of_node(app, &mut answer);
    }
    shape(answer, request).map(Response::ok)
}

/// Adds the node's own settings to the defaults, unless the cluster's replace them.
///
/// Source: `RestClusterGetSettingsAction`, `AbstractScopedSettings#diff`.
fn add_settings_of_node(app: &App, answer: &mut Value) {
    let mut own = node_info::settings(app);
    own.retain(|key, _| ["persistent", "transient"].iter().all(|part| answer[*part].get(key).is_none()));
    if let Some(defaults) = answer["defaults"].as_object_mut() {
        defaults.extend(own);
    }
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
