//! Indices as a whole: create, delete, get, exists, open, close, blocks, resolve.

use limber_engine::{CreateIndexResponse, IndexInfo, IndicesOptions, Result};
use limber_mapping::{IndexMode, RequestError};
use limber_work as work;
use serde_json::{Map, Value, json};

use super::template::filter_settings;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::documents::document::{active_copies, has_copies};
use crate::rest::human::add_date;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::{generic as slow, management as route};
use crate::rest::searches::search::check_clusters;
use crate::rest::{App, Route};

const GET: &[&str] = with_indices_options![
    "flat_settings",
    "include_defaults",
    "local",
    "master_timeout",
    "features",
    "settings_filter"
];
const CHANGE: &[&str] = with_indices_options!["timeout", "master_timeout", "wait_for_active_shards"];

const REMOVE: &[&str] = with_indices_options!["timeout", "master_timeout"];

const OPEN: &[&str] = with_indices_options![
    "timeout",
    "master_timeout",
    "wait_for_active_shards",
    "wait_for_completion",
    "task_execution_timeout"
];

/// The features that `GET /{index}` can return.
const FEATURES: [&str; 3] = ["aliases", "mappings", "settings"];

/// The endpoints of this file (`/{index}`, `_open`, `_unfreeze`, `_close`, `_block`, `_resolve`), for
/// [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    slow(&[Method::Put], "/{index}", &["timeout", "master_timeout", "wait_for_active_shards"], create),
    slow(&[Method::Delete], "/{index}", REMOVE, delete),
    route(&[Method::Get], "/{index}", GET, get),
    route(&[Method::Head], "/{index}", GET, exists),
    slow(&[Method::Post], "/{index}/_open", OPEN, open),
    slow(&[Method::Post], "/_open", OPEN, open),
    slow(&[Method::Post], "/{index}/_unfreeze", CHANGE, unfreeze),
    slow(&[Method::Post], "/{index}/_close", CHANGE, close),
    slow(&[Method::Post], "/_close", CHANGE, close),
    route(&[Method::Put], "/{index}/_block/{block}", REMOVE, add_block),
    route(&[Method::Delete], "/{index}/_block/{block}", REMOVE, remove_block),
    route(&[Method::Get, Method::Post], "/_resolve/index/{name}", with_indices_options!["mode"], resolve),
];

fn create(app: &App, request: &Request) -> Result<Response> {
    let body = request.json()?.unwrap_or_else(|| json!({}));
    let copies = active_copies(request)?;
    Ok(created(&app.node.create_index_awaiting(request.path("index"), &body, copies)?))
}

/// Returns the response to the creation of an index.
pub(in crate::rest) fn created(created: &CreateIndexResponse) -> Response {
    Response::ok(json!({
        "acknowledged": true,
        "shards_acknowledged": created.shards_acknowledged,
        "index": &*created.index,
    }))
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_index(request.path("index"), indices_options(request, IndicesOptions::DELETE)?)?;
    Ok(Response::acknowledged())
}

fn get(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA)?;
    let features = request.list("features");
    let unknown: Vec<&str> =
        features.iter().map(String::as_str).filter(|feature| !FEATURES.contains(feature)).collect();
    if !unknown.is_empty() || request.param("features") == Some("") {
        let reason = format!("Invalid features specified [{}]", unknown.join(","));
        return Err(RequestError::illegal_argument(reason));
    }
    let wants = |feature: &str| features.is_empty() || features.iter().any(|f| f == feature);
    let flat = request.flag_or("flat_settings", false)?;
    let include_defaults = request.flag_or("include_defaults", false)?;
    let mut answer = Map::new();
    for mut info in app.node.show_index(request.path("index"), options)? {
        add_date(request, &mut info.settings)?;
        filter_settings(request, &mut info.settings);
        // Features that were not requested are shown as empty objects.
        let mut body: Map<String, Value> =
            FEATURES.iter().map(|feature| ((*feature).to_owned(), json!({}))).collect();
        if wants("aliases") {
            body.insert("aliases".into(), Value::Object(info.aliases.clone()));
        }
        if wants("mappings") {
            body.insert("mappings".into(), info.mappings.clone());
        }
        if wants("settings") {
            insert_settings(&mut body, &info, flat, include_defaults);
        }
        if let Some(stream) = &info.data_stream {
            body.insert("data_stream".into(), (**stream).into());
        }
        answer.insert(info.name.to_string(), Value::Object(body));
    }
    Ok(Response::ok(Value::Object(answer)))
}

