//! What data streams set themselves: settings, mappings and options.

use limber_engine::{IndicesOptions, Result};
use serde_json::Value;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::indices_options;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const PUT: &[&str] = &["dry_run", "master_timeout", "timeout"];
const GET_OPTIONS: &[&str] = &["expand_wildcards", "include_defaults", "master_timeout"];
const PUT_OPTIONS: &[&str] = &["expand_wildcards", "timeout", "master_timeout"];

/// The endpoints of this file (`_data_stream`: `_settings`, `_mappings`, `_options`), for
/// [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_data_stream/{name}/_settings", &["master_timeout"], get_settings),
    route(&[Method::Put], "/_data_stream/{name}/_settings", PUT, put_settings),
    route(&[Method::Get], "/_data_stream/{name}/_mappings", &["master_timeout"], get_mappings),
    route(&[Method::Put], "/_data_stream/{name}/_mappings", PUT, put_mappings),
    route(&[Method::Get], "/_data_stream/{name}/_options", GET_OPTIONS, get_options),
    route(&[Method::Put], "/_data_stream/{name}/_options", PUT_OPTIONS, put_options),
    route(&[Method::Delete], "/_data_stream/{name}/_options", PUT_OPTIONS, delete_options),
];

fn get_settings(app: &App, request: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.get_stream_settings(request.path("name"))?))
}

fn put_settings(app: &App, request: &Request) -> Result<Response> {
    let body: Value = request.json_required()?;
    let dry_run = request.flag_or("dry_run", false)?;
    Ok(Response::ok(app.node.put_stream_settings(request.path("name"), &body, dry_run)?))
}

fn get_mappings(app: &App, request: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.get_stream_mappings(request.path("name"))?))
}

fn put_mappings(app: &App, request: &Request) -> Result<Response> {
    let body: Value = request.json_required()?;
    let dry_run = request.flag_or("dry_run", false)?;
    Ok(Response::ok(app.node.put_stream_mappings(request.path("name"), &body, dry_run)?))
}

fn get_options(app: &App, request: &Request) -> Result<Response> {
    // No option has a default that is shown.
    request.flag("include_defaults")?;
    let options = indices_options(request, IndicesOptions::METADATA_OPEN_CLOSED)?;
    Ok(Response::ok(app.node.get_stream_options(request.path("name"), options)?))
}

fn put_options(app: &App, request: &Request) -> Result<Response> {
    let body: Value = request.json_required()?;
    change_options(app, request, Some(&body))
}

fn delete_options(app: &App, request: &Request) -> Result<Response> {
    change_options(app, request, None)
}

fn change_options(app: &App, request: &Request, body: Option<&Value>) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA_OPEN_CLOSED)?;
    app.node.change_stream_options(request.path("name"), options, body)?;
    Ok(Response::acknowledged())
}
