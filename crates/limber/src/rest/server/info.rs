//! `GET /`: which server is this? Clients check the product header and the version here.

use limber_codec::hex::hex;
use limber_engine::Result;
use serde_json::json;

use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::{App, Route};

/// The endpoints of this file (`/`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[Route {
    methods: &[Method::Get, Method::Head],
    path: "/",
    parameters: &[],
    pool: PoolName::Management,
    handler: info,
}];

/// Returns Lucene's version in the Elasticsearch release that this server claims to be. Clients only print
/// it.
fn lucene_version(compat_version: &str) -> &'static str {
    match compat_version.split('.').next() {
        Some("7") => "8.11.3",
        Some("9") => "10.1.0",
        _ => "9.11.1",
    }
}

fn info(app: &App, request: &Request) -> Result<Response> {
    if app.config.is_page_enabled && request.prefers_html {
        return Ok(super::page::page());
    }
    let version = &app.config.compat_version;
    Ok(Response::ok(json!({
        "name": app.node.config().node_name,
        "cluster_name": app.node.config().cluster_name,
        "cluster_uuid": app.node.cluster_uuid(),
        "version": {
            "number": version,
            "build_flavor": "default",
            "build_type": "tar",
            "build_hash": build_hash(),
            "build_date": "2026-01-01T00:00:00.000000000Z",
            "build_snapshot": false,
            "lucene_version": lucene_version(version),
            "minimum_wire_compatibility_version": "7.17.0",
            "minimum_index_compatibility_version": "7.0.0"
        },
        "tagline": "You Know, for Search"
    })))
}

/// Returns a stand-in for the commit of the build, in Elasticsearch's shape (40 hexadecimal digits). It is
/// derived from Limber's version.
pub fn build_hash() -> String {
    let version = concat!("limber-", env!("CARGO_PKG_VERSION"));
    let bytes: Vec<u8> = version.bytes().chain(std::iter::repeat(0)).take(20).collect();
    hex(&bytes)
}
