//! Maintenance of shards: refresh, flush, force merge, cache clearing.

use limber_engine::{ForceMergeRequest, IndicesOptions, Result};
use limber_mapping::RequestError;
use serde_json::json;

use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const REFRESH: &[&str] = with_indices_options![];
const FLUSH: &[&str] = with_indices_options!["force", "wait_if_ongoing"];
const MERGE: &[&str] = with_indices_options![
    "max_num_segments",
    "only_expunge_deletes",
    "flush",
    "wait_for_completion",
    "primary_only"
];
const CLEAR: &[&str] = with_indices_options!["query", "fielddata", "fields", "file", "request", "index"];

const fn on(pool: PoolName, route: Route) -> Route {
    Route { pool, ..route }
}

const BOTH: &[Method] = &[Method::Get, Method::Post];

/// The endpoints of this file (`_refresh`, `_flush`, `_forcemerge`, `_cache`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(BOTH, "/_refresh", REFRESH, refresh),
    route(BOTH, "/{index}/_refresh", REFRESH, refresh),
    on(PoolName::Flush, route(BOTH, "/_flush", FLUSH, flush)),
    on(PoolName::Flush, route(BOTH, "/{index}/_flush", FLUSH, flush)),
    on(PoolName::Flush, route(BOTH, "/_flush/synced", FLUSH, flush_synced)),
    on(PoolName::Flush, route(BOTH, "/{index}/_flush/synced", FLUSH, flush_synced)),
    on(PoolName::ForceMerge, route(&[Method::Post], "/_forcemerge", MERGE, force_merge)),
    on(PoolName::ForceMerge, route(&[Method::Post], "/{index}/_forcemerge", MERGE, force_merge)),
    route(&[Method::Post], "/_cache/clear", CLEAR, clear_cache),
    route(&[Method::Post], "/{index}/_cache/clear", CLEAR, clear_cache),
];

fn refresh(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::BROADCAST)?;
    let shards = app.node.refresh(request.param("index").unwrap_or("_all"), options)?;
    Ok(Response::ok(json!({"_shards": shards.to_json()})))
}

fn flush(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::BROADCAST)?;
    let force = request.flag_or("force", false)?;
    if force && !request.flag_or("wait_if_ongoing", true)? {
        return Err(RequestError::validation(["wait_if_ongoing must be true for a force flush"]));
    }
    let shards = app.node.flush(request.param("index").unwrap_or("_all"), options, force)?;
    Ok(Response::ok(json!({"_shards": shards.to_json()})))
}

/// OpenSearch and Elasticsearch 7 still accept the synced flush, and carry out an ordinary one.
fn flush_synced(app: &App, request: &Request) -> Result<Response> {
    limber_work::warn(
        "Synced flush was removed and a normal flush was performed instead. This transition will be removed in a future version.",
    );
    flush(app, request)
}

fn force_merge(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::BROADCAST)?;
    let merge = ForceMergeRequest {
        max_num_segments: request.number::<i64>("max_num_segments")?.and_then(|n| u32::try_from(n).ok()),
        only_expunge_deletes: request.flag_or("only_expunge_deletes", false)?,
        flush: request.flag_or("flush", true)?,
    };
    if merge.only_expunge_deletes && merge.max_num_segments.is_some() {
        return Err(RequestError::validation([
            "cannot set only_expunge_deletes and max_num_segments at the same time, those two parameters are mutually exclusive",
        ]));
    }
    // OpenSearch's. There are no copies to leave out.
    request.flag("primary_only")?;
    let index = request.param("index").unwrap_or("_all");
    if !request.flag_or("wait_for_completion", true)? {
        let node = app.node.clone();
        let index = index.to_owned();
        let description = format!("Force-merge indices [{index}], maxSegments[{:?}]", merge.max_num_segments);
        let task = app.node.tasks().spawn("indices:admin/forcemerge", description, move || {
            node.force_merge(&index, options, &merge).map(|shards| json!({"_shards": shards.to_json()}))
        })?;
        return Ok(Response::ok(json!({"task": task})));
    }
    let shards = app.node.force_merge(index, options, &merge)?;
    Ok(Response::ok(json!({"_shards": shards.to_json()})))
}

fn clear_cache(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::BROADCAST)?;
    let (queries, requests, fielddata) =
        (request.flag("query")?, request.flag("request")?, request.flag("fielddata")?);
    // OpenSearch's cache of files in a remote store, which does not exist here.
    let files = request.flag("file")?;
    let names_one =
        [queries, requests, fielddata, files].contains(&Some(true)) || request.param("fields").is_some();
    // If no cache is named, all are cleared. Of field data only the statistics are kept.
    let (queries, requests) = (queries.unwrap_or(!names_one), requests.unwrap_or(!names_one));
    let fielddata = fielddata.unwrap_or(!names_one);
    let index = request.param("index").unwrap_or("_all");
    let shards = app.node.clear_cache(index, options, requests, queries, fielddata)?;
    Ok(Response::ok(json!({"_shards": shards.to_json()})))
}
