//! Endpoints that Elasticsearch or OpenSearch has and Limber lacks. They are refused by name, so that nobody
//! looks for a typo.

use limber_engine::Result;
use limber_mapping::RequestError;

use super::router::ANY_PARAMETER;
use super::{App, Route};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;

const EVERY: &[Method] =
    &[Method::Get, Method::Head, Method::Post, Method::Put, Method::Delete, Method::Patch];

const fn absent(path: &'static str) -> Route {
    Route { methods: EVERY, path, parameters: &[ANY_PARAMETER], pool: PoolName::Management, handler: refuse }
}

/// Whether this module refuses the route.
pub fn refuses(route: &Route) -> bool {
    ROUTES.iter().chain(FAMILIES).any(|absent| absent.path == route.path)
}

/// Endpoints that Limber does not have, each refused by its name. OpenSearch's come last. Part of
/// [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    absent("/_cat/ml/{what}"),
    absent("/_cat/ml/{what}/{id}"),
    absent("/_transform/set_upgrade_mode"),
    absent("/_inference"),
    absent("/{index}/_graph/explore"),
    absent("/{index}/_ccr/{what}"),
    absent("/{index}/_search_template"),
    absent("/{index}/_eql/search"),
    absent("/_ilm/migrate_to_data_tiers"),
    absent("/{index}/_knn_search"),
    absent("/_knn_search"),
    absent("/_query"),
    absent("/_snapshot/{repository}/_analyze"),
    absent("/_snapshot/{repository}/_verify_integrity"),
    absent("/_snapshot/{repository}/{snapshot}/_mount"),
    absent("/_sql"),
    absent("/_sql/{what}"),
    absent("/_migration/reindex"),
    absent("/_migration/reindex/{index}/{what}"),
    absent("/{index}/_downsample/{target_index}"),
    absent("/_nodes/{node_id}/_repositories_metering/{max_archive_version}"),
    absent("/_nodes/{node_id}/shutdown"),
    absent("/_cat/ml/{what}/{kind}/{id}"),
    absent("/_ingest/geoip/database"),
    absent("/_ingest/geoip/database/{id}"),
    absent("/_ingest/ip_location/database"),
    absent("/_ingest/ip_location/database/{id}"),
    absent("/_license"),
    absent("/_connector"),
    absent("/_query/async"),
    absent("/_query/async/{id}"),
    absent("/_query/async/{id}/stop"),
    absent("/{index}/_fleet/{what}"),
    absent("/{index}/_rollup/data"),
    absent("/{index}/_rollup_search"),
    absent("/{index}/_searchable_snapshots/{what}"),
    absent("/{index}/_searchable_snapshots/cache/clear"),
    absent("/_sql/async/{id}"),
    absent("/_sql/async/{what}/{id}"),
    absent("/_streams/{what}"),
    absent("/_streams/logs/{what}"),
    absent("/_bulk/stream"),
    absent("/{index}/_bulk/stream"),
    absent("/_cluster/routing/awareness/weights"),
    absent("/_cluster/routing/awareness/{attribute}/weights"),
    absent("/_filecache/prune"),
    absent("/{index}/_scale"),
    absent("/{index}/_tier"),
    absent("/{index}/_tier/{target_tier}"),
    absent("/{index}/_upgrade"),
    absent("/{index}/ingestion/{what}"),
    absent("/_insights/{what}"),
    absent("/_list/wlm_stats"),
    absent("/_list/wlm_stats/{what}"),
    absent("/_list/wlm_stats/{what}/{workload_groups}"),
    absent("/_nodes/{node_id}/_wlm/{what}"),
    absent("/_rules/{feature}"),
    absent("/_rules/{feature}/{id}"),
    absent("/_tier/{what}"),
    absent("/_upgrade"),
];

