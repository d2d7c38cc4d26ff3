//! Mappings: put, get, and the mapping of single fields.

use limber_engine::{IndicesOptions, Result};
use limber_mapping::with_defaults;
use limber_work as work;
use serde_json::{Map, Value, json};

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const PUT: &[&str] = with_indices_options!["timeout", "master_timeout", "write_index_only"];
const GET: &[&str] = with_indices_options!["local", "master_timeout"];
const FIELD: &[&str] = with_indices_options!["local", "include_defaults"];

/// The endpoints of this file (`_mapping`, `_mappings`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Put, Method::Post], "/{index}/_mapping", PUT, put),
    route(&[Method::Put, Method::Post], "/{index}/_mappings", PUT, put),
    route(&[Method::Get], "/_mapping", GET, get),
    route(&[Method::Get], "/_mappings", GET, get),
    route(&[Method::Get], "/{index}/_mapping", GET, get),
    route(&[Method::Get], "/{index}/_mappings", GET, get),
    route(&[Method::Get], "/_mapping/field/{fields}", FIELD, get_field),
    route(&[Method::Get], "/{index}/_mapping/field/{fields}", FIELD, get_field),
];

fn put(app: &App, request: &Request) -> Result<Response> {
    let options = IndicesOptions { allow_no_indices: false, ..IndicesOptions::METADATA_OPEN_CLOSED };
    let options = indices_options(request, options)?;
    let write_index_only = request.flag_or("write_index_only", false)?;
    app.node.put_mapping(request.path("index"), options, write_index_only, &request.json_required()?)?;
    Ok(Response::acknowledged())
}

fn get(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::METADATA)?;
    let infos = app.node.show_index(request.param("index").unwrap_or("_all"), options)?;
    let answer: Map<String, Value> =
        infos.into_iter().map(|info| (info.name.to_string(), json!({"mappings": info.mappings}))).collect();
    Ok(Response::ok(Value::Object(answer)))
}

/// Names of the metadata fields of each index, which `_mapping/field` shows without parameters.
const METADATA: [&str; 14] = [
    "_data_stream_timestamp",
    "_doc_count",
    "_field_names",
    "_id",
    "_ignored",
    "_ignored_source",
    "_index",
    "_index_mode",
    "_nested_path",
    "_routing",
    "_seq_no",
    "_source",
    "_tier",
    "_version",
];

fn get_field(app: &App, request: &Request) -> Result<Response> {
    let include_defaults = request.flag_or("include_defaults", false)?;
    let options = indices_options(request, IndicesOptions::METADATA)?;
    let patterns = request.list("fields");
    let mut answer = Map::new();
    let indices = app.node.get_index(request.param("index").unwrap_or("_all"), options)?;
    // As in Elasticsearch, closed indices are left out.
    for info in indices.into_iter().filter(|info| info.open) {
        let mut found = Map::new();
        let mut leaves = Vec::new();
        collect_leaves(&info.mappings, "", &mut leaves);
        for (path, definition) in leaves {
            work::check_beyond_deadline()?;
            if patterns
                .iter()
                .any(|pattern| pattern == "_all" || limber_text::wildcard::matches(pattern, &path))
            {
                let name = path.rsplit('.').next().unwrap_or(&path).to_owned();
                let definition =
                    if include_defaults { with_defaults(definition) } else { definition.clone() };
                found.insert(path.clone(), json!({"full_name": path, "mapping": {name: definition}}));
            }
        }
        let is_named =
            |name: &&&str| patterns.iter().any(|pattern| limber_text::wildcard::matches(pattern, name));
        for name in METADATA.iter().filter(is_named) {
            found.insert((*name).to_owned(), json!({"full_name": name, "mapping": {}}));
        }
        answer.insert(info.name.to_string(), json!({"mappings": found}));
    }
    Ok(Response::json(if answer.is_empty() { 404 } else { 200 }, Value::Object(answer)))
}

/// Collects every leaf field with its definition, including multi-fields, in mapping order.
fn collect_leaves<'v>(object: &'v Value, prefix: &str, leaves: &mut Vec<(String, &'v Value)>) {
    for section in ["properties", "fields"] {
        let Some(members) = object.get(section).and_then(Value::as_object) else { continue };
        for (name, definition) in members {
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            if definition.get("properties").is_none() && definition.get("type").is_some_and(|t| t != "object")
            {
                leaves.push((path.clone(), definition));
            }
            collect_leaves(definition, &path, leaves);
        }
    }
}
