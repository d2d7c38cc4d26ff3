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
        &["wait_for_removal", "master_timeout"],
        clear,
    ),
];

/// Accepts exclusions of unknown nodes, which have no vote anyway.
fn add(app: &App, request: &Request) -> Result<Response> {
    let (ids, names) = (request.list("node_ids"), request.list("node_names"));
    if ids.is_empty() == names.is_empty() {
        return Err(RequestError::illegal_argument("You must set [node_names] or [node_ids] but not both"));
    }
    request.time_ms("timeout")?;
    let is_own = |id: &String| id == app.node.node_id() || id == "*" || id == "_all" || selects(app, id);
    if ids.iter().chain(&names).any(is_own) {
        return Err(RequestError::illegal_argument(format!(
            "the voting configuration has only the node [{}], which cannot be excluded",
            app.node.config().node_name
        )));
    }
    app.node.add_voting_exclusions(&ids, &names)?;
    Ok(Response::empty(200))
}

fn clear(app: &App, request: &Request) -> Result<Response> {
    // The excluded nodes are not there, so none of them is left to wait for.
    request.flag_or("wait_for_removal", true)?;
    app.node.clear_voting_exclusions()?;
    Ok(Response::empty(200))
}
