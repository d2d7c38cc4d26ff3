//! Data streams: create, get, delete, statistics, and changes to their backing indices.

use std::collections::HashMap;

use limber_engine::{IndicesOptions, Result};
use limber_text::byte_size;
use serde_json::Value;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::{generic as slow, management as route};
use crate::rest::{App, Route};

const CHANGE: &[&str] = &["timeout", "master_timeout"];
const GET: &[&str] = &["expand_wildcards", "include_defaults", "local", "master_timeout", "verbose"];

/// The endpoints of this file (`_data_stream`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    slow(&[Method::Put], "/_data_stream/{name}", CHANGE, create),
    slow(&[Method::Delete], "/_data_stream/{name}", &["expand_wildcards", "master_timeout"], delete),
    route(&[Method::Get], "/_data_stream", GET, get),
    route(&[Method::Get], "/_data_stream/{name}", GET, get),
    route(&[Method::Get], "/_data_stream/_stats", with_indices_options![], stats),
    route(&[Method::Get], "/_data_stream/{name}/_stats", with_indices_options![], stats),
    route(&[Method::Post], "/_data_stream/_modify", CHANGE, modify),
    slow(&[Method::Post], "/_data_stream/_migrate/{name}", CHANGE, migrate),
    route(&[Method::Post], "/_data_stream/_promote/{name}", &["master_timeout"], promote),
];

fn create(app: &App, request: &Request) -> Result<Response> {
    app.node.create_data_stream(request.path("name"))?;
    Ok(Response::acknowledged())
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA)?;
    app.node.delete_data_streams(request.path("name"), options)?;
    Ok(Response::acknowledged())
}

fn get(app: &App, request: &Request) -> Result<Response> {
    let with_rollover = request.flag_or("include_defaults", false)?;
    let options = indices_options(request, IndicesOptions::METADATA)?;
    let expression = request.param("name").unwrap_or("*");
    let mut found = app.node.get_data_streams(expression, options, with_rollover)?;
    if request.flag_or("verbose", false)? {
        let stats = app.node.data_stream_stats(expression, options, None)?;
        let newest: HashMap<&str, &Value> = stats["data_streams"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|stream| Some((stream["data_stream"].as_str()?, &stream["maximum_timestamp"])))
            .collect();
        for stream in found["data_streams"].as_array_mut().into_iter().flatten() {
            if let Some(time) = stream["name"].as_str().and_then(|name| newest.get(name)) {
                stream["maximum_timestamp"] = (*time).clone();
            }
        }
    }
    Ok(Response::ok(found))
}

fn stats(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA)?;
    let words = request.flag_or("human", false)?.then_some(byte_size::show as fn(u64) -> String);
    let expression = request.param("name").unwrap_or("*");
    Ok(Response::ok(app.node.data_stream_stats(expression, options, words)?))
}

fn modify(app: &App, request: &Request) -> Result<Response> {
    let body: Value = request.json_required()?;
    app.node.modify_data_streams(&body)?;
    Ok(Response::acknowledged())
}

fn migrate(app: &App, request: &Request) -> Result<Response> {
    app.node.migrate_to_data_stream(request.path("name"))?;
    Ok(Response::acknowledged())
}

fn promote(app: &App, request: &Request) -> Result<Response> {
    app.node.promote_data_stream(request.path("name"))?;
    Ok(Response::acknowledged())
}
