//! `_async_search`: searches whose results are fetched later.
//!
//! Not compared with a running server, because this API is part of X-Pack. Responses follow Elasticsearch's
//! documentation of 8.14.

use limber_engine::{AsyncSearch, IndicesOptions, Result};
use limber_mapping::RequestError;
use limber_search::{SearchRequest, UrlParameters};
use serde_json::{Value, json};

use super::search::{
    ContextIds, beginning, check_clusters, check_lonely_parameters, check_shared_parameters, placement,
    refused, render,
};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::{Response, error_body};
use crate::http::status;
use crate::rest::human::with_words;
use crate::rest::options::{indices_options, with_search_options};
use crate::rest::{App, Route};

const SUBMIT: &[&str] = with_search_options![
    "keep_alive",
    "keep_on_completion",
    "pre_filter_shard_size",
    "scroll",
    "suggest_field",
    "suggest_mode",
    "suggest_size",
    "suggest_text",
    "wait_for_completion_timeout",
];
const GET: &[&str] = &[
    "keep_alive",
    "rest_total_hits_as_int",
    "return_intermediate_results",
    "typed_keys",
    "wait_for_completion_timeout",
];

const fn submit_route(path: &'static str) -> Route {
    Route { methods: &[Method::Post], path, parameters: SUBMIT, pool: PoolName::Search, handler: submit }
}

/// The endpoints of this file (`_async_search`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    submit_route("/_async_search"),
    submit_route("/{index}/_async_search"),
    Route {
        methods: &[Method::Get],
        path: "/_async_search/status/{id}",
        parameters: &["keep_alive"],
        pool: PoolName::Management,
        handler: status,
    },
    Route {
        methods: &[Method::Get],
        path: "/_async_search/{id}",
        parameters: GET,
        pool: PoolName::Search,
        handler: get,
    },
    Route {
        methods: &[Method::Delete],
        path: "/_async_search/{id}",
        parameters: &[],
        pool: PoolName::Management,
        handler: delete,
    },
];

/// Defaults. Source: `SubmitAsyncSearchRequest`.
const WAIT_MS: u64 = 1_000;
const KEEP_ALIVE_MS: u64 = 5 * 24 * 3_600_000;
const BATCHED_REDUCE_SIZE: u32 = 5;
const PRE_FILTER_SHARDS: u32 = 1;

fn submit(app: &App, request: &Request) -> Result<Response> {
    check_lonely_parameters(request)?;
    let body = request.json()?.unwrap_or(Value::Null);
    let mut search = SearchRequest {
        text: Some(beginning(&request.body)),
        ..SearchRequest::parse(&body, &UrlParameters(request.query.clone()))?
    };
    search.batched_reduce_size.get_or_insert(BATCHED_REDUCE_SIZE);
    search.pre_filter_shard_size.get_or_insert(PRE_FILTER_SHARDS);
    app.search_usage.note(&body);
    check_kind(request, &search)?;
    if search.pit.is_some() {
        return Err(RequestError::unsupported("[pit] in [_async_search]"));
    }
    let total_as_int = check_shared_parameters(request, &search)?;
    check_clusters(request.param("index").unwrap_or_default())?;
    let keeps_on_completion = request.flag_or("keep_on_completion", false)?;
    let found = app.node.submit_async_search(
        request.param("index").unwrap_or("_all"),
        indices_options(request, IndicesOptions::SEARCH)?,
        placement(request),
        search,
        request.time_ms("keep_alive")?.unwrap_or(KEEP_ALIVE_MS),
        request.time_ms("wait_for_completion_timeout")?.unwrap_or(WAIT_MS),
    )?;
    let is_kept = keeps_on_completion || found.end().is_none();
    if !is_kept {
        app.node.delete_async_search(&found.id)?;
    }
    answer(app, request, &found, is_kept, total_as_int)
}

