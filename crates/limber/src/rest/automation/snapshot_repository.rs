//! Snapshot repositories: put, get, verify, clean up, delete.

use limber_engine::Result;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::generic as route;
use crate::rest::{App, Route};

const CHANGE: &[&str] = &["timeout", "master_timeout"];
const PUT: &[&str] = &["timeout", "master_timeout", "verify"];
const GET: &[&str] = &["local", "master_timeout"];

/// The endpoints of this file (`_snapshot`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_snapshot", GET, get),
    route(&[Method::Get], "/_snapshot/{repository}", GET, get),
    route(&[Method::Put, Method::Post], "/_snapshot/{repository}", PUT, put),
    route(&[Method::Delete], "/_snapshot/{repository}", CHANGE, delete),
    route(&[Method::Post], "/_snapshot/{repository}/_verify", CHANGE, verify),
    route(&[Method::Post], "/_snapshot/{repository}/_cleanup", CHANGE, cleanup),
];

fn get(app: &App, request: &Request) -> Result<Response> {
    // Parsed only: the master and this node are the same.
    request.flag("local")?;
    Ok(Response::ok(app.node.get_repositories(request.param("repository").unwrap_or(""))?))
}

fn put(app: &App, request: &Request) -> Result<Response> {
    let verify = request.flag_or("verify", true)?;
    app.node.put_repository(request.path("repository"), &request.json_required()?, verify)?;
    Ok(Response::acknowledged())
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_repositories(request.path("repository"))?;
    Ok(Response::acknowledged())
}

fn verify(app: &App, request: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.verify_repository(request.path("repository"))?))
}

fn cleanup(app: &App, request: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.cleanup_repository(request.path("repository"))?))
}
