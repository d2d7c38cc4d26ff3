//! `_search`: hits and aggregations of some or all indices.

use std::sync::Arc;

use limber_engine::{IndicesOptions, Placement, Result};
use limber_mapping::RequestError;
use limber_search::{Rendering, SearchRequest, SearchResponse, UrlParameters};
use serde_json::Value;

use super::point_in_time::check_not_with_point_in_time;
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_search_options};
use crate::rest::{App, Route};

/// URL parameters of a search.
pub const PARAMETERS: &[&str] = with_search_options![
    "force_synthetic_source",
    "min_compatible_shard_node",
    "phase_took",
    "pre_filter_shard_size",
    "scroll",
    "suggest_field",
    "suggest_mode",
    "suggest_size",
    "suggest_text",
];

/// URL parameters of a search by template.
pub const TEMPLATE_PARAMETERS: &[&str] = with_search_options![
    "min_compatible_shard_node",
    "phase_took",
    "pre_filter_shard_size",
    "profile",
    "scroll",
];

const BOTH: &[Method] = &[Method::Get, Method::Post];

/// The endpoints of this file (`_search`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    Route {
        methods: BOTH,
        path: "/_search",
        parameters: PARAMETERS,
        pool: PoolName::Search,
        handler: search,
    },
    Route {
        methods: BOTH,
        path: "/{index}/_search",
        parameters: PARAMETERS,
        pool: PoolName::Search,
        handler: search,
    },
];

/// Parameters that only make sense with `q`, and those that only make sense with `suggest_field`.
const OF_QUERY: [&str; 5] = ["analyze_wildcard", "analyzer", "default_operator", "df", "lenient"];
const OF_SUGGESTER: [&str; 3] = ["suggest_mode", "suggest_size", "suggest_text"];

/// Refuses parameters whose main parameter is missing.
pub(in crate::rest) fn check_lonely_parameters(request: &Request) -> Result<()> {
    let path = request.uri.split('?').next().unwrap_or_default();
    let told = |names: &[&str], missing: &str| {
        let given: Vec<&str> = names.iter().copied().filter(|name| request.param(name).is_some()).collect();
        let reason =
            format!("request [{path}] contains parameters [{}] but missing {missing}.", given.join(", "));
        if given.is_empty() { Ok(()) } else { Err(RequestError::illegal_argument(reason)) }
    };
    if request.param("q").is_none() {
        told(&OF_QUERY, "query string parameter 'q'")?;
    }
    if request.param("suggest_field").is_none() {
        told(&OF_SUGGESTER, "'suggest_field' parameter")?;
    }
    Ok(())
}

fn search(app: &App, request: &Request) -> Result<Response> {
    check_lonely_parameters(request)?;
    run(app, request, request.json_alone()?.unwrap_or(Value::Null))
}

/// Runs the search with this body and renders the response.
pub fn run(app: &App, request: &Request, body: Value) -> Result<Response> {
    let mut parsed = SearchRequest {
        text: Some(beginning(&request.body)),
        ..SearchRequest::parse(&body, &UrlParameters(request.query.clone()))?
    };
    without_default_pipeline(&mut parsed, request.param("index"));
    app.search_usage.note(&body);
    let total_as_int = check_shared_parameters(request, &parsed)?;
    let options = indices_options(request, IndicesOptions::SEARCH)?;
    check_not_with_point_in_time(
        &parsed,
        request.param("index"),
        options,
        request.param("routing"),
        request.param("preference"),
    )?;
    check_clusters(request.param("index").unwrap_or_default())?;
    let keep_alive_ms = request.time_ms("scroll")?;
    let (found, scroll_id) = app
        .node
        .search(
            request.param("index").unwrap_or("_all"),
            options,
            placement(request),
            &parsed,
            keep_alive_ms,
            request.cancelled.clone(),
        )
        .map_err(|error| refused(&error))?;
    let pit_id = parsed.pit.as_ref().map(|point| point.id.as_str());
    let phase_took = request.flag_or("phase_took", false)?;
    let ids = ContextIds { scroll_id: scroll_id.as_deref(), pit_id, phase_took };
    Ok(Response::raw(200, render(app, &found, ids, total_as_int)?))
}

/// Refuses indices of other clusters (`cluster:index`), of which none are known.
pub fn check_clusters(expression: &str) -> Result<()> {
    for part in expression.split(',').filter(|part| !part.starts_with(['<', '-'])) {
        // `index::failures` names a part of an index, and no cluster matches a pattern.
        if let Some((cluster, index)) = part.split_once(':')
            && !cluster.is_empty()
            && !cluster.contains('*')
            && !index.starts_with(':')
        {
            let reason = format!("no such remote cluster: [{cluster}]");
            return Err(RequestError::not_found("no_such_remote_cluster_exception", reason));
        }
    }
    Ok(())
}

