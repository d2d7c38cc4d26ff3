//! `_nodes`: information about this node.
//!
//! There is no JVM: the section `jvm` has the members that clients expect, with zeros.

use limber_engine::Result;
use serde_json::{Map, Value, json};

use super::nodes::{ROLES, attributes, envelope, host, selects};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::machine;
use crate::rest::human::with_words_beside;
use crate::rest::router::get;
use crate::rest::{App, Route};

const INFO: &[&str] = &["flat_settings", "timeout"];

/// The endpoints of this file (`_nodes`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    get("/_nodes", INFO, info),
    get("/_nodes/{node_or_metric}", INFO, info),
    get("/_nodes/{node}/{metric}", INFO, info),
    get("/_nodes/{node}/info/{metric}", INFO, info),
];

const INFO_METRICS: &[&str] = &[
    "settings",
    "os",
    "process",
    "jvm",
    "thread_pool",
    "transport",
    "http",
    "plugins",
    "ingest",
    "aggregations",
    "indices",
    "search_pipelines",
];

fn info(app: &App, request: &Request) -> Result<Response> {
    let (metrics, node_filter) = asked(request);
    if !node_filter.is_none_or(|filter| selects(app, filter)) {
        return Ok(envelope(app, None));
    }
    let wants = |metric: &str| metrics.is_empty() || metrics.iter().any(|m| m == "_all" || m == metric);
    let mut node = identity(app);
    let flat = request.flag_or("flat_settings", false)?;
    if wants("settings") {
        let settings = settings(app);
        if flat {
            node["settings"] = Value::Object(settings);
        } else {
            let mut nested = limber_engine::settings::nest(&settings);
            // Typed clients of Elasticsearch require it; Elasticsearch's nodes always have an attribute.
            if nested["node"]["attr"].is_null() {
                nested["node"]["attr"] = json!({});
            }
            node["settings"] = nested;
        }
    }
    if wants("os") {
        node["os"] = os(app);
    }
    if wants("process") {
        node["process"] =
            json!({"refresh_interval_in_millis": 1000, "id": std::process::id(), "mlockall": false});
    }
    if wants("jvm") {
        node["jvm"] = jvm(app);
    }
    if wants("thread_pool") {
        node["thread_pool"] = thread_pools(app);
    }
    if wants("transport") {
        node["transport"] = addresses(app);
        node["transport"]["profiles"] = json!({});
    }
    if wants("http") {
        node["http"] = addresses(app);
        node["http"]["max_content_length_in_bytes"] = app.config.max_content_bytes.into();
    }
    if wants("plugins") {
        node["plugins"] = json!([]);
        node["modules"] = json!([]);
    }
    if wants("ingest") {
        node["ingest"] = json!({"processors": listed(&limber_engine::ingest::processor_names())});
    }
    if wants("aggregations") {
        node["aggregations"] = aggregations();
    }
    // OpenSearch's section; shown only to clients that ask for it.
    if metrics.iter().any(|metric| metric == "search_pipelines") {
        node["search_pipelines"] = search_pipelines();
    }
    Ok(envelope(app, Some(with_words_beside(request, node, &["settings"])?)))
}

/// Returns the metrics that a request names (all, if it names none) and the nodes that it is about. In
/// `_nodes/{node_or_metric}`, the words are names of nodes unless each of them is the name of a metric.
fn asked(request: &Request) -> (Vec<String>, Option<&str>) {
    let mut node_filter = request.param("node");
    let mut metrics = request.list("metric");
    if let Some(either) = request.param("node_or_metric") {
        let words: Vec<&str> = either.split(',').collect();
        if words.iter().all(|word| *word == "_all" || INFO_METRICS.contains(word)) {
            metrics = words.iter().map(|word| (*word).to_owned()).collect();
        } else {
            node_filter = Some(either);
        }
    }
    (metrics, node_filter)
}

/// Returns the members that the response always has, whatever metrics the request names.
fn identity(app: &App) -> Value {
    let config = app.node.config();
    json!({
        "name": config.node_name,
        "transport_address": app.config.http_address,
        "host": host(app),
        "ip": host(app),
        "version": app.config.compat_version,
        // Typed clients of Elasticsearch require these three. There is no transport protocol, so its version
        // never changes.
        "transport_version": 1,
        "index_version": app.node.index_version().parse::<u64>().unwrap_or(0),
        "component_versions": {"transform_config_version": 10_000_099},
        "build_flavor": "default",
        "build_type": "tar",
        "build_hash": super::info::build_hash(),
        "total_indexing_buffer": app.node.ledger().indexing.limit_bytes(),
        "roles": ROLES,
        "attributes": attributes(app),
    })
}