/// Refuses searches that cannot run in the background. Source: `SubmitAsyncSearchRequest#validate`.
fn check_kind(request: &Request, search: &SearchRequest) -> Result<()> {
    let mut problems = Vec::new();
    if request.param("scroll").is_some() {
        problems.push("[scroll] queries are not supported");
    }
    if search.is_suggest_only() {
        problems.push("suggest-only queries are not supported");
    }
    if request.number::<i64>("pre_filter_shard_size")?.is_some_and(|shards| shards != 1) {
        problems.push("[pre_filter_shard_size] cannot be changed for async search queries");
    }
    if problems.is_empty() { Ok(()) } else { Err(RequestError::validation(problems)) }
}

fn get(app: &App, request: &Request) -> Result<Response> {
    request.flag("typed_keys")?;
    // There are no results before the end, so there is none to leave out.
    request.flag("return_intermediate_results")?;
    let wait_ms = request.time_ms("wait_for_completion_timeout")?.unwrap_or(0);
    let found = app.node.async_search(request.path("id"), request.time_ms("keep_alive")?, wait_ms)?;
    answer(app, request, &found, true, request.flag_or("rest_total_hits_as_int", false)?)
}

fn status(app: &App, request: &Request) -> Result<Response> {
    let found = app.node.async_search(request.path("id"), request.time_ms("keep_alive")?, 0)?;
    let end = found.end();
    let outcome = end.as_ref().map(|end| end.outcome.as_ref());
    let mut shards = pending_shards(&found);
    if let Some(Ok(response)) = outcome {
        shards = response.shards.to_json();
    }
    let mut body = json!({
        "id": found.id,
        "is_running": end.is_none(),
        "is_partial": !matches!(outcome, Some(Ok(_))),
        "start_time_in_millis": found.start_millis,
        "expiration_time_in_millis": found.expires_millis(),
    });
    if let Some(end) = &end {
        body["completion_time_in_millis"] = end.millis.into();
    }
    body["_shards"] = shards;
    match outcome {
        Some(Ok(_)) => body["completion_status"] = 200.into(),
        Some(Err(error)) => body["completion_status"] = status::of_error(error.class()).into(),
        None => {}
    }
    Ok(Response::ok(with_words(request, body)?))
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_async_search(request.path("id"))?;
    Ok(Response::ok(json!({"acknowledged": true})))
}

fn pending_shards(search: &AsyncSearch) -> Value {
    json!({"total": search.shard_count, "successful": 0, "skipped": 0, "failed": 0})
}

fn answer(
    app: &App,
    request: &Request,
    search: &AsyncSearch,
    shows_id: bool,
    total_as_int: bool,
) -> Result<Response> {
    let end = search.end();
    let outcome = end.as_ref().map(|end| end.outcome.as_ref());
    let mut head = serde_json::Map::new();
    if shows_id {
        head.insert("id".to_owned(), search.id.clone().into());
    }
    head.insert("is_partial".to_owned(), (!matches!(outcome, Some(Ok(_)))).into());
    head.insert("is_running".to_owned(), end.is_none().into());
    head.insert("start_time_in_millis".to_owned(), search.start_millis.into());
    head.insert("expiration_time_in_millis".to_owned(), search.expires_millis().into());
    if let Some(end) = &end {
        head.insert("completion_time_in_millis".to_owned(), end.millis.into());
    }
    let (status, name, value) = match outcome {
        Some(Ok(response)) => (200, "response", render(app, response, ContextIds::default(), total_as_int)?),
        Some(Err(error)) => {
            let error = refused(error);
            let shown = error_body(&error)["error"].take();
            (status::of_error(error.class), "error", crate::http::json::to_bytes(&shown, false))
        }
        None => {
            let total = if total_as_int { json!(0) } else { json!({"value": 0, "relation": "gte"}) };
            let response = json!({
                "took": 0,
                "timed_out": false,
                "num_reduce_phases": 0,
                "_shards": pending_shards(search),
                "hits": {"total": total, "max_score": null, "hits": []},
            });
            (200, "response", crate::http::json::to_bytes(&response, false))
        }
    };
    let head = with_words(request, Value::Object(head))?;
    let mut body = crate::http::json::to_bytes(&head, false);
    body.pop();
    body.extend_from_slice(format!(",\"{name}\":").as_bytes());
    body.extend_from_slice(&value);
    body.push(b'}');
    Ok(Response::raw(status, body))
}
