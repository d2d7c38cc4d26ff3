//! `_transform`: pivots, and the latest document of each key, maintained as an index.

use std::time::{Duration, Instant};

use limber_engine::Result;
use limber_mapping::{ErrorClass, RequestError};
use serde_json::json;

use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::human::{with_words, with_words_beside};
use crate::rest::router::{generic as slow, management as route};
use crate::rest::{App, Route};

/// Members of a transform that its user wrote.
const WRITTEN: &[&str] =
    &["source", "dest", "sync", "pivot", "latest", "retention_policy", "settings", "_meta"];
const GET: &[&str] = &["allow_no_match", "exclude_generated", "from", "size"];
const STATS: &[&str] = &["allow_no_match", "from", "size", "timeout", "basic"];
const STOP: &[&str] = &["allow_no_match", "force", "timeout", "wait_for_checkpoint", "wait_for_completion"];
const BOTH: &[Method] = &[Method::Get, Method::Post];

/// The endpoints of this file (`_transform`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_transform", GET, get),
    route(&[Method::Get], "/_transform/{id}", GET, get),
    route(&[Method::Put], "/_transform/{id}", &["defer_validation", "timeout"], put),
    slow(&[Method::Delete], "/_transform/{id}", &["force", "delete_dest_index", "timeout"], delete),
    Route {
        methods: BOTH,
        path: "/_transform/_preview",
        parameters: &["timeout"],
        pool: PoolName::Search,
        handler: preview,
    },
    Route {
        methods: BOTH,
        path: "/_transform/{id}/_preview",
        parameters: &["timeout"],
        pool: PoolName::Search,
        handler: preview,
    },
    route(&[Method::Post], "/_transform/{id}/_start", &["from", "timeout"], start),
    slow(&[Method::Post], "/_transform/{id}/_stop", STOP, stop),
    slow(&[Method::Post], "/_transform/{id}/_reset", &["force", "timeout"], reset),
    route(&[Method::Post], "/_transform/{id}/_schedule_now", &["timeout"], schedule),
    route(&[Method::Post], "/_transform/{id}/_update", &["defer_validation", "timeout"], update),
    route(&[Method::Post], "/_transform/_upgrade", &["dry_run", "timeout"], upgrade),
    route(&[Method::Get], "/_transform/_node_stats", &[], node_stats),
    route(&[Method::Get], "/_transform/_stats", STATS, stats),
    route(&[Method::Get], "/_transform/{id}/_stats", STATS, stats),
];

/// Number of transforms in a response, unless the request gives a size.
const SIZE: usize = 100;
/// Polling interval of a request that waits for the end of a run.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Upgrades transforms of an older version. There are none: each has the form of this version.
fn upgrade(app: &App, request: &Request) -> Result<Response> {
    request.flag("dry_run")?;
    let all = app.node.get_transforms("_all", true, false, (0, 0))?;
    Ok(Response::ok(json!({"updated": 0, "no_action": &all["count"], "needs_update": 0})))
}

/// Returns the requested part of a list: the position of its first entry, and the number of entries.
pub(in crate::rest) fn page(request: &Request) -> Result<(usize, usize)> {
    let size = request.number("size")?.unwrap_or(SIZE);
    if size > 1_000 {
        return Err(RequestError::illegal_argument("Param [size] must be between 0 and 1000"));
    }
    Ok((request.number("from")?.unwrap_or(0), size))
}

fn get(app: &App, request: &Request) -> Result<Response> {
    let ids = request.param("id").unwrap_or("");
    let allow_no_match = request.flag_or("allow_no_match", true)?;
    let exclude_generated = request.flag_or("exclude_generated", false)?;
    let shown = app.node.get_transforms(ids, allow_no_match, exclude_generated, page(request)?)?;
    Ok(Response::ok(with_words_beside(request, shown, WRITTEN)?))
}

fn put(app: &App, request: &Request) -> Result<Response> {
    let defers = request.flag_or("defer_validation", false)?;
    app.node.put_transform(request.path("id"), &request.json_required()?, defers)?;
    Ok(Response::acknowledged())
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    let force = request.flag_or("force", false)?;
    app.node.delete_transform(request.path("id"), force, request.flag_or("delete_dest_index", false)?)?;
    Ok(Response::acknowledged())
}

fn preview(app: &App, request: &Request) -> Result<Response> {
    let body = request.json()?;
    Ok(Response::ok(app.node.preview_transform(request.param("id"), body.as_ref())?))
}

fn start(app: &App, request: &Request) -> Result<Response> {
    if request.param("from").is_some() {
        return Err(RequestError::unsupported("parameter [from] of the start of a transform"));
    }
    app.node.start_transform(request.path("id"))?;
    Ok(Response::acknowledged())
}

fn stop(app: &App, request: &Request) -> Result<Response> {
    let ids = request.path("id");
    request.flag_or("force", false)?;
    if request.flag_or("wait_for_checkpoint", false)? {
        return Err(RequestError::unsupported("parameter [wait_for_checkpoint] of the end of a transform"));
    }
    app.node.stop_transforms(ids, request.flag_or("allow_no_match", true)?)?;
    if request.flag_or("wait_for_completion", false)? {
        let timeout = Duration::from_millis(request.time_ms("timeout")?.unwrap_or(30_000).min(3_600_000));
        let begun = Instant::now();
        while app.node.is_transforming(ids)? {
            if begun.elapsed() > timeout {
                let reason = format!(
                    "Timed out after [{}ms] while waiting for the transform to stop",
                    timeout.as_millis()
                );
                return Err(RequestError::new(ErrorClass::RequestTimeout, "status_exception", reason));
            }
            limber_work::check()?;
            std::thread::sleep(LOOK_EVERY);
        }
    }
    Ok(Response::acknowledged())
}

fn reset(app: &App, request: &Request) -> Result<Response> {
    app.node.reset_transform(request.path("id"), request.flag_or("force", false)?)?;
    Ok(Response::acknowledged())
}

fn schedule(app: &App, request: &Request) -> Result<Response> {
    app.node.schedule_transform(request.path("id"))?;
    Ok(Response::acknowledged())
}

fn update(app: &App, request: &Request) -> Result<Response> {
    request.flag_or("defer_validation", false)?;
    Ok(Response::ok(app.node.update_transform(request.path("id"), &request.json_required()?)?))
}

fn stats(app: &App, request: &Request) -> Result<Response> {
    let allow_no_match = request.flag_or("allow_no_match", true)?;
    let ids = request.param("id").unwrap_or("");
    let shown = app.node.transform_stats(ids, allow_no_match, page(request)?)?;
    Ok(Response::ok(with_words(request, shown)?))
}

/// Returns how many transforms each node has scheduled: the node, and the sum.
///
/// Source: `TransformNodeStats`.
fn node_stats(app: &App, _: &Request) -> Result<Response> {
    let all = app.node.transform_stats("", true, (0, usize::MAX))?;
    let transforms = all["transforms"].as_array().into_iter().flatten();
    let scheduled = transforms.filter(|transform| transform["state"] != "stopped").count();
    let shown = json!({"scheduler": {"registered_transform_count": scheduled}});
    Ok(Response::ok(json!({"total": shown, app.node.node_id(): shown})))
}
