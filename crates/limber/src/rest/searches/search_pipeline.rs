//! OpenSearch's search pipelines: put, get, delete.

use limber_engine::Result;
use limber_mapping::RequestError;
use serde_json::Value;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const CHANGE: &[&str] = &["cluster_manager_timeout", "timeout"];
const READ: &[&str] = &["cluster_manager_timeout"];

/// The endpoints of this file (`_search/pipeline`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_search/pipeline", READ, get),
    route(&[Method::Get], "/_search/pipeline/{id}", READ, get),
    route(&[Method::Put], "/_search/pipeline/{id}", CHANGE, put),
    route(&[Method::Delete], "/_search/pipeline/{id}", CHANGE, delete),
];

fn put(app: &App, request: &Request) -> Result<Response> {
    let Some(body) = request.json()? else {
        return Err(RequestError::bad_request(
            "parse_exception",
            "request body or source parameter is required",
        ));
    };
    app.node.put_search_pipeline(request.path("id"), &body)?;
    Ok(Response::acknowledged())
}

fn get(app: &App, request: &Request) -> Result<Response> {
    let found = app.node.get_search_pipelines(request.param("id").unwrap_or("*"));
    Ok(Response::json(if found.is_empty() { 404 } else { 200 }, Value::Object(found)))
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_search_pipeline(request.path("id"))?;
    Ok(Response::acknowledged())
}
