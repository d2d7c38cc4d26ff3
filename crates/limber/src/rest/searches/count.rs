//! `_count`: how many documents match.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use limber_engine::{IndicesOptions, Placement, Result};
use limber_search::{CountRequest, UrlParameters};
use serde_json::Value;

use super::search::{placement, refused};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::{App, Route};

const PARAMETERS: &[&str] = with_indices_options![
    "analyze_wildcard",
    "analyzer",
    "default_operator",
    "df",
    "lenient",
    "min_score",
    "preference",
    "q",
    "routing",
    "terminate_after",
];
const BOTH: &[Method] = &[Method::Get, Method::Post];

/// The endpoints of this file (`_count`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    Route { methods: BOTH, path: "/_count", parameters: PARAMETERS, pool: PoolName::Search, handler: count },
    Route {
        methods: BOTH,
        path: "/{index}/_count",
        parameters: PARAMETERS,
        pool: PoolName::Search,
        handler: count,
    },
];

fn count(app: &App, request: &Request) -> Result<Response> {
    let body = request.json()?.unwrap_or(Value::Null);
    let parsed = CountRequest::parse(&body, &UrlParameters(request.query.clone()))?;
    let options = indices_options(request, IndicesOptions::SEARCH)?;
    let index = request.param("index").unwrap_or("_all");
    let response = app
        .node
        .count(index, options, placement(request), &parsed, request.cancelled.clone())
        .map_err(|error| refused(&error))?;
    Ok(Response::ok(response.to_json()))
}

/// Counts all documents of the indices, for `_cat/count`.
pub fn count_all(app: &App, expression: &str, options: IndicesOptions) -> Result<u64> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let found =
        app.node.count(expression, options, Placement::default(), &CountRequest::default(), cancelled);
    Ok(found.map_err(|error| refused(&error))?.count)
}
