//! Snapshot lifecycle management: policies that take snapshots automatically.

use limber_engine::Result;
use serde_json::json;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const CHANGE: &[&str] = &["timeout", "master_timeout"];

/// The endpoints of this file (`_slm`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_slm/policy", CHANGE, get),
    route(&[Method::Get], "/_slm/policy/{name}", CHANGE, get),
    route(&[Method::Put], "/_slm/policy/{name}", CHANGE, put),
    route(&[Method::Delete], "/_slm/policy/{name}", CHANGE, delete),
    route(&[Method::Put, Method::Post], "/_slm/policy/{name}/_execute", CHANGE, execute),
    route(&[Method::Post], "/_slm/_execute_retention", CHANGE, execute_retention),
    route(&[Method::Get], "/_slm/status", CHANGE, status),
    route(&[Method::Get], "/_slm/stats", CHANGE, stats),
    route(&[Method::Post], "/_slm/start", CHANGE, start),
    route(&[Method::Post], "/_slm/stop", CHANGE, stop),
];

fn get(app: &App, request: &Request) -> Result<Response> {
    let human = request.flag_or("human", false)?;
    Ok(Response::ok(app.node.get_snapshot_policies(request.param("name").unwrap_or(""), human)?))
}

fn put(app: &App, request: &Request) -> Result<Response> {
    app.node.put_snapshot_policy(request.path("name"), &request.json_required()?)?;
    Ok(Response::acknowledged())
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_snapshot_policy(request.path("name"))?;
    Ok(Response::acknowledged())
}

fn execute(app: &App, request: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.execute_snapshot_policy(request.path("name"))?))
}

fn execute_retention(app: &App, _: &Request) -> Result<Response> {
    app.node.start_retention()?;
    Ok(Response::acknowledged())
}

fn status(app: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(json!({"operation_mode": app.node.snapshot_lifecycle_mode()})))
}

fn stats(app: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.snapshot_lifecycle_stats()))
}

fn start(app: &App, _: &Request) -> Result<Response> {
    app.node.start_snapshot_lifecycles()?;
    Ok(Response::acknowledged())
}

fn stop(app: &App, _: &Request) -> Result<Response> {
    app.node.stop_snapshot_lifecycles()?;
    Ok(Response::acknowledged())
}
