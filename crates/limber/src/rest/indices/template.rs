//! Templates: legacy, composable and component, and their simulation.

use limber_engine::Result;
use limber_mapping::RequestError;
use limber_text::wildcard;
use serde_json::{Map, Value};

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const PUT: &[&str] = &["create", "cause", "timeout", "master_timeout"];
const PUT_LEGACY: &[&str] = &["create", "cause", "order", "timeout", "master_timeout"];
const SIMULATE_INDEX: &[&str] = &["master_timeout", "include_defaults"];
const SIMULATE: &[&str] = &["create", "cause", "master_timeout", "include_defaults"];
const GET: &[&str] = &["local", "master_timeout", "flat_settings", "include_defaults", "settings_filter"];
const GET_LEGACY: &[&str] = &["local", "master_timeout", "flat_settings", "settings_filter"];
const DELETE: &[&str] = &["timeout", "master_timeout"];

const WRITE: &[Method] = &[Method::Put, Method::Post];

/// The endpoints of this file (`_template`, `_index_template`, `_component_template`), for
/// [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(WRITE, "/_template/{name}", PUT_LEGACY, put_legacy),
    route(&[Method::Get], "/_template", GET_LEGACY, get_legacy),
    route(&[Method::Get, Method::Head], "/_template/{name}", GET_LEGACY, get_legacy),
    route(&[Method::Delete], "/_template/{name}", DELETE, delete_legacy),
    route(WRITE, "/_index_template/{name}", PUT, put),
    route(&[Method::Get], "/_index_template", GET, get),
    route(&[Method::Get, Method::Head], "/_index_template/{name}", GET, get),
    route(&[Method::Delete], "/_index_template/{name}", DELETE, delete),
    route(&[Method::Post], "/_index_template/_simulate_index/{name}", SIMULATE_INDEX, simulate_index),
    route(&[Method::Post], "/_index_template/_simulate", SIMULATE, simulate),
    route(&[Method::Post], "/_index_template/_simulate/{name}", SIMULATE, simulate),
    route(WRITE, "/_component_template/{name}", PUT, put_component),
    route(&[Method::Get], "/_component_template", GET, get_component),
    route(&[Method::Get, Method::Head], "/_component_template/{name}", GET, get_component),
    route(&[Method::Delete], "/_component_template/{name}", DELETE, delete_component),
];

fn create(request: &Request) -> Result<bool> {
    request.flag_or("create", false)
}

fn put_legacy(app: &App, request: &Request) -> Result<Response> {
    let mut body = request.json_required()?;
    // The order in the body comes before the one in the URL.
    if let (Some(order), Some(object)) = (request.number::<i64>("order")?, body.as_object_mut()) {
        object.entry("order").or_insert_with(|| order.into());
    }
    app.node.put_template(request.path("name"), &body, create(request)?)?;
    Ok(Response::acknowledged())
}

fn get_legacy(app: &App, request: &Request) -> Result<Response> {
    let name = request.param("name").unwrap_or("");
    let mut templates = app.node.get_templates(name)?;
    // A default Elasticsearch always has some, so clients (elasticdump) do not expect that there are none.
    let missing = templates.is_empty() && !matches!(name, "" | "*" | "_all");
    for template in templates.values_mut() {
        shape(request, template.get_mut("settings"))?;
    }
    Ok(Response::json(if missing { 404 } else { 200 }, Value::Object(templates)))
}

fn delete_legacy(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_template(request.path("name"))?;
    Ok(Response::acknowledged())
}

/// Removes the type name around the mappings of a template (`{"_doc": {...}}`), which is accepted here.
fn without_type(mut body: Value) -> Value {
    let mappings = body.get_mut("template").and_then(|template| template.get_mut("mappings"));
    if let Some(mappings) = mappings
        && mappings.as_object().is_some_and(|members| members.len() == 1 && members.contains_key("_doc"))
    {
        *mappings = mappings["_doc"].take();
    }
    body
}

