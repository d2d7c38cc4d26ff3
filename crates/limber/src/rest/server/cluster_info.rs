//! `_info`, `_capabilities` and `_resolve/cluster`: requests that tools send to find out what the cluster
//! offers.

use limber_engine::{IndicesOptions, Result};
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::{management as route, unrecognized};
use crate::rest::{App, Route};

const CAPABILITIES: &[&str] =
    &["method", "path", "parameters", "capabilities", "local_only", "timeout", "master_timeout"];
const RESOLVE: &[&str] = with_indices_options!["timeout"];

/// The endpoints of this file (`_info`, `_capabilities`, `_resolve`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_info/{target}", &[], info),
    route(&[Method::Get], "/_capabilities", CAPABILITIES, capabilities),
    route(&[Method::Get], "/_resolve/cluster", RESOLVE, resolve_cluster),
    route(&[Method::Get], "/_resolve/cluster/{name}", RESOLVE, resolve_cluster),
];

/// Sections of `_info`, which sum over all nodes. With one node they equal the node's own.
const TARGETS: [&str; 4] = ["http", "ingest", "thread_pool", "script"];

fn info(app: &App, request: &Request) -> Result<Response> {
    let targets = request.list("target");
    let uri = request.uri.split('?').next().unwrap_or("");
    if targets.iter().any(|target| target == "_all") && targets.len() > 1 {
        return Err(RequestError::illegal_argument(format!(
            "request [{uri}] contains _all and individual target [{}]",
            targets.join(",")
        )));
    }
    let named = targets.iter().map(String::as_str);
    let unknown: Vec<&str> = named.filter(|target| *target != "_all" && !TARGETS.contains(target)).collect();
    if !unknown.is_empty() {
        return Err(unrecognized(uri, "target", &unknown, &TARGETS));
    }
    let wants = |section: &str| {
        TARGETS.contains(&section) && targets.iter().any(|target| target == "_all" || target == section)
    };
    let node = super::nodes::node_stats(app, &wants, &limber_engine::StatsRequest::default())?;
    let mut answer = Map::new();
    answer.insert("cluster_name".into(), app.node.config().cluster_name.clone().into());
    for target in TARGETS.iter().filter(|target| wants(target)) {
        answer.insert((*target).to_owned(), node[*target].clone());
    }
    Ok(Response::ok(Value::Object(answer)))
}

/// Checks whether a method and path take the given parameters. No endpoint here names further capabilities.
fn capabilities(app: &App, request: &Request) -> Result<Response> {
    let name = request.param("method").unwrap_or("GET").to_ascii_uppercase();
    let path = request.param("path").unwrap_or("/");
    let method = Method::parse(&name).ok_or_else(|| {
        RequestError::illegal_argument(format!(
            "No enum constant org.elasticsearch.rest.RestRequest.Method.{name}"
        ))
    })?;
    let (segments, _) = Request::parse_uri(path)?;
    let parameters: Vec<(String, String)> =
        request.list("parameters").into_iter().map(|parameter| (parameter, String::new())).collect();
    let is_there = match app.routes.resolve(method, &segments, &parameters, path) {
        Ok(resolved) => !crate::rest::absent::is_refusal(resolved.route),
        Err(_) => false,
    };
    let supported = is_there && request.list("capabilities").is_empty();
    Ok(Response::ok(json!({
        "_nodes": {"total": 1, "successful": 1, "failed": 0},
        "cluster_name": app.node.config().cluster_name,
        "supported": supported,
    })))
}

/// Whether a response of `_resolve/index` has an open index, an alias or a data stream.
fn is_searchable(resolved: &Value) -> bool {
    let is_some = |value: &Value| value.as_array().is_some_and(|items| !items.is_empty());
    let is_closed =
        |index: &Value| index["attributes"].as_array().is_some_and(|all| all.contains(&json!("closed")));
    let is_open = resolved["indices"].as_array().is_some_and(|all| all.iter().any(|index| !is_closed(index)));
    is_open || is_some(&resolved["aliases"]) || is_some(&resolved["data_streams"])
}

/// Resolves the clusters of an expression. There are no remote clusters.
fn resolve_cluster(app: &App, request: &Request) -> Result<Response> {
    let Some(expression) = request.param("name") else { return Ok(Response::ok(json!({}))) };
    let remotes = || expression.split(',').filter_map(|part| part.split_once(':'));
    // A pattern may match no cluster.
    if let Some((cluster, _)) = remotes().find(|(cluster, _)| !limber_text::wildcard::is_pattern(cluster)) {
        return Err(RequestError::not_found(
            "no_such_remote_cluster_exception",
            format!("no such remote cluster: [{cluster}]"),
        ));
    }
    let local: Vec<&str> = expression.split(',').filter(|part| !part.contains(':')).collect();
    if local.is_empty() {
        return Ok(Response::ok(json!({})));
    }
    let expression = local.join(",");
    let options =
        indices_options(request, IndicesOptions { allow_no_indices: true, ..IndicesOptions::SEARCH })?;
    let options = IndicesOptions { forbid_closed_indices: false, ..options };
    let mut entry = json!({"connected": true, "skip_unavailable": false});
    match app.node.resolve(&expression, options) {
        Ok(_) => {
            // A closed index that is named is no match, and no error either.
            let lenient = IndicesOptions { ignore_unavailable: true, ..options };
            let found = app.node.resolve_index(&expression, lenient, &[])?;
            entry["matching_indices"] = is_searchable(&found).into();
            entry["version"] = json!({
                "number": app.config.compat_version,
                "build_flavor": "default",
                "minimum_wire_compatibility_version": "7.17.0",
                "minimum_index_compatibility_version": "7.0.0",
            });
        }
        Err(error) => entry["error"] = error.reason.into(),
    }
    Ok(Response::ok(json!({ "(local)": entry })))
}
