//! Which requests may have a body: "was something sent that no handler is going to read?"
//!
//! Elasticsearch refuses a body that a handler has not read (`BaseRestHandler`), before it carries the
//! request out. By default, reads (`GET`, `HEAD`) and deletions take no body here. The tables list the
//! exceptions.

use limber_mapping::RequestError;

use super::{Route, absent};
use crate::http::request::{Method, Request};

/// Deletions whose body names what to delete.
const DELETED_BY_BODY: &[&str] = &[
    "/_pit",
    "/_search/point_in_time",
    "/_search/scroll",
    "/_search/scroll/{scroll_id}",
    "/_security/api_key",
    "/_security/role",
];

/// Reads by `GET` only whose body says what to read.
const READ_BY_BODY: &[&str] = &["/_cat/pit_segments"];

/// Requests by `POST` or `PUT` that take no body. Sorted, because every bulk and every search is looked up
/// here.
const WITHOUT_BODY: &[&str] = &[
    "/_cache/clear",
    "/_close",
    "/_cluster/voting_config_exclusions",
    "/_dangling/{index_uuid}",
    "/_data_stream/_migrate/{name}",
    "/_data_stream/_promote/{name}",
    "/_data_stream/{name}",
    "/_delete_by_query/{task}/_rethrottle",
    "/_enrich/policy/{name}/_execute",
    "/_features/_reset",
    "/_flush",
    "/_forcemerge",
    "/_ilm/start",
    "/_ilm/stop",
    "/_license/start_basic",
    "/_license/start_trial",
    "/_migration/system_features",
    "/_open",
    "/_refresh",
    "/_reindex/{task}/_rethrottle",
    "/_resolve/index/{name}",
    "/_search_shards",
    "/_security/api_key/{ids}/_clear_cache",
    "/_security/privilege/{application}/_clear_cache",
    "/_security/realm/{realms}/_clear_cache",
    "/_security/role/{name}/_clear_cache",
    "/_security/service/{namespace}/{service}/credential/token/{name}/_clear_cache",
    "/_security/user/{username}/_disable",
    "/_security/user/{username}/_enable",
    "/_slm/_execute_retention",
    "/_slm/policy/{name}/_execute",
    "/_slm/start",
    "/_slm/stop",
    "/_snapshot/{repository}/_cleanup",
    "/_snapshot/{repository}/_verify",
    "/_tasks/_cancel",
    "/_tasks/{task}/_cancel",
    "/_transform/{id}/_reset",
    "/_transform/{id}/_schedule_now",
    "/_transform/{id}/_start",
    "/_transform/{id}/_stop",
    "/_update_by_query/{task}/_rethrottle",
    "/{index}/_block/{block}",
    "/{index}/_cache/clear",
    "/{index}/_close",
    "/{index}/_disk_usage",
    "/{index}/_flush",
    "/{index}/_forcemerge",
    "/{index}/_ilm/remove",
    "/{index}/_ilm/retry",
    "/{index}/_lifecycle/explain",
    "/{index}/_open",
    "/{index}/_refresh",
    "/{index}/_reload_search_analyzers",
    "/{index}/_search_shards",
    "/{index}/_unfreeze",
];

/// Requests whose body is a list of values, each ended by a separator. Elasticsearch:
/// `RestHandler#supportsBulkContent`.
const STREAMS: &[&str] = &["/_bulk", "/_msearch", "/_msearch/template"];

/// Returns whether the body of a request is a list of values.
pub fn is_stream(route: &Route) -> bool {
    STREAMS.iter().any(|end| route.path.ends_with(end))
}

fn takes_body(route: &Route, method: Method) -> bool {
    let is_only_read = || route.methods.iter().all(|method| matches!(method, Method::Get | Method::Head));
    match method {
        Method::Head => false,
        Method::Delete => DELETED_BY_BODY.contains(&route.path),
        Method::Get if is_only_read() => READ_BY_BODY.contains(&route.path),
        _ => WITHOUT_BODY.binary_search(&route.path).is_err(),
    }
}

/// Refuses a body that the route does not read. An API that Limber lacks is refused as such, with or without
/// a body.
pub fn check_body(route: &Route, method: Method, request: &Request) -> Result<(), RequestError> {
    if !request.has_body() || takes_body(route, method) || absent::is_refusal(route) {
        return Ok(());
    }
    let path = request.uri.split('?').next().unwrap_or_default();
    let reason = format!("request [{} {path}] does not support having a body", method.name());
    Err(RequestError::illegal_argument(reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::ROUTES;

    #[test]
    fn every_row_has_a_route() {
        assert!(WITHOUT_BODY.is_sorted());
        let paths: Vec<&str> = ROUTES.iter().flat_map(|table| table.iter()).map(|route| route.path).collect();
        for path in DELETED_BY_BODY.iter().chain(READ_BY_BODY).chain(WITHOUT_BODY) {
            assert!(paths.contains(path), "{path}");
        }
    }
}