/// Disables default search pipelines for a search that names no indices, as in OpenSearch: it also covers
/// indices without such a pipeline.
pub fn without_default_pipeline(parsed: &mut SearchRequest, index: Option<&str>) {
    if index.is_none() && parsed.pipeline.is_none() {
        parsed.pipeline = Some("_none".into());
    }
}

/// Returns the beginning of a body, for slow logs.
pub fn beginning(body: &[u8]) -> Arc<str> {
    const SHOWN_BYTES: usize = 1000;
    String::from_utf8_lossy(&body[..body.len().min(SHOWN_BYTES)]).into()
}

/// Returns the routing and preference in the URL.
pub fn placement(request: &Request) -> Placement<'_> {
    Placement { routing: request.param("routing"), preference: request.param("preference") }
}

/// Converts a search's error, including the root causes of its shards.
pub fn refused(error: &limber_search::Error) -> RequestError {
    error.to_request_error().with("root_cause", error.root_causes())
}

/// What a response names besides its hits.
#[derive(Default)]
pub struct ContextIds<'r> {
    pub scroll_id: Option<&'r str>,
    pub pit_id: Option<&'r str>,
    /// Whether the times of the phases are shown.
    pub phase_took: bool,
}

/// Renders the response.
///
/// # Errors
/// There is not enough memory for it, or the client has disconnected.
pub fn render(
    app: &App,
    response: &SearchResponse,
    ids: ContextIds<'_>,
    total_as_int: bool,
) -> Result<Vec<u8>> {
    let hit_bytes = response.hits.iter().map(|hit| hit.source.as_ref().map_or(64, Vec::len) + 96);
    let room_bytes = 512 + hit_bytes.sum::<usize>();
    limber_work::claim(room_bytes as u64)?;
    let mut out = Vec::with_capacity(room_bytes);
    let written = response.write_json(
        &mut out,
        &Rendering {
            total_as_int,
            scroll_id: ids.scroll_id,
            pit_id: ids.pit_id,
            node_id: app.node.node_id(),
            phase_took: ids.phase_took,
        },
    );
    written.map_err(|error| refused(&error))?;
    Ok(out)
}

/// Checks the syntax of hints for the execution, which cannot change the result: batch sizes and concurrency.
pub(super) fn check_hints(request: &Request) -> Result<()> {
    request.flag("ccs_minimize_roundtrips")?;
    for (name, shown, least) in [
        ("batched_reduce_size", "batchedReduceSize", 2),
        ("max_concurrent_shard_requests", "maxConcurrentShardRequests", 1),
        ("pre_filter_shard_size", "preFilterShardSize", 1),
    ] {
        if request.number::<i64>(name)?.is_some_and(|value| value < least) {
            return Err(RequestError::illegal_argument(format!("{shown} must be >= {least}")));
        }
    }
    Ok(())
}

/// Checks the parameters that can only be in the URL. Returns whether totals are printed as plain numbers.
pub fn check_shared_parameters(request: &Request, parsed: &SearchRequest) -> Result<bool> {
    request.flag("typed_keys")?;
    for name in ["analyze_wildcard", "lenient", "request_cache", "allow_partial_search_results"] {
        request.flag(name)?;
    }
    check_hints(request)?;
    if request.param("scroll").is_some() {
        parsed.validate_scroll()?;
        // An empty value is none.
        if request.param("request_cache") == Some("true") {
            return Err(RequestError::validation(["[request_cache] cannot be used in a scroll context"]));
        }
    } else {
        parsed.validate_slice()?;
    }
    let total_as_int = request.flag_or("rest_total_hits_as_int", false)?;
    if total_as_int {
        check_total_as_int(parsed)?;
    }
    Ok(total_as_int)
}

/// Checks that the total is exact, which `rest_total_hits_as_int` needs. Source:
/// `RestSearchAction#validateSearchRequest`.
pub fn check_total_as_int(parsed: &SearchRequest) -> Result<()> {
    if let limber_search::request::TrackTotalHits::UpTo(limit) = parsed.track_total_hits
        && parsed.track_total_hits != limber_search::request::TrackTotalHits::DEFAULT
    {
        return Err(RequestError::illegal_argument(format!(
            "[rest_total_hits_as_int] cannot be used if the tracking of total hits is not accurate, got {limit}"
        )));
    }
    Ok(())
}
