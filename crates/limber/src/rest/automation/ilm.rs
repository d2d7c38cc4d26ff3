//! Index lifecycle management: policies, the progress of indices in theirs, start and stop.

use limber_engine::{ExplainFilter, IndicesOptions, Result};
use serde_json::json;

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::human::with_words;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::{generic as slow, management as route};
use crate::rest::{App, Route};

const CHANGE: &[&str] = &["timeout", "master_timeout"];
const EXPLAIN: &[&str] = with_indices_options!["only_managed", "only_errors", "master_timeout"];

/// The endpoints of this file (`_ilm`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Put], "/_ilm/policy/{name}", CHANGE, put),
    route(&[Method::Get], "/_ilm/policy", CHANGE, get),
    route(&[Method::Get], "/_ilm/policy/{name}", CHANGE, get),
    route(&[Method::Delete], "/_ilm/policy/{name}", CHANGE, delete),
    route(&[Method::Get], "/_ilm/status", CHANGE, status),
    route(&[Method::Post], "/_ilm/start", CHANGE, start),
    route(&[Method::Post], "/_ilm/stop", CHANGE, stop),
    route(&[Method::Get], "/{index}/_ilm/explain", EXPLAIN, explain),
    slow(&[Method::Post], "/{index}/_ilm/retry", CHANGE, retry),
    route(&[Method::Post], "/{index}/_ilm/remove", CHANGE, remove),
    slow(&[Method::Post], "/_ilm/move/{index}", CHANGE, move_to_step),
];

fn put(app: &App, request: &Request) -> Result<Response> {
    app.node.put_policy(request.path("name"), &request.json_required()?)?;
    Ok(Response::acknowledged())
}

fn get(app: &App, request: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.get_policies(request.param("name").unwrap_or(""))?))
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_policy(request.path("name"))?;
    Ok(Response::acknowledged())
}

fn status(app: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(json!({"operation_mode": app.node.lifecycle_mode()})))
}

fn start(app: &App, _: &Request) -> Result<Response> {
    app.node.start_lifecycles()?;
    Ok(Response::acknowledged())
}

fn stop(app: &App, _: &Request) -> Result<Response> {
    app.node.stop_lifecycles()?;
    Ok(Response::acknowledged())
}

fn explain(app: &App, request: &Request) -> Result<Response> {
    let options =
        indices_options(request, IndicesOptions { expand_closed: true, ..IndicesOptions::METADATA })?;
    let filter = ExplainFilter {
        only_managed: request.flag_or("only_managed", false)?,
        only_errors: request.flag_or("only_errors", false)?,
    };
    let shown = app.node.explain_lifecycles(request.path("index"), options, filter)?;
    Ok(Response::ok(with_words(request, shown)?))
}

fn retry(app: &App, request: &Request) -> Result<Response> {
    app.node.retry_lifecycles(request.path("index"))?;
    Ok(Response::acknowledged())
}

fn remove(app: &App, request: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.remove_lifecycles(request.path("index"))?))
}

fn move_to_step(app: &App, request: &Request) -> Result<Response> {
    app.node.move_to_step(request.path("index"), &request.json_required()?)?;
    Ok(Response::acknowledged())
}
