//! `_count`: how many documents match.

use limber_engine::{IndicesOptions, Placement, Result};
use limber_mapping::RequestError;
use limber_search::{CountRequest, UrlParameters};
use serde_json::Value;

use super::search::{check_clusters, check_lonely_parameters, placement, refused};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::unrecognized;
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

/// Wraps an error about malformed JSON as Elasticsearch's parser of queries does.
pub fn failed_to_parse(error: RequestError) -> RequestError {
    match error.kind {
        "x_content_parse_exception" | "x_content_e_o_f_exception" => {
            RequestError::parsing("Failed to parse").caused_by(error)
        }
        _ => error,
    }
}

/// Whether a request brings its query in a body, or in the parameter that stands for one.
pub(super) fn has_query_body(request: &Request) -> bool {
    request.has_body() || request.param("source").is_some()
}

/// Refuses the parameters of a query in the URL as unknown. A request whose body has the query reads none.
pub(super) fn refuse_url_query(request: &Request) -> Result<()> {
    let given = OF_THE_QUERY.iter().copied().filter(|name| request.param(name).is_some());
    let given: Vec<&str> = given.collect();
    if given.is_empty() { Ok(()) } else { Err(unrecognized(&request.uri, "parameter", &given, &[])) }
}

/// Checks the parameters of `_count` and `_cat/count`.
fn check_parameters(request: &Request) -> Result<()> {
    if has_query_body(request) { refuse_url_query(request) } else { check_lonely_parameters(request) }
}

fn count(app: &App, request: &Request) -> Result<Response> {
    let body = request.json().map_err(failed_to_parse)?.unwrap_or(Value::Null);
    check_parameters(request)?;
    request.number::<i32>("terminate_after")?;
    request.float("min_score")?;
    let parsed = CountRequest::parse(&body, &UrlParameters(request.query.clone()))?;
    let options = indices_options(request, IndicesOptions::SEARCH)?;
    let index = request.param("index").unwrap_or("_all");
    check_clusters(index)?;
    let response = app
        .node
        .count(index, options, placement(request), &parsed, request.cancelled.clone())
        .map_err(|error| refused(&error))?;
    Ok(Response::ok(response.to_json()))
}

/// Counts the documents of the indices that match the body or `q`, for `_cat/count`.
pub fn count_matching(app: &App, request: &Request) -> Result<u64> {
    let body = request.json()?.unwrap_or(Value::Null);
    check_parameters(request)?;
    let query = request.query.iter().filter(|(name, _)| OF_THE_QUERY.contains(&name.as_str()));
    let parsed = CountRequest::parse(&body, &UrlParameters(query.cloned().collect()))?;
    let options = indices_options(request, IndicesOptions::SEARCH)?;
    let index = request.param("index").unwrap_or("_all");
    let found = app.node.count(index, options, Placement::default(), &parsed, request.cancelled.clone());
    Ok(found.map_err(|error| refused(&error))?.count)
}

/// The parameters of a query in a URL.
const OF_THE_QUERY: [&str; 6] = ["analyze_wildcard", "analyzer", "default_operator", "df", "lenient", "q"];
