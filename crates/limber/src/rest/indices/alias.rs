//! Aliases: put, delete, get, exists, and several changes in one request.

use limber_engine::{IndicesOptions, Result};
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, warn_of_local, with_indices_options};
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const CHANGE: &[&str] = &["timeout", "master_timeout"];
const GET: &[&str] = with_indices_options!["local", "master_timeout"];

/// The endpoints of this file (`_aliases`, `_alias`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Post], "/_aliases", CHANGE, update),
    route(&[Method::Put, Method::Post], "/{index}/_alias/{name}", CHANGE, put),
    // The body names what the path omits.
    route(&[Method::Put], "/_alias", CHANGE, put),
    route(&[Method::Put], "/_aliases", CHANGE, put),
    route(&[Method::Put, Method::Post], "/_alias/{name}", CHANGE, put),
    route(&[Method::Put, Method::Post], "/_aliases/{name}", CHANGE, put),
    route(&[Method::Put], "/{index}/_alias", CHANGE, put),
    route(&[Method::Put], "/{index}/_aliases", CHANGE, put),
    route(&[Method::Put, Method::Post], "/{index}/_aliases/{name}", CHANGE, put),
    route(&[Method::Delete], "/{index}/_alias/{name}", CHANGE, delete),
    route(&[Method::Delete], "/{index}/_aliases/{name}", CHANGE, delete),
    route(&[Method::Get], "/_alias", GET, get),
    route(&[Method::Get], "/_aliases", GET, get),
    route(&[Method::Get, Method::Head], "/_alias/{name}", GET, get),
    route(&[Method::Get, Method::Head], "/{index}/_alias", GET, get),
    route(&[Method::Get, Method::Head], "/{index}/_alias/{name}", GET, get),
];

/// Returns the response to a change, which is applied as a whole or refused.
fn changed() -> Response {
    Response::ok(json!({"acknowledged": true, "errors": false}))
}

fn update(app: &App, request: &Request) -> Result<Response> {
    let results = app.node.update_aliases(&request.json_required()?)?;
    if results.iter().all(|result| result.error.is_none()) {
        return Ok(changed());
    }
    let shown = results.iter().map(|result| {
        let action = json!({"type": result.kind, "indices": result.indices, "aliases": result.aliases});
        match &result.error {
            None => json!({"action": action, "status": 200}),
            Some(error) => {
                json!({"action": action, "status": 404, "error": error.to_json()})
            }
        }
    });
    let shown: Vec<Value> = shown.collect();
    Ok(Response::ok(json!({"acknowledged": true, "errors": true, "action_results": shown})))
}

/// What the body of an alias may have. Source: `RestIndexPutAliasAction`.
const MEMBERS: [&str; 7] =
    ["index", "alias", "filter", "routing", "index_routing", "search_routing", "is_write_index"];

fn put(app: &App, request: &Request) -> Result<Response> {
    let body = request.json()?.unwrap_or_else(|| json!({}));
    let unknown =
        body.as_object().and_then(|members| members.keys().find(|key| !MEMBERS.contains(&key.as_str())));
    if let Some(unknown) = unknown {
        return Err(RequestError::illegal_argument(format!("Unsupported field [{unknown}]")));
    }
    let named = |name: &str| request.param(name).unwrap_or_default();
    app.node.put_alias(named("index"), named("name"), &body)?;
    Ok(changed())
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_alias(request.path("index"), request.path("name"))?;
    Ok(changed())
}

fn get(app: &App, request: &Request) -> Result<Response> {
    warn_of_local(request, "get-aliases")?;
    let all = IndicesOptions { expand_closed: true, expand_hidden: true, ..IndicesOptions::METADATA };
    let options = indices_options(request, all)?;
    let index = request.param("index").unwrap_or("_all");
    let found = app.node.get_alias(index, request.param("name").unwrap_or(""), options)?;
    if found.missing.is_empty() {
        return Ok(Response::ok(Value::Object(found.shown)));
    }
    let word = if found.missing.len() == 1 { "alias" } else { "aliases" };
    let error = format!("{word} [{}] missing", found.missing.join(","));
    let mut body = Map::from_iter([("error".to_owned(), error.into()), ("status".to_owned(), 404.into())]);
    body.extend(found.shown);
    Ok(Response::json(404, Value::Object(body)))
}
