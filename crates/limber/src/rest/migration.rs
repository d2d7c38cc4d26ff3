//! `_migration`: what a later version would no longer take. Limber reads what it wrote, so that nothing has
//! to be upgraded.

use limber_engine::{IndicesOptions, Result};
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use super::router::{generic as slow, management as route};
use super::{App, Route};
use crate::http::request::{Method, Request};
use crate::http::response::Response;

/// The endpoints of this file (`_migration`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_migration/deprecations", &[], deprecations),
    route(&[Method::Get], "/{index}/_migration/deprecations", &[], deprecations),
    route(&[Method::Get], "/_migration/system_features", &["master_timeout"], features),
    route(&[Method::Post], "/_migration/system_features", &["master_timeout"], upgrade),
    slow(&[Method::Put, Method::Post], "/_create_from/{source}/{dest}", &[], create_from),
];

/// Settings and mappings that would be refused are refused now, so that there are no deprecations to list.
fn deprecations(app: &App, request: &Request) -> Result<Response> {
    if let Some(expression) = request.param("index") {
        app.node.resolve(expression, IndicesOptions::METADATA_OPEN_CLOSED)?;
    }
    Ok(Response::ok(json!({
        "cluster_settings": [],
        "node_settings": [],
        "index_settings": {},
        "data_streams": {},
        "templates": {},
        "ilm_policies": {},
        "ml_settings": [],
    })))
}

/// There are no system indices.
fn features(_: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(json!({ "features": [], "migration_status": "NO_MIGRATION_NEEDED" })))
}

fn upgrade(_: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(json!({ "accepted": false, "reason": "No system indices require migration" })))
}

/// Settings that belong to one index alone: an index that is made from another one gets its own.
const OWN_SETTINGS: &[&str] = &[
    "index.uuid",
    "index.creation_date",
    "index.provided_name",
    "index.version.",
    "index.history.uuid",
    "index.resize.",
    "index.routing.allocation.initial_recovery.",
    "index.lifecycle.indexing_complete",
];

/// An empty index with the mappings and settings of another one.
///
/// Source: `CreateIndexFromSourceTransportAction`.
fn create_from(app: &App, request: &Request) -> Result<Response> {
    let (source, dest) = (request.path("source"), request.path("dest"));
    let overrides = Overrides::parse(request.json()?)?;
    let found = app.node.get_index(source, IndicesOptions::METADATA)?;
    let [found] = &found[..] else {
        let reason = format!("[{source}] means [{}] indices: name one", found.len());
        return Err(RequestError::illegal_argument(reason));
    };
    let mut settings: Map<String, Value> = found
        .settings
        .iter()
        .filter(|(key, _)| !OWN_SETTINGS.iter().any(|own| key.starts_with(own)))
        .filter(|(key, _)| !(overrides.removes_blocks && key.starts_with("index.blocks.")))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    for (key, value) in overrides.settings {
        match value {
            Value::Null => settings.remove(&key),
            value => settings.insert(key, value),
        };
    }
    let mut mappings = found.mappings.clone();
    lay_over(&mut mappings, overrides.mappings);
    let created = app.node.create_index(dest, &json!({"settings": settings, "mappings": mappings}))?;
    Ok(Response::ok(json!({
        "acknowledged": true,
        "shards_acknowledged": created.shards_acknowledged,
        "index": &*created.index,
    })))
}

/// The body of `_create_from`.
struct Overrides {
    /// By their whole names.
    settings: Map<String, Value>,
    mappings: Value,
    removes_blocks: bool,
}

impl Overrides {
    fn parse(body: Option<Value>) -> Result<Overrides> {
        let mut overrides = Overrides { settings: Map::new(), mappings: json!({}), removes_blocks: true };
        let Some(body) = body else { return Ok(overrides) };
        let Value::Object(members) = body else { return Err(RequestError::parsing("expected an object")) };
        for (key, value) in members {
            match (key.as_str(), value) {
                ("settings_override", Value::Object(settings)) => {
                    flatten("", &settings, &mut overrides.settings);
                }
                ("mappings_override", mappings @ Value::Object(_)) => overrides.mappings = mappings,
                ("remove_index_blocks", Value::Bool(removes)) => overrides.removes_blocks = removes,
                ("settings_override" | "mappings_override" | "remove_index_blocks", _) => {
                    return Err(RequestError::parsing(format!("[{key}] has a value of the wrong type")));
                }
                (other, _) => {
                    return Err(RequestError::parsing(format!(
                        "[create_index_from] unknown field [{other}]"
                    )));
                }
            }
        }
        Ok(overrides)
    }
}

/// `{"index": {"a": 1}}` and `{"a": 1}` are both `index.a`. The depth is bounded by that of a body.
fn flatten(prefix: &str, settings: &Map<String, Value>, into: &mut Map<String, Value>) {
    for (key, value) in settings {
        let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Object(inner) => flatten(&name, inner, into),
            value if name.starts_with("index.") => drop(into.insert(name, value.clone())),
            value => drop(into.insert(format!("index.{name}"), value.clone())),
        }
    }
}

/// Members of `over` replace those below, objects are merged.
fn lay_over(below: &mut Value, over: Value) {
    match (below, over) {
        (Value::Object(below), Value::Object(over)) => {
            for (key, value) in over {
                lay_over(below.entry(key).or_insert(Value::Null), value);
            }
        }
        (below, over) => *below = over,
    }
}