/// Returns the settings of the node, with flat keys.
pub(super) fn settings(app: &App) -> Map<String, Value> {
    let config = app.node.config();
    let mut settings = config.settings.clone();
    for (name, value) in &app.config.node_attributes {
        settings.insert(format!("node.attr.{name}"), value.clone().into());
    }
    if let Some(repositories) = settings.get_mut("path.repo").filter(|value| value.is_string()) {
        *repositories = json!([repositories.take()]);
    }
    settings.insert("cluster.election.strategy".into(), "supports_voting_only".into());
    settings.insert("client.type".into(), "node".into());
    // Typed clients of Elasticsearch require both, and Elasticsearch's nodes have them by default.
    settings.insert("http.type.default".into(), "netty4".into());
    settings.insert("transport.type.default".into(), "netty4".into());
    settings.insert("cluster.name".into(), config.cluster_name.clone().into());
    settings.insert("node.name".into(), config.node_name.clone().into());
    let paths: Vec<String> = config.data_paths.iter().map(|path| path.display().to_string()).collect();
    settings.insert(
        "path.data".into(),
        if let [path] = &paths[..] { path.as_str().into() } else { paths.into() },
    );
    settings.insert("memory.limit".into(), config.memory_limit_bytes.to_string().into());
    settings
}

fn os(app: &App) -> Value {
    let (pretty_name, kernel) = machine::os_release();
    json!({
        "refresh_interval_in_millis": 1000,
        "name": "Linux",
        "pretty_name": pretty_name,
        "arch": std::env::consts::ARCH,
        "version": kernel,
        "available_processors": app.config.cores,
        "allocated_processors": app.config.cores,
    })
}

fn jvm(app: &App) -> Value {
    json!({
        "pid": std::process::id(),
        "version": "none",
        "vm_name": "none: Limber is a native program",
        "vm_version": env!("CARGO_PKG_VERSION"),
        "vm_vendor": "Limber",
        "start_time_in_millis": app.node.started_millis(),
        "mem": {"heap_init_in_bytes": 0, "heap_max_in_bytes": app.node.config().memory_limit_bytes, "non_heap_init_in_bytes": 0, "non_heap_max_in_bytes": 0, "direct_max_in_bytes": 0},
        "gc_collectors": [],
        "memory_pools": [],
        "using_bundled_jdk": false,
        "using_compressed_ordinary_object_pointers": "false",
        "input_arguments": [],
    })
}

fn thread_pools(app: &App) -> Value {
    let pools: Map<String, Value> = app
        .pools
        .stats()
        .iter()
        .map(|pool| {
            (
                pool.name.to_owned(),
                json!({"type": "fixed", "size": pool.threads, "queue_size": pool.queue_size}),
            )
        })
        .collect();
    Value::Object(pools)
}

/// Returns the address that the server listens on, as the sections `transport` and `http` have it.
fn addresses(app: &App) -> Value {
    json!({"bound_address": [app.config.http_address], "publish_address": app.config.http_address})
}

fn aggregations() -> Value {
    let aggregations: Map<String, Value> = limber_search::aggregation::names()
        .map(|name| (name.to_owned(), json!({"types": aggregated_types(name)})))
        .collect();
    Value::Object(aggregations)
}

/// Returns the processors of search pipelines.
fn search_pipelines() -> Value {
    let (request, response) = limber_engine::search_pipeline_processors();
    json!({
        "phase_results_processors": [],
        "request_processors": listed(&request),
        "response_processors": listed(&response),
    })
}

/// Returns processors in the form of a list of `{"type": name}`.
fn listed(names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| json!({"type": name})).collect()
}

/// Returns the value types that an aggregation takes, under the names of Elasticsearch's registry.
fn aggregated_types(name: &str) -> &'static [&'static str] {
    match name {
        "filter" | "filters" => &["other"],
        "cardinality" | "missing" | "terms" | "value_count" => {
            &["boolean", "date", "ip", "keyword", "numeric"]
        }
        "date_histogram" | "date_range" => &["boolean", "date", "numeric"],
        _ => &["boolean", "date", "numeric"],
    }
}
