//! `_search/scroll`: returns the next page of a scroll, or closes it.

use limber_engine::Result;
use limber_mapping::{RequestError, token};
use serde_json::{Value, json};

use super::search::{ContextIds, refused, render};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request, parse_time_ms};
use crate::http::response::Response;
use crate::rest::{App, Route};

const BOTH: &[Method] = &[Method::Get, Method::Post];
const NEXT: &[&str] = &["scroll", "scroll_id", "rest_total_hits_as_int"];

/// The endpoints of this file (`_search`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    Route { methods: BOTH, path: "/_search/scroll", parameters: NEXT, pool: PoolName::Search, handler: next },
    Route {
        methods: BOTH,
        path: "/_search/scroll/{scroll_id}",
        parameters: NEXT,
        pool: PoolName::Search,
        handler: next,
    },
    Route {
        methods: &[Method::Delete],
        path: "/_search/scroll",
        parameters: &["scroll_id"],
        pool: PoolName::Search,
        handler: clear,
    },
    Route {
        methods: &[Method::Delete],
        path: "/_search/scroll/{scroll_id}",
        parameters: &[],
        pool: PoolName::Search,
        handler: clear,
    },
];

fn next(app: &App, request: &Request) -> Result<Response> {
    let (mut id, mut keep_alive) =
        (request.param("scroll_id").map(str::to_owned), request.param("scroll").map(str::to_owned));
    if let Some(body) = request.json()? {
        let Some(object) = body.as_object() else {
            return Err(RequestError::illegal_argument("Malformed content, must start with an object"));
        };
        for (name, value) in object {
            match (name.as_str(), value) {
                ("scroll_id", Value::String(text)) => id = Some(text.clone()),
                ("scroll", Value::String(text)) => keep_alive = Some(text.clone()),
                (other, _) => {
                    return Err(RequestError::illegal_argument(format!(
                        "Unknown parameter [{other}] in request body or parameter is of the wrong type[{}] ",
                        token(value)
                    )));
                }
            }
        }
    }
    let id = id.ok_or_else(|| RequestError::validation(["scrollId is missing"]))?;
    let keep_alive_ms = keep_alive.map(|text| parse_time_ms("scroll", &text)).transpose()?;
    let found =
        app.node.scroll(&id, keep_alive_ms, request.cancelled.clone()).map_err(|error| refused(&error))?;
    let total_as_int = request.flag_or("rest_total_hits_as_int", false)?;
    let ids = ContextIds { scroll_id: Some(&id), ..ContextIds::default() };
    Ok(Response::raw(200, render(app, &found, ids, total_as_int)?))
}

fn clear(app: &App, request: &Request) -> Result<Response> {
    let mut ids = request.list("scroll_id");
    if let Some(body) = request.json()? {
        ids.clear();
        for (name, value) in body.as_object().into_iter().flatten() {
            match (name.as_str(), value) {
                ("scroll_id", Value::String(text)) => ids.push(text.clone()),
                ("scroll_id", Value::Array(items)) => {
                    for item in items {
                        let text = item.as_str().ok_or_else(|| {
                            RequestError::illegal_argument(
                                "scroll_id array element should only contain scroll_id",
                            )
                        })?;
                        ids.push(text.to_owned());
                    }
                }
                (other, value) => {
                    return Err(RequestError::illegal_argument(format!(
                        "Unknown parameter [{other}] in request body or parameter is of the wrong type[{}] ",
                        token(value)
                    )));
                }
            }
        }
    }
    if ids.is_empty() {
        return Err(RequestError::validation(["no scroll ids specified"]));
    }
    let freed = app.node.clear_scroll(&ids.iter().map(String::as_str).collect::<Vec<_>>())?;
    Ok(Response::json(if freed == 0 { 404 } else { 200 }, json!({"succeeded": true, "num_freed": freed})))
}
