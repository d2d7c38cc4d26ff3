//! `_clone`, `_shrink` and `_split` of an index.

use limber_engine::{Resize, Result};
use limber_mapping::RequestError;
use serde_json::json;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::documents::document::active_copies;
use crate::rest::router::{Handler, generic as slow};
use crate::rest::{App, Route};

const PARAMETERS: &[&str] =
    &["copy_settings", "timeout", "master_timeout", "wait_for_active_shards", "wait_for_completion"];
const WRITE: &[Method] = &[Method::Put, Method::Post];

const fn route(path: &'static str, handler: Handler) -> Route {
    slow(WRITE, path, PARAMETERS, handler)
}

/// The endpoints of this file (`_clone`, `_shrink`, `_split`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route("/{index}/_clone/{target}", |app, request| resize(app, request, Resize::Clone)),
    route("/{index}/_shrink/{target}", |app, request| resize(app, request, Resize::Shrink)),
    route("/{index}/_split/{target}", |app, request| resize(app, request, Resize::Split)),
];

fn resize(app: &App, request: &Request, kind: Resize) -> Result<Response> {
    if !request.flag_or("copy_settings", true)? {
        let reason = "parameter [copy_settings] can not be explicitly set to [false]";
        return Err(RequestError::illegal_argument(reason));
    }
    let body = request.json()?.unwrap_or_else(|| json!({}));
    let names = (request.path("index"), request.path("target"));
    let copies = active_copies(request)?;
    let created = app.node.resize(kind, names, &body, copies, request.cancelled.clone())?;
    Ok(super::index::created(&created))
}
