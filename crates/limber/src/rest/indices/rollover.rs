//! `_rollover`: creates a new write index for an alias or a data stream.

use limber_engine::{Result, RolloverRequest};
use limber_mapping::RequestError;
use serde_json::json;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::documents::document::has_copies;
use crate::rest::router::generic as route;
use crate::rest::{App, Route};

const PARAMETERS: &[&str] =
    &["dry_run", "lazy", "timeout", "master_timeout", "wait_for_active_shards", "target_failure_store"];

/// The endpoints of this file (`_rollover`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Post], "/{index}/_rollover", PARAMETERS, rollover),
    route(&[Method::Post], "/{index}/_rollover/{new_index}", PARAMETERS, rollover),
];

fn rollover(app: &App, request: &Request) -> Result<Response> {
    if request.flag_or("target_failure_store", false)? {
        return Err(RequestError::unsupported("parameter [target_failure_store] of a rollover"));
    }
    let mut wanted = RolloverRequest::parse(&request.json()?.unwrap_or_else(|| json!({})))?;
    wanted.new_index = request.param("new_index").map(str::to_owned);
    wanted.dry_run = request.flag_or("dry_run", false)?;
    wanted.lazy = request.flag_or("lazy", false)?;
    let mut answer = app.node.rollover(request.path("index"), &wanted)?;
    if answer["rolled_over"] == true {
        let created = answer["new_index"].as_str().map(str::to_owned);
        answer["shards_acknowledged"] = has_copies(app, request, created.as_deref().into_iter())?.into();
    }
    Ok(Response::ok(answer))
}
