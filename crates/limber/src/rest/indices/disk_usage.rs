//! `_disk_usage`: how much disk space each field uses.

use limber_engine::{IndicesOptions, Result};
use limber_mapping::RequestError;
use limber_text::byte_size;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::generic as slow;
use crate::rest::{App, Route};

/// The endpoints of this file (`_disk_usage`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[slow(
    &[Method::Post],
    "/{index}/_disk_usage",
    with_indices_options!["flush", "run_expensive_tasks"],
    disk_usage,
)];

fn disk_usage(app: &App, request: &Request) -> Result<Response> {
    // The sizes come from the section tables and cost nothing, but the flag is required for compatibility
    // with Elasticsearch.
    if !request.flag_or("run_expensive_tasks", false)? {
        return Err(RequestError::illegal_argument(
            "analyzing the disk usage of an index is expensive and resource intensive, the parameter [run_expensive_tasks] must be set to \
             [true] in order for the task to be performed.",
        ));
    }
    let options = indices_options(request, IndicesOptions::BROADCAST)?;
    let flush = request.flag_or("flush", true)?;
    Ok(Response::ok(app.node.disk_usage(request.path("index"), options, flush, &byte_size::show)?))
}
