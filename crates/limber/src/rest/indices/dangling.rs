//! `_dangling`: indices whose folders exist although the node does not list them.

use limber_engine::Result;
use serde_json::json;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::generic as route;
use crate::rest::{App, Route};

const PARAMETERS: &[&str] = &["accept_data_loss", "timeout", "master_timeout"];

/// The endpoints of this file (`_dangling`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_dangling", &[], list),
    route(&[Method::Post], "/_dangling/{index_uuid}", PARAMETERS, import),
    route(&[Method::Delete], "/_dangling/{index_uuid}", PARAMETERS, delete),
];

fn list(app: &App, request: &Request) -> Result<Response> {
    let mut body = app.node.dangling_indices();
    if request.flag_or("human", false)? {
        for entry in body["dangling_indices"].as_array_mut().into_iter().flatten() {
            let millis = entry["creation_date_millis"].as_u64().unwrap_or(0);
            entry["creation_date"] = limber_engine::format_utc_millis(millis).into();
        }
    }
    Ok(Response::ok(body))
}

/// Imports the index. The status is 202, as in Elasticsearch.
fn import(app: &App, request: &Request) -> Result<Response> {
    let accepts = request.flag_or("accept_data_loss", false)?;
    app.node.import_dangling_index(request.path("index_uuid"), accepts)?;
    Ok(Response::json(202, json!({"acknowledged": true})))
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    let accepts = request.flag_or("accept_data_loss", false)?;
    app.node.delete_dangling_index(request.path("index_uuid"), accepts)?;
    Ok(Response::json(202, json!({"acknowledged": true})))
}