/// The prefixes of whole endpoint families; every path below them is refused.
pub const FAMILIES: &[Route] = &[
    absent("/_security/{a}"),
    absent("/_security/{a}/{b}"),
    absent("/_security/{a}/{b}/{c}"),
    absent("/_security/{a}/{b}/{c}/{d}"),
    absent("/_ml/{a}"),
    absent("/_ml/{a}/{b}"),
    absent("/_ml/{a}/{b}/{c}"),
    absent("/_ml/{a}/{b}/{c}/{d}"),
    absent("/_watcher/{a}"),
    absent("/_watcher/{a}/{b}"),
    absent("/_watcher/{a}/{b}/{c}"),
    absent("/_watcher/{a}/{b}/{c}/{d}"),
    absent("/_ccr/{a}"),
    absent("/_ccr/{a}/{b}"),
    absent("/_ccr/{a}/{b}/{c}"),
    absent("/_ccr/{a}/{b}/{c}/{d}"),
    absent("/_rollup/{a}"),
    absent("/_rollup/{a}/{b}"),
    absent("/_rollup/{a}/{b}/{c}"),
    absent("/_rollup/{a}/{b}/{c}/{d}"),
    absent("/_graph/{a}"),
    absent("/_graph/{a}/{b}"),
    absent("/_graph/{a}/{b}/{c}"),
    absent("/_graph/{a}/{b}/{c}/{d}"),
    absent("/_eql/{a}"),
    absent("/_eql/{a}/{b}"),
    absent("/_eql/{a}/{b}/{c}"),
    absent("/_eql/{a}/{b}/{c}/{d}"),
    absent("/_text_structure/{a}"),
    absent("/_text_structure/{a}/{b}"),
    absent("/_text_structure/{a}/{b}/{c}"),
    absent("/_text_structure/{a}/{b}/{c}/{d}"),
    absent("/_application/{a}"),
    absent("/_application/{a}/{b}"),
    absent("/_application/{a}/{b}/{c}"),
    absent("/_application/{a}/{b}/{c}/{d}"),
    absent("/_inference/{a}"),
    absent("/_inference/{a}/{b}"),
    absent("/_inference/{a}/{b}/{c}"),
    absent("/_inference/{a}/{b}/{c}/{d}"),
    absent("/_connector/{a}"),
    absent("/_connector/{a}/{b}"),
    absent("/_connector/{a}/{b}/{c}"),
    absent("/_connector/{a}/{b}/{c}/{d}"),
    absent("/_fleet/{a}"),
    absent("/_fleet/{a}/{b}"),
    absent("/_fleet/{a}/{b}/{c}"),
    absent("/_fleet/{a}/{b}/{c}/{d}"),
    absent("/_autoscaling/{a}"),
    absent("/_autoscaling/{a}/{b}"),
    absent("/_autoscaling/{a}/{b}/{c}"),
    absent("/_autoscaling/{a}/{b}/{c}/{d}"),
    absent("/_searchable_snapshots/{a}"),
    absent("/_searchable_snapshots/{a}/{b}"),
    absent("/_searchable_snapshots/{a}/{b}/{c}"),
    absent("/_searchable_snapshots/{a}/{b}/{c}/{d}"),
    absent("/_logstash/{a}"),
    absent("/_logstash/{a}/{b}"),
    absent("/_logstash/{a}/{b}/{c}"),
    absent("/_logstash/{a}/{b}/{c}/{d}"),
    absent("/_monitoring/{a}"),
    absent("/_monitoring/{a}/{b}"),
    absent("/_monitoring/{a}/{b}/{c}"),
    absent("/_monitoring/{a}/{b}/{c}/{d}"),
    absent("/_ml/{a}/{b}/{c}/{d}/{e}"),
    absent("/_ml/{a}/{b}/{c}/{d}/{e}/{f}"),
    absent("/_ml/{a}/{b}/{c}/{d}/{e}/{f}/{g}"),
    absent("/_security/{a}/{b}/{c}/{d}/{e}"),
    absent("/_security/{a}/{b}/{c}/{d}/{e}/{f}"),
    absent("/_security/{a}/{b}/{c}/{d}/{e}/{f}/{g}"),
    absent("/_ltr"),
    absent("/_ltr/{a}"),
    absent("/_ltr/{a}/{b}"),
    absent("/_ltr/{a}/{b}/{c}"),
    absent("/_ltr/{a}/{b}/{c}/{d}"),
    absent("/_ltr/{a}/{b}/{c}/{d}/{e}"),
    absent("/_ltr/{a}/{b}/{c}/{d}/{e}/{f}"),
    absent("/_opendistro/{a}"),
    absent("/_opendistro/{a}/{b}"),
    absent("/_opendistro/{a}/{b}/{c}"),
    absent("/_opendistro/{a}/{b}/{c}/{d}"),
    absent("/_opendistro/{a}/{b}/{c}/{d}/{e}"),
    absent("/_opendistro/{a}/{b}/{c}/{d}/{e}/{f}"),
    absent("/_opendistro/{a}/{b}/{c}/{d}/{e}/{f}/{g}"),
    absent("/_plugins/{a}"),
    absent("/_plugins/{a}/{b}"),
    absent("/_plugins/{a}/{b}/{c}"),
    absent("/_plugins/{a}/{b}/{c}/{d}"),
    absent("/_plugins/{a}/{b}/{c}/{d}/{e}"),
    absent("/_plugins/{a}/{b}/{c}/{d}/{e}/{f}"),
    absent("/_plugins/{a}/{b}/{c}/{d}/{e}/{f}/{g}"),
    absent("/_remotestore/{a}"),
    absent("/_remotestore/{a}/{b}"),
    absent("/_remotestore/{a}/{b}/{c}"),
    absent("/_remotestore/{a}/{b}/{c}/{d}"),
    absent("/_wlm/{a}"),
    absent("/_wlm/{a}/{b}"),
    absent("/_wlm/{a}/{b}/{c}"),
    absent("/_wlm/{a}/{b}/{c}/{d}"),
];

/// Whether the route only refuses requests.
pub fn is_refusal(route: &Route) -> bool {
    route.parameters == [ANY_PARAMETER]
        && std::ptr::fn_addr_eq(route.handler, refuse as super::router::Handler)
}

fn refuse(_: &App, request: &Request) -> Result<Response> {
    let path = request.uri.split('?').next().unwrap_or("");
    Err(RequestError::unsupported(format!("the API [{path}]")))
}
