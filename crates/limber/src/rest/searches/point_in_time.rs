//! `_pit`: opens and closes points in time.

use limber_engine::{IndicesOptions, OpenPointInTime, Result};
use limber_mapping::{ObjectParser, RequestError};
use limber_search::SearchRequest;
use limber_search::query::Query;
use limber_search::request::read_query;
use serde_json::{Value, json};

use super::search::{placement, refused};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::{App, Route};

const OPEN: &[&str] = with_indices_options![
    "allow_partial_search_results",
    "keep_alive",
    "max_concurrent_shard_requests",
    "preference",
    "routing",
];

const fn open_route(path: &'static str) -> Route {
    Route { methods: &[Method::Post], path, parameters: OPEN, pool: PoolName::Search, handler: open }
}

/// The endpoints of this file (`_pit`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    open_route("/_pit"),
    open_route("/{index}/_pit"),
    Route {
        methods: &[Method::Delete],
        path: "/_pit",
        parameters: &[],
        pool: PoolName::Search,
        handler: close,
    },
];

fn open(app: &App, request: &Request) -> Result<Response> {
    let (index, keep_alive_ms) = (request.param("index"), request.time_ms("keep_alive")?);
    let mut problems = Vec::new();
    if index.is_none() {
        problems.push("[index] is not specified");
    }
    if keep_alive_ms.is_none() {
        problems.push("[keep_alive] is not specified");
    }
    let (Some(expression), Some(keep_alive_ms)) = (index, keep_alive_ms) else {
        return Err(RequestError::validation(problems));
    };
    if request.number::<i64>("max_concurrent_shard_requests")?.is_some_and(|count| count < 1) {
        return Err(RequestError::illegal_argument("maxConcurrentShardRequests must be >= 1"));
    }
    let wanted = OpenPointInTime {
        expression,
        options: indices_options(request, IndicesOptions::SEARCH)?,
        placement: placement(request),
        index_filter: index_filter(request)?,
        allow_partial: request.flag_or("allow_partial_search_results", false)?,
        keep_alive_ms,
    };
    let (id, shards) = app.node.open_point_in_time(&wanted).map_err(|error| refused(&error))?;
    Ok(Response::json(200, json!({"id": id, "_shards": shards.to_json()})))
}

fn index_filter(request: &Request) -> Result<Option<Query>> {
    let parser = ObjectParser::new("open_point_in_time_request");
    let Some(body) = request.json()? else { return Ok(None) };
    let Value::Object(members) = body else { return Err(parser.refused("Expected START_OBJECT")) };
    let mut filter = None;
    for (name, value) in members {
        match (name.as_str(), &value) {
            ("index_filter", Value::Object(_)) => {
                filter = Some(read_query(&value).map_err(|cause| parser.failed(&name, cause))?);
            }
            ("index_filter", _) => {
                let kind = if value.is_array() { "START_ARRAY" } else { "VALUE" };
                return Err(parser.unsupported_token(&name, kind));
            }
            (other, _) => return Err(parser.unknown(other)),
        }
    }
    Ok(filter)
}

fn close(app: &App, request: &Request) -> Result<Response> {
    let Some(body) = request.json()? else {
        return Err(RequestError::bad_request(
            "parse_exception",
            "request body or source parameter is required",
        ));
    };
    let mut id = None;
    for (name, value) in body.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("id", Value::String(text)) => id = Some(text.as_str()),
            ("id", _) => {
                return Err(RequestError::illegal_argument("the request must contain only [id field"));
            }
            (other, _) => {
                return Err(RequestError::illegal_argument(format!(
                    "Unknown parameter [{other}] in request body or parameter is of the wrong type[FIELD_NAME] "
                )));
            }
        }
    }
    let id = id.ok_or_else(|| RequestError::illegal_argument("search context id is is not provided"))?;
    let freed = app.node.close_point_in_time(id)?;
    // One over no index has no shards to free.
    let status = if freed.is_some() { 200 } else { 404 };
    Ok(Response::json(status, json!({"succeeded": freed.is_some(), "num_freed": freed.unwrap_or(0)})))
}

/// Refuses indices, routing and the like together with a point in time, which already determines what is
/// searched. Source: `RestSearchAction#preparePointInTime`.
pub fn check_not_with_point_in_time(
    search: &SearchRequest,
    index: Option<&str>,
    options: IndicesOptions,
    routing: Option<&str>,
    preference: Option<&str>,
) -> Result<()> {
    if search.pit.is_none() {
        return Ok(());
    }
    let mut problems = Vec::new();
    if index.is_some() {
        problems.push(
            "[indices] cannot be used with point in time. Do not specify any index with point in time.",
        );
    }
    if options != IndicesOptions::SEARCH {
        problems.push("[indicesOptions] cannot be used with point in time");
    }
    if routing.is_some() {
        problems.push("[routing] cannot be used with point in time");
    }
    if preference.is_some() {
        problems.push("[preference] cannot be used with point in time");
    }
    if problems.is_empty() { Ok(()) } else { Err(RequestError::validation(problems)) }
}
