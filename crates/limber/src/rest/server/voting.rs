//! `_cluster/voting_config_exclusions`: which nodes have no vote. The only node always has one.

use limber_engine::Result;
use limber_mapping::RequestError;

use super::nodes::selects;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

/// The endpoints of this file (`_cluster`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(
        &[Method::Post],
        "/_cluster/voting_config_exclusions",
        &["node_ids", "node_names", "timeout", "master_timeout"],
        add,
    ),
    route(
        &[Method::Delete],
        "/_cluster/voting_config_exclusions",
        &["wait_for_removal", "timeout", "master_timeout"],
        clear,
    ),
];

/// Accepts exclusions of unknown nodes, which have no vote anyway.
fn add(app: &App, request: &Request) -> Result<Response> {
    let (ids, names) = (request.list("node_ids"), request.list("node_names"));
    if ids.is_empty() == names.is_empty() {
        return Err(RequestError::illegal_argument(
            "Please set node identifiers correctly. One and only one of [node_name], [node_names] and [node_ids] has to be set",
        ));
    }
    request.time_ms("timeout")?;
    let is_own = |id: &String| id == app.node.node_id() || id == "*" || id == "_all" || selects(app, id);
    if ids.iter().chain(&names).any(is_own) {
        return Err(RequestError::illegal_argument(format!(
            "the voting configuration has only the node [{}], which cannot be excluded",
            app.node.config().node_name
        )));
    }
    Ok(Response::empty(200))
}

fn clear(_: &App, request: &Request) -> Result<Response> {
    request.flag_or("wait_for_removal", true)?;
    request.time_ms("timeout")?;
    Ok(Response::empty(200))
}
