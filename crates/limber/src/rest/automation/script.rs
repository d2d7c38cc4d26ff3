//! Stored scripts: put, get, delete.

use limber_engine::Result;
use limber_mapping::{RequestError, plain_text};
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
    let (id, body) = (id_of(request)?, request.json_required()?);
    check_options(&body["script"])?;
    app.node.put_script(id, request.param("context"), &body)?;
    Ok(Response::acknowledged())
}

/// Returns the id of the script.
///
/// Source: `PutStoredScriptRequest#validate`.
fn id_of(request: &Request) -> Result<&str> {
    let id = request.path("id");
    match id.contains('#') {
        true => Err(RequestError::validation(["id cannot contain '#' for stored script"])),
        false => Ok(id),
    }
}

/// Refuses compiler options that do not exist.
///
/// Source: `StoredScriptSource`.
fn check_options(script: &Value) -> Result<()> {
    let Some(options) = script.get("options").and_then(Value::as_object) else { return Ok(()) };
    let mut shown = Vec::new();
    for (name, value) in options {
        shown.push(format!("{name}={}", plain_text(value)));
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
    let id = id_of(request)?;
    let Some(script) = app.node.get_script(id) else {
        return Ok(Response::json(404, json!({"_id": id, "found": false})));
    };
    let mut shown = json!({"lang": script.language, "source": script.source});
    if let Some(content_type) = script.content_type {
        shown["options"] = json!({ "content_type": content_type });
    }
    Ok(Response::ok(json!({"_id": id, "found": true, "script": shown})))
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_script(id_of(request)?)?;
    Ok(Response::acknowledged())
}
