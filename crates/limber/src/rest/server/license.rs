//! `_license`, `_xpack`, `_features` and `_remote/info`: what clients and dashboards ask when they start.
//!
//! The responses are honest: every feature that exists is free; one that does not exist is neither available
//! nor enabled.

use limber_engine::Result;
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use super::info::build_hash;
use super::xpack_usage::with_usage;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

/// The endpoints of this file (`_license`, `_xpack`, `_features`, `_remote`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_license", &["local", "accept_enterprise"], license),
    route(&[Method::Delete], "/_license", &["master_timeout", "timeout"], delete_license),
    route(&[Method::Get], "/_license/basic_status", &["master_timeout"], basic_status),
    route(&[Method::Get], "/_license/trial_status", &["master_timeout"], trial_status),
    route(
        &[Method::Post],
        "/_license/start_basic",
        &["acknowledge", "master_timeout", "timeout"],
        start_basic,
    ),
    route(&[Method::Post], "/_license/start_trial", &["acknowledge", "type", "master_timeout"], start_trial),
    route(&[Method::Get], "/_xpack", &["categories", "accept_enterprise"], xpack),
    route(&[Method::Get], "/_xpack/usage", &["master_timeout"], usage),
    route(&[Method::Get], "/_features", &["master_timeout"], features),
    route(&[Method::Post], "/_features/_reset", &["master_timeout"], reset_features),
    route(&[Method::Get], "/_remote/info", &[], remote_info),
];

/// Features of Elasticsearch's default distribution by their names in `_xpack`, and whether Limber has them.
/// Security is there if it is on.
const FEATURES: &[(&str, bool)] = &[
    ("aggregate_metric", false),
    ("analytics", true),
    ("archive", false),
    ("ccr", false),
    ("data_streams", true),
    ("data_tiers", false),
    ("enrich", true),
    ("enterprise_search", false),
    ("eql", false),
    ("esql", false),
    ("frozen_indices", false),
    ("gpu_vector_indexing", false),
    ("graph", false),
    ("ilm", true),
    ("logsdb", false),
    ("logstash", false),
    ("ml", false),
    ("monitoring", false),
    ("rollup", false),
    ("searchable_snapshots", false),
    ("security", false),
    ("slm", true),
    ("spatial", true),
    ("sql", false),
    ("transform", true),
    ("universal_profiling", false),
    ("voting_only", false),
    ("watcher", false),
];

fn license(app: &App, _: &Request) -> Result<Response> {
    let issued = app.node.started_millis();
    let format = limber_mapping::date::DateFormat::parse_list("strict_date_time")?;
    Ok(Response::ok(json!({"license": {
        "status": "active",
        "uid": app.node.cluster_uuid(),
        "type": "basic",
        "issue_date": format.format_millis(issued as i64),
        "issue_date_in_millis": issued,
        "max_nodes": 1000,
        "max_resource_units": null,
        "issued_to": app.node.config().cluster_name,
        "issuer": "limber",
        "start_date_in_millis": -1,
    }})))
}

/// Acknowledges that the license is basic again, which it always is.
fn delete_license(_: &App, request: &Request) -> Result<Response> {
    request.time_ms("timeout")?;
    Ok(Response::acknowledged())
}

fn basic_status(_: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(json!({"eligible_to_start_basic": false})))
}

fn trial_status(_: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(json!({"eligible_to_start_trial": false})))
}

/// Refuses to start a basic licence, because the licence is always basic.
fn start_basic(_: &App, request: &Request) -> Result<Response> {
    request.flag_or("acknowledge", false)?;
    Ok(Response::json(
        403,
        json!({
            "acknowledged": true,
            "basic_was_started": false,
            "error_message": "Operation failed: Current license is basic.",
        }),
    ))
}

/// Refuses to start a trial, because there is nothing to try.
fn start_trial(_: &App, request: &Request) -> Result<Response> {
    if !request.flag_or("acknowledge", false)? {
        return Ok(Response::ok(json!({
            "acknowledged": false,
            "trial_was_started": false,
            "error_message": "Operation failed: Needs acknowledgement.",
        })));
    }
    Ok(Response::json(
        403,
        json!({
            "acknowledged": true,
            "trial_was_started": false,
            "error_message": "Operation failed: Limber has no features that need a license.",
        }),
    ))
}

/// The parts of `_xpack` that a request can name.
const CATEGORIES: [&str; 3] = ["build", "license", "features"];

fn xpack(app: &App, request: &Request) -> Result<Response> {
    let categories = request.list("categories");
    if let Some(unknown) = categories.iter().find(|name| !CATEGORIES.contains(&name.as_str())) {
        let class = "org.elasticsearch.protocol.xpack.XPackInfoRequest.Category";
        let reason = format!("No enum constant {class}.{}", unknown.to_uppercase());
        return Err(RequestError::illegal_argument(reason));
    }
    let wants = |category: &str| categories.is_empty() || categories.iter().any(|wanted| wanted == category);
    let mut answer = Map::new();
    if wants("build") {
        answer
            .insert("build".into(), json!({"hash": build_hash(), "date": "2026-01-01T00:00:00.000000000Z"}));
    }
    if wants("license") {
        let license =
            json!({"uid": app.node.cluster_uuid(), "type": "basic", "mode": "basic", "status": "active"});
        answer.insert("license".into(), license);
    }
    if wants("features") {
        answer.insert("features".into(), states(app));
    }
    answer.insert("tagline".into(), "You know, for X".into());
    Ok(Response::ok(Value::Object(answer)))
}

fn usage(app: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(with_usage(app, states(app))?))
}

fn states(app: &App) -> Value {
    let state = |(name, is_there): &(&str, bool)| {
        let is_there = *is_there || *name == "security" && app.guard.is_some();
        ((*name).to_owned(), json!({"available": is_there, "enabled": is_there}))
    };
    Value::Object(FEATURES.iter().map(state).collect())
}

/// Features that keep something besides indices, with what Elasticsearch says of them.
const KEEPING: [(&str, &str); 2] = [("synonyms", "Manages synonyms"), ("tasks", "Manages task results")];

/// Lists the features that keep something besides indices.
fn features(_: &App, _: &Request) -> Result<Response> {
    let shown = KEEPING.iter().map(|(name, description)| json!({"name": name, "description": description}));
    Ok(Response::ok(json!({"features": shown.collect::<Vec<_>>()})))
}

/// Deletes what these features keep: the sets of synonyms, and the results of tasks.
fn reset_features(app: &App, _: &Request) -> Result<Response> {
    app.node.tasks().forget_results();
    let failure = delete_synonyms(app).err();
    let shown = KEEPING.iter().map(|(name, _)| match &failure {
        Some(error) if *name == "synonyms" => {
            json!({"feature_name": name, "status": "FAILURE", "exception": error.to_json()})
        }
        _ => json!({"feature_name": name, "status": "SUCCESS"}),
    });
    let status = if failure.is_none() { 200 } else { 207 };
    Ok(Response::json(status, json!({"features": shown.collect::<Vec<_>>()})))
}

fn delete_synonyms(app: &App) -> Result<()> {
    let listed = app.node.list_synonyms(0, SETS_MAX)?;
    let sets = listed["results"].as_array().into_iter().flatten();
    let mut names = sets.filter_map(|set| set["synonyms_set"].as_str());
    names.try_for_each(|name| app.node.delete_synonyms(name))
}

/// How many sets of synonyms there may be. Source: the limit of `_synonyms`.
const SETS_MAX: i64 = 1_000;

/// Lists the remote clusters. There are none.
fn remote_info(_: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(json!({})))
}
