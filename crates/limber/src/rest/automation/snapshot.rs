//! Snapshots: create, show, delete, clone, restore.

use limber_engine::{Result, SnapshotQuery};
use limber_mapping::RequestError;
use serde_json::Value;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::human::{with_words, with_words_beside};
use crate::rest::router::generic as route;
use crate::rest::{App, Route};

/// The member of a snapshot that its user wrote.
const WRITTEN: &[&str] = &["metadata"];

const WAIT: &[&str] = &["wait_for_completion", "master_timeout"];
const STATUS: &[&str] = &["ignore_unavailable", "master_timeout"];
const GET: &[&str] = &[
    "ignore_unavailable",
    "verbose",
    "index_names",
    "index_details",
    "include_repository",
    "sort",
    "size",
    "offset",
    "order",
    "after",
    "from_sort_value",
    "slm_policy_filter",
    "state",
    "master_timeout",
];

/// The endpoints of this file (`_snapshot`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_snapshot/_status", STATUS, status),
    route(&[Method::Get], "/_snapshot/{repository}/_status", STATUS, status),
    route(&[Method::Get], "/_snapshot/{repository}/{snapshot}/_status", STATUS, status),
    route(&[Method::Put, Method::Post], "/_snapshot/{repository}/{snapshot}", WAIT, create),
    route(&[Method::Get], "/_snapshot/{repository}/{snapshot}", GET, get),
    route(&[Method::Delete], "/_snapshot/{repository}/{snapshot}", WAIT, delete),
    route(&[Method::Put], "/_snapshot/{repository}/{snapshot}/_clone/{target}", &["master_timeout"], clone),
    route(&[Method::Post], "/_snapshot/{repository}/{snapshot}/_restore", WAIT, restore),
];

fn create(app: &App, request: &Request) -> Result<Response> {
    let body = request.json()?.unwrap_or(Value::Null);
    let wait = request.flag_or("wait_for_completion", false)?;
    let (repository, snapshot) = (request.path("repository"), request.path("snapshot"));
    let shown = app.node.create_snapshot(repository, snapshot, &body, wait)?;
    Ok(Response::ok(with_words_beside(request, shown, WRITTEN)?))
}

fn get(app: &App, request: &Request) -> Result<Response> {
    let is_descending = match request.param("order") {
        None | Some("asc") => false,
        Some("desc") => true,
        Some(other) => {
            return Err(RequestError::illegal_argument(format!("Unknown sort order [{other}]")));
        }
    };
    // In Elasticsearch, -1 means all.
    let size = match request.number::<i64>("size")? {
        None | Some(-1) => None,
        Some(size @ 1..) => Some(size as usize),
        Some(size) => return Err(RequestError::illegal_argument(format!("invalid size [{size}]"))),
    };
    let query = SnapshotQuery {
        snapshots: request.path("snapshot").to_owned(),
        ignore_unavailable: request.flag_or("ignore_unavailable", false)?,
        verbose: request.flag_or("verbose", true)?,
        index_names: request.flag_or("index_names", true)?,
        index_details: request.flag_or("index_details", false)?,
        include_repository: request.flag_or("include_repository", true)?,
        sort: request.param("sort").map(str::to_owned),
        size,
        offset: request.number("offset")?.unwrap_or(0),
        is_descending,
        after: request.param("after").map(str::to_owned),
        from_sort_value: request.param("from_sort_value").map(str::to_owned),
        policies: request.param("slm_policy_filter").map(str::to_owned),
        states: request.param("state").map(str::to_owned),
    };
    let shown = app.node.get_snapshots(request.path("repository"), &query)?;
    Ok(Response::ok(with_words_beside(request, shown, WRITTEN)?))
}

fn status(app: &App, request: &Request) -> Result<Response> {
    let ignore_unavailable = request.flag_or("ignore_unavailable", false)?;
    let repository = request.param("repository").unwrap_or("_all");
    let body = app.node.snapshot_status(repository, request.param("snapshot"), ignore_unavailable)?;
    Ok(Response::ok(with_words(request, body)?))
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    let wait = request.flag_or("wait_for_completion", true)?;
    let (repository, snapshots) = (request.path("repository"), request.path("snapshot"));
    Ok(Response::ok(app.node.delete_snapshots(repository, snapshots, wait)?))
}

fn clone(app: &App, request: &Request) -> Result<Response> {
    let body = request.json_required()?;
    let (repository, snapshot) = (request.path("repository"), request.path("snapshot"));
    app.node.clone_snapshot(repository, snapshot, request.path("target"), &body)?;
    Ok(Response::acknowledged())
}

fn restore(app: &App, request: &Request) -> Result<Response> {
    let body = request.json()?.unwrap_or(Value::Null);
    let wait = request.flag_or("wait_for_completion", false)?;
    let (repository, snapshot) = (request.path("repository"), request.path("snapshot"));
    Ok(Response::ok(app.node.restore_snapshot(repository, snapshot, &body, wait)?))
}
