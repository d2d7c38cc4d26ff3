//! `_migration`: what a later version would no longer support. Limber reads what it wrote, so nothing has to
//! be upgraded.

use limber_engine::{IndicesOptions, Result};
use serde_json::json;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::{generic as slow, management as route};
use crate::rest::{App, Route};

/// The endpoints of this file (`_migration`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_migration/deprecations", &[], deprecations),
    route(&[Method::Get], "/{index}/_migration/deprecations", &[], deprecations),
    route(&[Method::Get], "/_migration/system_features", &["master_timeout"], features),
    route(&[Method::Post], "/_migration/system_features", &["master_timeout"], upgrade),
    slow(&[Method::Put, Method::Post], "/_create_from/{source}/{dest}", &[], create_from),
];

/// Returns no deprecations: unsupported settings and mappings are already refused when they are set.
fn deprecations(app: &App, request: &Request) -> Result<Response> {
    if let Some(expression) = request.param("index") {
        app.node.resolve(expression, IndicesOptions::METADATA_OPEN_CLOSED)?;
    }
    Ok(Response::ok(json!({
        "cluster_settings": [],
        "node_settings": [],
        "index_settings": {},
        "data_streams": {},
        "templates": {},
        "ilm_policies": {},
        "ml_settings": [],
    })))
}

/// Reports that there are no system indices to migrate.
fn features(_: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(json!({ "features": [], "migration_status": "NO_MIGRATION_NEEDED" })))
}

fn upgrade(_: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(json!({ "accepted": false, "reason": "No system indices require migration" })))
}

fn create_from(app: &App, request: &Request) -> Result<Response> {
    let (source, dest, body) = (request.path("source"), request.path("dest"), request.json()?);
    Ok(super::index::created(&app.node.create_index_from(source, dest, body.as_ref())?))
}
