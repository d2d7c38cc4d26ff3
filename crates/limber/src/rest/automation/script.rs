//! Stored scripts: put, get, delete.

use limber_engine::Result;
use limber_mapping::RequestError;
use serde_json::{Value, json};

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const CHANGE: &[&str] = &["timeout", "master_timeout", "context"];
const WRITE: &[Method] = &[Method::Put, Method::Post];

/// The endpoints of this file (`_scripts`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(WRITE, "/_scripts/{id}", CHANGE, put),
    route(WRITE, "/_scripts/{id}/{context}", &["timeout", "master_timeout"], put),
    route(&[Method::Get], "/_scripts/{id}", &["master_timeout"], get),
    route(&[Method::Delete], "/_scripts/{id}", &["timeout", "master_timeout"], delete),
];

fn put(app: &App, request: &Request) -> Result<Response> {
    let body = request.json_required()?;
    check_options(&body["script"])?;
    app.node.put_script(request.path("id"), request.param("context"), &body)?;
    Ok(Response::acknowledged())
}

/// Refuses compiler options that do not exist.
///
/// Source: `StoredScriptSource`.
fn check_options(script: &Value) -> Result<()> {
    let Some(options) = script.get("options").and_then(Value::as_object) else { return Ok(()) };
    let mut shown = Vec::new();
    for (name, value) in options {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        shown.push(format!("{name}={value}"));
    }
    match options.keys().all(|name| name == "content_type") {
        true => Ok(()),
        false => {
            let reason = format!("illegal compiler options [{{{}}}] specified", shown.join(", "));
            Err(RequestError::illegal_argument(reason))
        }
    }
}

fn get(app: &App, request: &Request) -> Result<Response> {
    let id = request.path("id");
    Ok(match app.node.get_script(id) {
        Some(script) => Response::ok(json!({
            "_id": id,
            "found": true,
            "script": {"lang": script.language, "source": script.source},
        })),
        None => Response::json(404, json!({"_id": id, "found": false})),
    })
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_script(request.path("id"))?;
    Ok(Response::acknowledged())
}
