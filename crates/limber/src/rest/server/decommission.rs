//! OpenSearch's `_cluster/decommission/awareness`: values of an awareness attribute whose nodes are taken out
//! of service. A single node has no others to take over, so nothing is ever decommissioned.

use limber_engine::Result;
use limber_mapping::RequestError;
use serde_json::json;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const VALUE: &str = "/_cluster/decommission/awareness/{attribute}/{value}";

/// The endpoints of this file (`_cluster`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_cluster/decommission/awareness/{attribute}/_status", &["local"], status),
    route(&[Method::Put], VALUE, &["no_delay", "delay_timeout", "timeout"], decommission),
    route(&[Method::Delete], "/_cluster/decommission/awareness", &[], recommission),
];

fn status(_: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(json!({})))
}

fn decommission(_: &App, request: &Request) -> Result<Response> {
    let (attribute, value) = (request.path("attribute"), request.path("value"));
    Err(RequestError::bad_request(
        "decommissioning_failed_exception",
        format!(
            "[DecommissionAttribute{{attributeName='{attribute}', attributeValue='{value}'}}] invalid awareness attribute requested for \
             decommissioning"
        ),
    ))
}

/// Brings back what was decommissioned, which is nothing.
fn recommission(_: &App, _: &Request) -> Result<Response> {
    Ok(Response::acknowledged())
}
