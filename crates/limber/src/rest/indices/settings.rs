//! Index settings: put and get.

use limber_engine::{IndicesOptions, Result};
use serde_json::{Map, Value};

use super::index::insert_settings;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::human::add_date;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const PUT: &[&str] =
    with_indices_options!["timeout", "master_timeout", "preserve_existing", "flat_settings", "reopen"];
const GET: &[&str] = with_indices_options!["local", "master_timeout", "flat_settings", "include_defaults"];

/// The endpoints of this file (`_settings`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Put], "/_settings", PUT, put),
    route(&[Method::Put], "/{index}/_settings", PUT, put),
    route(&[Method::Get], "/_settings", GET, get),
    route(&[Method::Get], "/_settings/{name}", GET, get),
    route(&[Method::Get], "/{index}/_settings", GET, get),
    route(&[Method::Get], "/{index}/_settings/{name}", GET, get),
];

fn put(app: &App, request: &Request) -> Result<Response> {
    let options = IndicesOptions { allow_no_indices: false, ..IndicesOptions::METADATA_OPEN_CLOSED };
    let options = indices_options(request, options)?;
    let preserve_existing = request.flag_or("preserve_existing", false)?;
    let index = request.param("index").unwrap_or("_all");
    let body = request.json_required()?;
    match request.flag_or("reopen", false)? {
        true => app.node.put_settings_reopening(index, options, &body, preserve_existing)?,
        false => app.node.put_settings(index, options, &body, preserve_existing)?,
    }
    Ok(Response::acknowledged())
}

fn get(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA_OPEN_CLOSED)?;
    let names = request.list("name");
    let flat = request.flag_or("flat_settings", false)?;
    let include_defaults = request.flag_or("include_defaults", false)?;
    let wanted = |key: &str| {
        names.is_empty()
            || names.iter().any(|name| name == "_all" || limber_text::wildcard::matches(name, key))
    };
    let mut answer = Map::new();
    for mut info in app.node.show_index(request.param("index").unwrap_or("_all"), options)? {
        add_date(request, &mut info.settings)?;
        info.settings.retain(|key, _| wanted(key));
        info.defaults.retain(|key, _| wanted(key));
        if info.settings.is_empty() && !names.is_empty() && !include_defaults {
            continue;
        }
        let mut body = Map::new();
        insert_settings(&mut body, &info, flat, include_defaults);
        answer.insert(info.name.to_string(), Value::Object(body));
    }
    Ok(Response::ok(Value::Object(answer)))
}
