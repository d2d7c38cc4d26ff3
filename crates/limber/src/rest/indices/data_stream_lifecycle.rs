//! Lifecycles of data streams: put, get, delete, explain and statistics.

use limber_engine::{IndicesOptions, Result};
use serde_json::json;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const CHANGE: &[&str] = &["expand_wildcards", "timeout", "master_timeout"];
const GET: &[&str] = &["expand_wildcards", "include_defaults", "master_timeout"];
const EXPLAIN: &[&str] = with_indices_options!["include_defaults", "master_timeout"];

/// The endpoints of this file (`_data_stream`, `_lifecycle`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Put], "/_data_stream/{name}/_lifecycle", CHANGE, put),
    route(&[Method::Get], "/_data_stream/{name}/_lifecycle", GET, get),
    route(&[Method::Delete], "/_data_stream/{name}/_lifecycle", CHANGE, delete),
    route(&[Method::Get, Method::Post], "/{index}/_lifecycle/explain", EXPLAIN, explain),
    route(&[Method::Get], "/_lifecycle/stats", &["master_timeout"], stats),
];

fn put(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA)?;
    let body = request.json()?.unwrap_or_else(|| json!({}));
    app.node.put_stream_lifecycle(request.path("name"), options, &body)?;
    Ok(Response::acknowledged())
}

fn get(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA)?;
    let with_rollover = request.flag_or("include_defaults", false)?;
    Ok(Response::ok(app.node.get_stream_lifecycles(request.path("name"), options, with_rollover)?))
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA)?;
    app.node.delete_stream_lifecycle(request.path("name"), options)?;
    Ok(Response::acknowledged())
}

fn explain(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA)?;
    let with_rollover = request.flag_or("include_defaults", false)?;
    Ok(Response::ok(app.node.explain_stream_lifecycles(request.path("index"), options, with_rollover)?))
}

fn stats(app: &App, request: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.stream_lifecycle_stats(request.flag_or("human", false)?)))
}