/// Inserts `settings`, and `defaults` if requested; nested unless `flat`.
pub fn insert_settings(body: &mut Map<String, Value>, info: &IndexInfo, flat: bool, include_defaults: bool) {
    let shape = |settings: &Map<String, Value>| {
        if flat { Value::Object(settings.clone()) } else { limber_engine::settings::nest(settings) }
    };
    body.insert("settings".into(), shape(&info.settings));
    if include_defaults {
        body.insert("defaults".into(), shape(&info.defaults));
    }
}

fn exists(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA_OPEN_CLOSED)?;
    let found = app.node.index_exists(request.path("index"), options)?;
    Ok(Response::empty(if found { 200 } else { 404 }))
}

/// Returns the indices to open or close, which must be named.
fn named(request: &Request) -> Result<&str> {
    request.param("index").ok_or_else(|| RequestError::validation(["index is missing"]))
}

fn open(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(
        request,
        IndicesOptions { expand_open: false, ..IndicesOptions::METADATA_OPEN_CLOSED },
    )?;
    let index = named(request)?;
    if !request.flag_or("wait_for_completion", true)? {
        let (node, index) = (app.node.clone(), index.to_owned());
        let description = format!("indices[{index}]");
        let task = app.node.tasks().spawn("indices:admin/open", description, move || {
            let started = node.open_index(&index, options)?;
            Ok(json!({"acknowledged": true, "shards_acknowledged": started}))
        })?;
        return Ok(Response::ok(json!({"task": task})));
    }
    let started = app.node.open_index(index, options)? && has_copies(app, request, index.split(','))?;
    Ok(Response::ok(json!({"acknowledged": true, "shards_acknowledged": started})))
}

/// Reports success: there are no frozen indices, so every existing index is unfrozen.
fn unfreeze(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA_OPEN_CLOSED)?;
    app.node.check_names(request.path("index"), options)?;
    Ok(Response::ok(json!({"acknowledged": true, "shards_acknowledged": true})))
}

fn close(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA)?;
    let waits_as_set = request.param("wait_for_active_shards") == Some("index-setting");
    if waits_as_set {
        work::warn(
            "?wait_for_active_shards=index-setting is now the default behaviour; the 'index-setting' value for this parameter should no \
             longer be used since it will become unsupported in version 9",
        );
    }
    let closed = app.node.close_index(named(request)?, options)?;
    let indices: Map<String, Value> =
        closed.iter().map(|name| (name.to_string(), json!({"closed": true}))).collect();
    // There are no shards to wait for if everything was closed before.
    let names = closed.iter().map(|name| &**name);
    let waited = !indices.is_empty() && (waits_as_set || has_copies(app, request, names)?);
    Ok(Response::ok(json!({"acknowledged": true, "shards_acknowledged": waited, "indices": indices})))
}

fn add_block(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA)?;
    let blocked = app.node.add_block(request.path("index"), options, request.path("block"))?;
    let indices: Vec<Value> = blocked.iter().map(|name| json!({"name": &**name, "blocked": true})).collect();
    Ok(Response::ok(json!({"acknowledged": true, "shards_acknowledged": true, "indices": indices})))
}

fn remove_block(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA)?;
    let freed = app.node.remove_block(request.path("index"), options, request.path("block"))?;
    let indices: Vec<Value> = freed.iter().map(|name| json!({"name": &**name, "unblocked": true})).collect();
    Ok(Response::ok(json!({"acknowledged": true, "indices": indices})))
}

fn resolve(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA)?;
    let modes = request.list("mode");
    if let Some(unknown) = modes.iter().find(|mode| !IndexMode::NAMES.contains(&mode.as_str())) {
        return Err(RequestError::illegal_argument(format!(
            "[{unknown}] is an invalid index mode, valid modes are: [{}]",
            IndexMode::NAMES.join(",")
        )));
    }
    check_clusters(request.path("name"))?;
    Ok(Response::ok(app.node.resolve_index(request.path("name"), options, &modes)?))
}
