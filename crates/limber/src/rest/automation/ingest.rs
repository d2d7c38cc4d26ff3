//! Ingest pipelines (put, get, delete, simulate), the grok patterns, and the GeoIP databases.

use limber_engine::Result;
use serde_json::{Map, Value};

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const PUT: &[&str] = &["timeout", "master_timeout", "if_version"];
const DELETE: &[&str] = &["timeout", "master_timeout"];

const READ: &[Method] = &[Method::Get, Method::Post];

/// The endpoints of this file (`_ingest`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Put], "/_ingest/pipeline/{id}", PUT, put),
    route(&[Method::Get], "/_ingest/pipeline", &["master_timeout", "summary"], get),
    route(&[Method::Get], "/_ingest/pipeline/{id}", &["master_timeout", "summary"], get),
    route(&[Method::Delete], "/_ingest/pipeline/{id}", DELETE, delete),
    route(READ, "/_ingest/pipeline/_simulate", &["verbose"], simulate),
    route(READ, "/_ingest/pipeline/{id}/_simulate", &["verbose"], simulate),
    route(READ, "/_ingest/_simulate", &["pipeline", "merge_type"], simulate_ingest),
    route(READ, "/_ingest/{index}/_simulate", &["pipeline", "merge_type"], simulate_ingest),
    route(&[Method::Get], "/_ingest/geoip/stats", &[], geoip_stats),
    route(&[Method::Get], "/_ingest/processor/grok", &["s", "ecs_compatibility"], grok),
];

fn put(app: &App, request: &Request) -> Result<Response> {
    let body = request.json_required()?;
    match request.number("if_version")? {
        Some(version) => app.node.put_pipeline_of_version(request.path("id"), &body, version)?,
        None => app.node.put_pipeline(request.path("id"), &body)?,
    }
    Ok(Response::acknowledged())
}

fn get(app: &App, request: &Request) -> Result<Response> {
    let id = request.param("id").unwrap_or("*");
    let mut found = app.node.get_pipelines(id)?;
    let missing = found.is_empty() && id != "*";
    if request.flag_or("summary", false)? {
        found.values_mut().for_each(|definition| *definition = Value::Object(Map::new()));
    }
    Ok(Response::json(if missing { 404 } else { 200 }, Value::Object(found)))
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_pipeline(request.path("id"))?;
    Ok(Response::acknowledged())
}

fn simulate(app: &App, request: &Request) -> Result<Response> {
    let verbose = request.flag_or("verbose", false)?;
    Ok(Response::ok(app.node.simulate_pipeline(request.param("id"), &request.json_required()?, verbose)?))
}

fn simulate_ingest(app: &App, request: &Request) -> Result<Response> {
    let (index, pipeline) = (request.param("index"), request.param("pipeline"));
    let merges_as_template = match request.param("merge_type") {
        None | Some("index") => false,
        Some("template") => true,
        Some(other) => {
            let reason =
                format!("Unsupported merge type '{other}'. Valid values are 'index' and 'template'.");
            return Err(limber_mapping::RequestError::illegal_argument(reason));
        }
    };
    let body = request.json_required()?;
    Ok(Response::ok(app.node.simulate_ingest(index, pipeline, &body, merges_as_template)?))
}

fn geoip_stats(app: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.geoip_stats()))
}

fn grok(_app: &App, request: &Request) -> Result<Response> {
    request.flag("s")?;
    let ecs = match request.param("ecs_compatibility") {
        None | Some("disabled") => false,
        Some("v1") => true,
        Some(other) => {
            let reason = format!("unsupported ECS compatibility mode [{other}]");
            return Err(limber_mapping::RequestError::illegal_argument(reason));
        }
    };
    Ok(Response::ok(serde_json::json!({"patterns": limber_engine::ingest::grok_patterns(ecs)})))
}
