//! `_enrich`: policies, their execution and statistics.

use limber_engine::Result;
use serde_json::json;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::{generic as slow, management as route};
use crate::rest::{App, Route};

/// The endpoints of this file (`_enrich`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Put], "/_enrich/policy/{name}", &["master_timeout"], put),
    route(&[Method::Get], "/_enrich/policy", &["master_timeout"], get),
    route(&[Method::Get], "/_enrich/policy/{name}", &["master_timeout"], get),
    slow(&[Method::Delete], "/_enrich/policy/{name}", &["master_timeout"], delete),
    slow(
        &[Method::Put, Method::Post],
        "/_enrich/policy/{name}/_execute",
        &["wait_for_completion", "master_timeout"],
        execute,
    ),
    route(&[Method::Get], "/_enrich/_stats", &["master_timeout"], stats),
];

fn put(app: &App, request: &Request) -> Result<Response> {
    app.node.put_enrich_policy(request.path("name"), &request.json_required()?)?;
    Ok(Response::acknowledged())
}

fn get(app: &App, request: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.get_enrich_policies(request.param("name").unwrap_or(""))?))
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_enrich_policy(request.path("name"))?;
    Ok(Response::acknowledged())
}

fn execute(app: &App, request: &Request) -> Result<Response> {
    let waits = request.flag_or("wait_for_completion", true)?;
    Ok(Response::ok(match app.node.execute_enrich_policy(request.path("name"), waits)? {
        None => json!({"status": {"phase": "COMPLETE"}}),
        Some(task) => json!({ "task": task }),
    }))
}

fn stats(app: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.enrich_stats()))
}
