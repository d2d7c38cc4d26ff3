//! `_field_usage_stats`: how often searches used each field.

use limber_engine::{IndicesOptions, Result};

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::management as route;
use crate::rest::{App, Route};

/// The endpoints of this file (`_field_usage_stats`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] =
    &[route(&[Method::Get], "/{index}/_field_usage_stats", with_indices_options!["fields"], field_usage)];

fn field_usage(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::BROADCAST)?;
    let mut fields = request.list("fields");
    if fields.is_empty() {
        fields.push("*".to_owned());
    }
    Ok(Response::ok(app.node.field_usage(request.path("index"), options, &fields)?))
}
