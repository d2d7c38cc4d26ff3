//! `_synonyms`: synonym sets and their rules; `_reload_search_analyzers`.

use limber_engine::{IndicesOptions, Result};
use limber_mapping::RequestError;
use serde_json::{Value, json};

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::indices_options;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const PAGE: &[&str] = &["from", "size"];
const CHANGE: &[&str] = &["refresh"];
const RELOAD: &[&str] = &["allow_no_indices", "expand_wildcards", "ignore_unavailable", "resource"];

/// The endpoints of this file (`_synonyms`, `_reload_search_analyzers`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_synonyms", PAGE, list),
    route(&[Method::Get], "/_synonyms/{set}", PAGE, get),
    route(&[Method::Put], "/_synonyms/{set}", CHANGE, put),
    route(&[Method::Delete], "/_synonyms/{set}", &[], delete),
    route(&[Method::Get], "/_synonyms/{set}/{rule}", &[], get_rule),
    route(&[Method::Put], "/_synonyms/{set}/{rule}", CHANGE, put_rule),
    route(&[Method::Delete], "/_synonyms/{set}/{rule}", CHANGE, delete_rule),
    route(&[Method::Get, Method::Post], "/{index}/_reload_search_analyzers", RELOAD, reload),
];

/// Reads an integer parameter of the URL.
pub(in crate::rest) fn number(request: &Request, name: &str, default: i64) -> Result<i64> {
    let Some(text) = request.param(name) else { return Ok(default) };
    text.parse::<i32>().map(i64::from).map_err(|_| {
        let reason = format!("Failed to parse int parameter [{name}] with value [{text}]");
        RequestError::illegal_argument(reason)
    })
}

fn list(app: &App, request: &Request) -> Result<Response> {
    let (from, size) = (number(request, "from", 0)?, number(request, "size", 10)?);
    Ok(Response::ok(app.node.list_synonyms(from, size)?))
}

fn get(app: &App, request: &Request) -> Result<Response> {
    let (from, size) = (number(request, "from", 0)?, number(request, "size", 10)?);
    Ok(Response::ok(app.node.get_synonyms(request.path("set"), from, size)?))
}

fn get_rule(app: &App, request: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.get_synonym_rule(request.path("set"), request.path("rule"))?))
}

/// Returns the response to a change, after reloading the analyzers that use the set.
fn changed(app: &App, request: &Request, result: &str) -> Result<Response> {
    let mut answer = json!({"result": result});
    if request.flag_or("refresh", true)? {
        answer["reload_analyzers_details"] = app.node.reload_synonyms(request.path("set"))?;
    }
    let status = if result == "created" { 201 } else { 200 };
    Ok(Response::json(status, answer))
}

fn text(request: &Request) -> String {
    String::from_utf8_lossy(&request.body).into_owned()
}

fn put(app: &App, request: &Request) -> Result<Response> {
    let body: Value = request.json_required()?;
    let is_new = app.node.put_synonyms(request.path("set"), &body, &text(request))?;
    changed(app, request, if is_new { "created" } else { "updated" })
}

fn put_rule(app: &App, request: &Request) -> Result<Response> {
    let body: Value = request.json_required()?;
    let (set, rule) = (request.path("set"), request.path("rule"));
    let is_new = app.node.put_synonym_rule(set, rule, &body, &text(request))?;
    changed(app, request, if is_new { "created" } else { "updated" })
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_synonyms(request.path("set"))?;
    Ok(Response::acknowledged())
}

fn delete_rule(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_synonym_rule(request.path("set"), request.path("rule"))?;
    changed(app, request, "deleted")
}

fn reload(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::BROADCAST)?;
    let (index, resource) = (request.path("index"), request.param("resource"));
    Ok(Response::ok(app.node.reload_search_analyzers(index, options, resource)?))
}
