//! Endpoints that Elasticsearch has and Limber lacks: refused by name, so that nobody looks for a typing error.

use limber_engine::Result;
use limber_mapping::RequestError;

use super::router::ANY_PARAMETER;
use super::{App, Route};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;

const EVERY: &[Method] = &[Method::Get, Method::Head, Method::Post, Method::Put, Method::Delete];

const fn absent(path: &'static str) -> Route {
    Route { methods: EVERY, path, parameters: &[ANY_PARAMETER], pool: PoolName::Management, handler: refuse }
}

pub const ROUTES: &[Route] = &[
    absent("/_cat/ml/{what}"),
    absent("/_cluster/allocation/explain"),
    absent("/_cluster/reroute"),
    absent("/_data_stream/{name}/_options"),
    absent("/_data_stream/_migrate/{name}"),
    absent("/_data_stream/_promote/{name}"),
    absent("/_lifecycle/stats"),
    absent("/{index}/_clone/{target}"),
    absent("/{index}/_shrink/{target}"),
    absent("/{index}/_split/{target}"),
    absent("/{index}/_disk_usage"),
    absent("/{index}/_field_usage_stats"),
    absent("/{index}/_eql/search"),
    absent("/_ilm/migrate_to_data_tiers"),
    absent("/_ilm/move/{index}"),
    absent("/{index}/_knn_search"),
    absent("/_knn_search"),
    absent("/_msearch/template"),
    absent("/{index}/_msearch/template"),
    absent("/_nodes/hot_threads"),
    absent("/_nodes/{node}/hot_threads"),
    absent("/_nodes/usage"),
    absent("/_query"),
    absent("/_render/template"),
    absent("/_render/template/{id}"),
    absent("/_scripts/painless/_execute"),
    absent("/_search/template"),
    absent("/{index}/_search/template"),
    absent("/_snapshot/{repository}/_analyze"),
    absent("/_snapshot/{repository}/_verify_integrity"),
    absent("/_snapshot/{repository}/{snapshot}/_mount"),
    absent("/_sql"),
];

fn refuse(_: &App, request: &Request) -> Result<Response> {
    let path = request.uri.split('?').next().unwrap_or("");
    Err(RequestError::unsupported(format!("the API [{path}]")))
}