fn put(app: &App, request: &Request) -> Result<Response> {
    let body = without_type(request.json_required()?);
    app.node.put_index_template(request.path("name"), &body, create(request)?)?;
    Ok(Response::acknowledged())
}

fn get(app: &App, request: &Request) -> Result<Response> {
    let name = request.param("name").unwrap_or("");
    if name.contains(',') {
        return Err(RequestError::illegal_argument("template name may not contain ','"));
    }
    let mut found = app.node.get_index_templates(name)?;
    shape_settings(request, found["index_templates"].as_array_mut(), "index_template")?;
    let is_empty = found["index_templates"].as_array().is_some_and(Vec::is_empty);
    Ok(Response::json(if is_empty && !name.is_empty() { 404 } else { 200 }, found))
}

/// Shapes the settings of templates. `key` is the member that holds each template.
fn shape_settings(request: &Request, templates: Option<&mut Vec<Value>>, key: &str) -> Result<()> {
    for template in templates.into_iter().flatten() {
        let settings = template[key].get_mut("template").and_then(|template| template.get_mut("settings"));
        shape(request, settings)?;
    }
    Ok(())
}

/// Leaves out the settings that `settings_filter` names, and flattens the others if `flat_settings` is set.
fn shape(request: &Request, settings: Option<&mut Value>) -> Result<()> {
    let is_flat = request.flag_or("flat_settings", false)?;
    let Some(settings) = settings.filter(|_| is_flat || request.param("settings_filter").is_some()) else {
        return Ok(());
    };
    let mut flat = limber_engine::settings::flatten(settings)?;
    filter_settings(request, &mut flat);
    *settings = if is_flat { Value::Object(flat) } else { limber_engine::settings::nest(&flat) };
    Ok(())
}

/// Removes the settings whose whole names match a name or pattern of `settings_filter`.
pub fn filter_settings(request: &Request, settings: &mut Map<String, Value>) {
    let hidden = request.list("settings_filter");
    if !hidden.is_empty() {
        settings.retain(|name, _| !hidden.iter().any(|pattern| wildcard::matches(pattern, name)));
    }
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_index_template(request.path("name"))?;
    Ok(Response::acknowledged())
}

fn simulate_index(app: &App, request: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.simulate_index_template(request.path("name"), request.json()?.as_ref())?))
}

fn simulate(app: &App, request: &Request) -> Result<Response> {
    let body = request.json()?;
    if body.is_none() && request.param("name").is_none() {
        let fault = "either index name or index template body must be specified for simulation";
        return Err(RequestError::validation([fault]));
    }
    Ok(Response::ok(app.node.simulate_template(request.param("name"), body.as_ref())?))
}

fn put_component(app: &App, request: &Request) -> Result<Response> {
    let body = without_type(request.json_required()?);
    app.node.put_component_template(request.path("name"), &body, create(request)?)?;
    Ok(Response::acknowledged())
}

fn get_component(app: &App, request: &Request) -> Result<Response> {
    let names = request.param("name").unwrap_or("");
    if names.contains(',') && !names.contains('*') {
        // As in Elasticsearch, a list is the name of a template that cannot exist.
        let reason = format!("component template matching [{names}] not found");
        return Err(RequestError::not_found("resource_not_found_exception", reason));
    }
    let mut found = app.node.get_component_templates(names)?;
    shape_settings(request, found["component_templates"].as_array_mut(), "component_template")?;
    // A pattern without matches is a 404, unless it asks for all templates.
    let is_empty = found["component_templates"].as_array().is_some_and(Vec::is_empty);
    let is_missing = is_empty && !matches!(names, "" | "*" | "_all");
    Ok(Response::json(if is_missing { 404 } else { 200 }, found))
}

fn delete_component(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_component_template(request.path("name"))?;
    Ok(Response::acknowledged())
}
