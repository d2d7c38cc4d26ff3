//! `_search/point_in_time`: OpenSearch's endpoints for points in time, which do the same as `_pit`.

use limber_engine::{IndicesOptions, OpenPointInTime, Result};
use limber_mapping::RequestError;
use serde_json::{Value, json};

use super::search::{placement, refused};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::{App, Route};

const OPEN: &[&str] =
    with_indices_options!["allow_partial_pit_creation", "keep_alive", "preference", "routing"];

const fn route(
    method: &'static [Method],
    path: &'static str,
    parameters: &'static [&'static str],
    handler: fn(&App, &Request) -> Result<Response>,
) -> Route {
    Route { methods: method, path, parameters, pool: PoolName::Search, handler }
}

/// The endpoints of this file (`_search/point_in_time`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Post], "/{index}/_search/point_in_time", OPEN, open),
    route(&[Method::Delete], "/_search/point_in_time", &[], close),
    route(&[Method::Get], "/_search/point_in_time/_all", &[], list),
    route(&[Method::Delete], "/_search/point_in_time/_all", &[], close_all),
];

fn open(app: &App, request: &Request) -> Result<Response> {
    let Some(keep_alive_ms) = request.time_ms("keep_alive")? else {
        return Err(RequestError::validation(["keep alive not specified"]));
    };
    let wanted = OpenPointInTime {
        expression: request.path("index"),
        options: indices_options(request, IndicesOptions::SEARCH)?,
        placement: placement(request),
        index_filter: None,
        allow_partial: request.flag_or("allow_partial_pit_creation", true)?,
        keep_alive_ms,
    };
    let (id, shards) = app.node.open_point_in_time(&wanted).map_err(|error| refused(&error))?;
    let opened = app.node.points_in_time().into_iter().find(|point| point.id == id);
    let creation_time = opened.map(|point| point.created_millis);
    Ok(Response::ok(json!({"pit_id": id, "_shards": shards.to_json(), "creation_time": creation_time})))
}

/// Returns the ids in a body's member `pit_id`: a string or a list.
pub(in crate::rest) fn ids(body: &Value) -> Result<Vec<String>> {
    if let Some(other) = body.as_object().and_then(|members| members.keys().find(|key| *key != "pit_id")) {
        return Err(RequestError::illegal_argument(format!(
            "Unknown parameter [{other}] in request body or parameter is of the wrong type[FIELD_NAME]. "
        )));
    }
    let wrong = || RequestError::illegal_argument("pit_id array element should only contain pit_id");
    let ids: Vec<String> = match &body["pit_id"] {
        Value::String(id) => vec![id.clone()],
        Value::Array(list) => {
            let ids = list.iter().map(|id| id.as_str().map(str::to_owned));
            ids.collect::<Option<_>>().ok_or_else(wrong)?
        }
        Value::Null => Vec::new(),
        _ => return Err(wrong()),
    };
    match ids.is_empty() {
        true => Err(RequestError::validation(["no pit ids specified"])),
        false => Ok(ids),
    }
}

fn close(app: &App, request: &Request) -> Result<Response> {
    closed(app, ids(&request.json_required()?)?)
}

fn close_all(app: &App, _: &Request) -> Result<Response> {
    closed(app, app.node.points_in_time().into_iter().map(|point| point.id).collect())
}

/// Closes points in time. An unknown one counts as closed.
fn closed(app: &App, ids: Vec<String>) -> Result<Response> {
    for id in &ids {
        app.node.close_point_in_time(id)?;
    }
    let pits: Vec<Value> = ids.iter().map(|id| json!({"successful": true, "pit_id": id})).collect();
    Ok(Response::ok(json!({ "pits": pits })))
}

fn list(app: &App, _: &Request) -> Result<Response> {
    let shown = app.node.points_in_time().into_iter().map(|point| {
        json!({"pit_id": point.id, "creation_time": point.created_millis, "keep_alive": point.keep_alive_ms})
    });
    let pits: Vec<Value> = shown.collect();
    Ok(Response::ok(json!({ "pits": pits })))
}
