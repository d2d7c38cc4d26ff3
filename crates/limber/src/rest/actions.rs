//! Which action each route carries out: "what must somebody be allowed to do, to ask for this?"
//!
//! Names are Elasticsearch's. An action of the cluster (`cluster:...`, templates) is allowed or not as a
//! whole; one on indices is checked again for every name, where names are looked up in the engine. A route
//! without an action fails a test, and is nobody's but for superusers.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::Route;
use crate::http::request::Method;

/// For what everybody may ask who is known.
const KNOWN: &str = "cluster:admin/xpack/security/user/authenticate";
/// For routes that are refused by name, whoever asks.
const ABSENT: &str = KNOWN;
/// Nobody's but for superusers.
const UNNAMED: &str = "cluster:unnamed";

/// Methods, path and action.
type Row = (&'static str, &'static str, &'static str);

const SECURITY: &[Row] = &[
    ("GET", "/_security/_authenticate", KNOWN),
    ("GET", "/_security/user", "cluster:admin/xpack/security/user/get"),
    ("GET", "/_security/user/{username}", "cluster:admin/xpack/security/user/get"),
    ("PUT POST", "/_security/user/{username}", "cluster:admin/xpack/security/user/put"),
    ("DELETE", "/_security/user/{username}", "cluster:admin/xpack/security/user/delete"),
    // All users may change their own: the handler looks whose it is.
    ("PUT POST", "/_security/user/_password", KNOWN),
    ("PUT POST", "/_security/user/{username}/_password", KNOWN),
    ("PUT POST", "/_security/user/{username}/_enable", "cluster:admin/xpack/security/user/set_enabled"),
    ("PUT POST", "/_security/user/{username}/_disable", "cluster:admin/xpack/security/user/set_enabled"),
    ("GET", "/_security/user/_privileges", "cluster:admin/xpack/security/user/list_privileges"),
    ("GET POST", "/_security/user/_has_privileges", "cluster:admin/xpack/security/user/has_privileges"),
    // To ask about another user takes more: the handler looks whose privileges are asked for.
    (
        "GET POST",
        "/_security/user/{username}/_has_privileges",
        "cluster:admin/xpack/security/user/has_privileges",
    ),
    ("GET", "/_security/role", "cluster:admin/xpack/security/role/get"),
    ("POST", "/_security/role", "cluster:admin/xpack/security/role/bulk_put"),
    ("DELETE", "/_security/role", "cluster:admin/xpack/security/role/bulk_delete"),
    ("GET POST", "/_security/_query/role", "cluster:admin/xpack/security/role/query"),
    ("GET POST", "/_security/_query/user", "cluster:admin/xpack/security/user/query"),
    ("GET", "/_security/role/{name}", "cluster:admin/xpack/security/role/get"),
    ("PUT POST", "/_security/role/{name}", "cluster:admin/xpack/security/role/put"),
    ("DELETE", "/_security/role/{name}", "cluster:admin/xpack/security/role/delete"),
    ("PUT POST", "/_security/role/{name}/_clear_cache", "cluster:admin/xpack/security/roles/cache/clear"),
    ("PUT POST", "/_security/realm/{realms}/_clear_cache", "cluster:admin/xpack/security/realm/cache/clear"),
    (
        "PUT POST",
        "/_security/service/{namespace}/{service}/credential/token/{name}/_clear_cache",
        "cluster:admin/xpack/security/cache/clear",
    ),
    ("PUT POST", "/_security/api_key/{ids}/_clear_cache", "cluster:admin/xpack/security/cache/clear"),
    (
        "PUT POST",
        "/_security/privilege/{application}/_clear_cache",
        "cluster:admin/xpack/security/cache/clear",
    ),
    ("GET", "/_security/role_mapping", "cluster:admin/xpack/security/role_mapping/get"),
    ("GET", "/_security/role_mapping/{name}", "cluster:admin/xpack/security/role_mapping/get"),
    ("PUT POST", "/_security/role_mapping/{name}", "cluster:admin/xpack/security/role_mapping/put"),
    ("DELETE", "/_security/role_mapping/{name}", "cluster:admin/xpack/security/role_mapping/delete"),
    ("PUT POST", "/_security/api_key", "cluster:admin/xpack/security/api_key/create"),
    ("GET", "/_security/api_key", "cluster:admin/xpack/security/api_key/get"),
    ("DELETE", "/_security/api_key", "cluster:admin/xpack/security/api_key/invalidate"),
    ("POST", "/_security/api_key/_bulk_update", "cluster:admin/xpack/security/api_key/bulk_update"),
    ("PUT", "/_security/api_key/{id}", "cluster:admin/xpack/security/api_key/update"),
    ("GET POST", "/_security/_query/api_key", "cluster:admin/xpack/security/api_key/query"),
    ("POST", "/_security/api_key/grant", "cluster:admin/xpack/security/api_key/grant"),
    ("GET", "/_security/privilege", "cluster:admin/xpack/security/privilege/get"),
    ("GET", "/_security/privilege/{application}", "cluster:admin/xpack/security/privilege/get"),
    ("GET", "/_security/privilege/{application}/{privilege}", "cluster:admin/xpack/security/privilege/get"),
    ("PUT POST", "/_security/privilege", "cluster:admin/xpack/security/privilege/put"),
    (
        "DELETE",
        "/_security/privilege/{application}/{privilege}",
        "cluster:admin/xpack/security/privilege/delete",
    ),
    ("GET", "/_security/privilege/_builtin", "cluster:admin/xpack/security/privilege/builtin/get"),
    ("GET", "/_security/service", "cluster:admin/xpack/security/service_account/get"),
    ("GET", "/_security/service/{namespace}", "cluster:admin/xpack/security/service_account/get"),
    ("GET", "/_security/service/{namespace}/{service}", "cluster:admin/xpack/security/service_account/get"),
    (
        "GET",
        "/_security/service/{namespace}/{service}/credential",
        "cluster:admin/xpack/security/service_account/credential/get",
    ),
    (
        "PUT POST",
        "/_security/service/{namespace}/{service}/credential/token/{name}",
        "cluster:admin/xpack/security/service_account/token/create",
    ),
    (
        "POST",
        "/_security/service/{namespace}/{service}/credential/token",
        "cluster:admin/xpack/security/service_account/token/create",
    ),
    (
        "DELETE",
        "/_security/service/{namespace}/{service}/credential/token/{name}",
        "cluster:admin/xpack/security/service_account/token/delete",
    ),
    ("POST DELETE", "/_security/oauth2/token", ABSENT),
];

const DOCUMENTS: &[Row] = &[
    ("POST PUT", "/_bulk", "indices:data/write/bulk"),
    ("POST PUT", "/{index}/_bulk", "indices:data/write/bulk"),
    ("PUT POST", "/{index}/_doc/{id}", "indices:data/write/index"),
    ("POST", "/{index}/_doc", "indices:data/write/index"),
    ("PUT POST", "/{index}/_create/{id}", "indices:data/write/index"),
    ("POST", "/{index}/_update/{id}", "indices:data/write/update"),
    ("DELETE", "/{index}/_doc/{id}", "indices:data/write/delete"),
    ("GET", "/{index}/_doc/{id}", "indices:data/read/get"),
    ("GET", "/{index}/_source/{id}", "indices:data/read/get"),
    ("GET POST", "/_mget", "indices:data/read/mget"),
    ("GET POST", "/{index}/_mget", "indices:data/read/mget"),
    ("POST", "/{index}/_delete_by_query", "indices:data/write/delete/byquery"),
    ("POST", "/{index}/_update_by_query", "indices:data/write/update/byquery"),
    ("POST", "/_delete_by_query/{task}/_rethrottle", "cluster:admin/reindex/rethrottle"),
    ("POST", "/_update_by_query/{task}/_rethrottle", "cluster:admin/reindex/rethrottle"),
    ("POST", "/_reindex/{task}/_rethrottle", "cluster:admin/reindex/rethrottle"),
    ("POST", "/_reindex", "indices:data/write/reindex"),
];

const SEARCHES: &[Row] = &[
    ("GET POST", "/_search", "indices:data/read/search"),
    ("GET POST", "/{index}/_search", "indices:data/read/search"),
    ("GET POST", "/_msearch", "indices:data/read/msearch"),
    ("GET POST", "/{index}/_msearch", "indices:data/read/msearch"),
    ("GET POST", "/_search/template", "indices:data/read/search/template"),
    ("GET POST", "/{index}/_search/template", "indices:data/read/search/template"),
    ("GET POST", "/_msearch/template", "indices:data/read/msearch/template"),
    ("GET POST", "/{index}/_msearch/template", "indices:data/read/msearch/template"),
    ("GET POST", "/_render/template", "indices:data/read/search/template"),
    ("GET POST", "/_render/template/{id}", "indices:data/read/search/template"),
    ("POST", "/_async_search", "indices:data/read/async_search/submit"),
    ("POST", "/{index}/_async_search", "indices:data/read/async_search/submit"),
    ("GET", "/_async_search/status/{id}", "indices:data/read/async_search/get"),
    ("GET", "/_async_search/{id}", "indices:data/read/async_search/get"),
    ("DELETE", "/_async_search/{id}", "indices:data/read/async_search/delete"),
    ("*", "/_rank_eval", "indices:data/read/rank_eval"),
    ("*", "/{index}/_rank_eval", "indices:data/read/rank_eval"),
    ("GET POST", "/_search/scroll", "indices:data/read/scroll"),
    ("GET POST", "/_search/scroll/{scroll_id}", "indices:data/read/scroll"),
    ("DELETE", "/_search/scroll", "indices:data/read/scroll/clear"),
    ("DELETE", "/_search/scroll/{scroll_id}", "indices:data/read/scroll/clear"),
    ("POST", "/_pit", "indices:data/read/open_point_in_time"),
    ("POST", "/{index}/_pit", "indices:data/read/open_point_in_time"),
    ("DELETE", "/_pit", "indices:data/read/close_point_in_time"),
    ("GET POST", "/_count", "indices:data/read/search"),
    ("GET POST", "/{index}/_count", "indices:data/read/search"),
    ("GET POST", "/{index}/_explain/{id}", "indices:data/read/explain"),
    ("GET POST", "/_field_caps", "indices:data/read/field_caps"),
    ("GET POST", "/{index}/_field_caps", "indices:data/read/field_caps"),
    ("*", "/{index}/_termvectors", "indices:data/read/tv"),
    ("*", "/{index}/_termvectors/{id}", "indices:data/read/tv"),
    ("*", "/_mtermvectors", "indices:data/read/mtv"),
    ("*", "/{index}/_mtermvectors", "indices:data/read/mtv"),
    ("GET POST", "/{index}/_terms_enum", "indices:data/read/xpack/termsenum/list"),
    ("GET POST", "/_validate/query", "indices:admin/validate/query"),
    ("GET POST", "/{index}/_validate/query", "indices:admin/validate/query"),
    ("GET POST", "/_search_shards", "indices:admin/shards/search_shards"),
    ("GET POST", "/{index}/_search_shards", "indices:admin/shards/search_shards"),
];

const INDICES: &[Row] = &[
    ("PUT", "/{index}", "indices:admin/create"),
    ("DELETE", "/{index}", "indices:admin/delete"),
    ("GET", "/{index}", "indices:admin/get"),
    ("HEAD", "/{index}", "indices:admin/get"),
    ("PUT POST", "/{index}/_clone/{target}", "indices:admin/resize"),
    ("PUT POST", "/{index}/_shrink/{target}", "indices:admin/resize"),
    ("PUT POST", "/{index}/_split/{target}", "indices:admin/resize"),
    ("POST", "/{index}/_open", "indices:admin/open"),
    ("POST", "/{index}/_unfreeze", "indices:admin/freeze"),
    ("POST", "/_open", "indices:admin/open"),
    ("POST", "/{index}/_close", "indices:admin/close"),
    ("POST", "/_close", "indices:admin/close"),
    ("PUT", "/{index}/_block/{block}", "indices:admin/block/add"),
    ("GET POST", "/_resolve/index/{name}", "indices:admin/resolve/index"),
    ("PUT", "/_data_stream/{name}", "indices:admin/data_stream/create"),
    ("DELETE", "/_data_stream/{name}", "indices:admin/data_stream/delete"),
    ("GET", "/_data_stream", "indices:admin/data_stream/get"),
    ("GET", "/_data_stream/{name}", "indices:admin/data_stream/get"),
    ("GET", "/_data_stream/_stats", "indices:monitor/data_stream/stats"),
    ("GET", "/_data_stream/{name}/_stats", "indices:monitor/data_stream/stats"),
    ("POST", "/_data_stream/_modify", "indices:admin/data_stream/modify"),
    ("POST", "/_data_stream/_migrate/{name}", "indices:admin/data_stream/migrate"),
    ("POST", "/_data_stream/_promote/{name}", "indices:admin/data_stream/promote"),
    ("PUT", "/_data_stream/{name}/_lifecycle", "indices:admin/data_stream/lifecycle/put"),
    ("GET", "/_data_stream/{name}/_lifecycle", "indices:admin/data_stream/lifecycle/get"),
    ("DELETE", "/_data_stream/{name}/_lifecycle", "indices:admin/data_stream/lifecycle/delete"),
    ("GET POST", "/{index}/_lifecycle/explain", "indices:admin/data_stream/lifecycle/explain"),
    ("POST", "/{index}/_rollover", "indices:admin/rollover"),
    ("POST", "/{index}/_rollover/{new_index}", "indices:admin/rollover"),
    ("PUT POST", "/{index}/_mapping", "indices:admin/mapping/put"),
    ("PUT POST", "/{index}/_mappings", "indices:admin/mapping/put"),
    ("GET", "/_mapping", "indices:admin/mappings/get"),
    ("GET", "/_mappings", "indices:admin/mappings/get"),
    ("GET", "/{index}/_mapping", "indices:admin/mappings/get"),
    ("GET", "/{index}/_mappings", "indices:admin/mappings/get"),
    ("GET", "/_mapping/field/{fields}", "indices:admin/mappings/fields/get"),
    ("GET", "/{index}/_mapping/field/{fields}", "indices:admin/mappings/fields/get"),
    ("PUT", "/_settings", "indices:admin/settings/update"),
    ("PUT", "/{index}/_settings", "indices:admin/settings/update"),
    ("GET", "/_settings", "indices:monitor/settings/get"),
    ("GET", "/_settings/{name}", "indices:monitor/settings/get"),
    ("GET", "/{index}/_settings", "indices:monitor/settings/get"),
    ("GET", "/{index}/_settings/{name}", "indices:monitor/settings/get"),
    ("POST", "/_aliases", "indices:admin/aliases"),
    ("PUT POST DELETE", "/{index}/_alias/{name}", "indices:admin/aliases"),
    ("PUT POST DELETE", "/{index}/_aliases/{name}", "indices:admin/aliases"),
    ("GET", "/_alias", "indices:admin/aliases/get"),
    ("GET", "/_aliases", "indices:admin/aliases/get"),
    ("GET", "/_alias/{name}", "indices:admin/aliases/get"),
    ("GET", "/{index}/_alias", "indices:admin/aliases/get"),
    ("GET", "/{index}/_alias/{name}", "indices:admin/aliases/get"),
    ("GET POST", "/_refresh", "indices:admin/refresh"),
    ("GET POST", "/{index}/_refresh", "indices:admin/refresh"),
    ("GET POST", "/_flush", "indices:admin/flush"),
    ("GET POST", "/{index}/_flush", "indices:admin/flush"),
    ("POST", "/_forcemerge", "indices:admin/forcemerge"),
    ("POST", "/{index}/_forcemerge", "indices:admin/forcemerge"),
    ("POST", "/_cache/clear", "indices:admin/cache/clear"),
    ("POST", "/{index}/_cache/clear", "indices:admin/cache/clear"),
    ("GET", "/_stats", "indices:monitor/stats"),
    ("GET", "/_stats/{metric}", "indices:monitor/stats"),
    ("GET", "/{index}/_stats", "indices:monitor/stats"),
    ("GET", "/{index}/_stats/{metric}", "indices:monitor/stats"),
    ("POST", "/{index}/_disk_usage", "indices:admin/analyze_disk_usage"),
    ("GET", "/_segments", "indices:monitor/segments"),
    ("GET", "/{index}/_segments", "indices:monitor/segments"),
    ("GET", "/_recovery", "indices:monitor/recovery"),
    ("GET", "/{index}/_recovery", "indices:monitor/recovery"),
    ("GET", "/_shard_stores", "indices:monitor/shard_stores"),
    ("GET", "/{index}/_shard_stores", "indices:monitor/shard_stores"),
    ("GET POST", "/_analyze", "cluster:admin/analyze"),
    ("GET POST", "/{index}/_analyze", "indices:admin/analyze"),
    ("GET", "/{index}/_ilm/explain", "indices:admin/ilm/explain"),
    ("POST", "/{index}/_ilm/retry", "indices:admin/ilm/retry"),
    ("POST", "/{index}/_ilm/remove", "indices:admin/ilm/remove_policy"),
    ("PUT POST", "/_template/{name}", "indices:admin/template/put"),
    ("GET", "/_template", "indices:admin/template/get"),
    ("GET", "/_template/{name}", "indices:admin/template/get"),
    ("DELETE", "/_template/{name}", "indices:admin/template/delete"),
    ("PUT POST", "/_index_template/{name}", "indices:admin/index_template/put"),
    ("GET", "/_index_template", "indices:admin/index_template/get"),
    ("GET", "/_index_template/{name}", "indices:admin/index_template/get"),
    ("DELETE", "/_index_template/{name}", "indices:admin/index_template/delete"),
    ("POST", "/_index_template/_simulate_index/{name}", "indices:admin/index_template/simulate_index"),
    ("POST", "/_index_template/_simulate", "indices:admin/index_template/simulate"),
    ("POST", "/_index_template/_simulate/{name}", "indices:admin/index_template/simulate"),
    ("PUT POST", "/_component_template/{name}", "cluster:admin/component_template/put"),
    ("GET", "/_component_template", "cluster:admin/component_template/get"),
    ("GET", "/_component_template/{name}", "cluster:admin/component_template/get"),
    ("DELETE", "/_component_template/{name}", "cluster:admin/component_template/delete"),
];

const CLUSTER: &[Row] = &[
    ("GET HEAD", "/", "cluster:monitor/main"),
    ("GET", "/_dangling", "cluster:admin/indices/dangling/list"),
    ("POST", "/_dangling/{index_uuid}", "cluster:admin/indices/dangling/import"),
    ("DELETE", "/_dangling/{index_uuid}", "cluster:admin/indices/dangling/delete"),
    ("PUT", "/_ilm/policy/{name}", "cluster:admin/ilm/put"),
    ("GET", "/_ilm/policy", "cluster:admin/ilm/get"),
    ("GET", "/_ilm/policy/{name}", "cluster:admin/ilm/get"),
    ("DELETE", "/_ilm/policy/{name}", "cluster:admin/ilm/delete"),
    ("GET", "/_ilm/status", "cluster:admin/ilm/operation_mode/get"),
    ("POST", "/_ilm/move/{index}", "cluster:admin/ilm/_move/post"),
    ("POST", "/_ilm/start", "cluster:admin/ilm/start"),
    ("POST", "/_ilm/stop", "cluster:admin/ilm/stop"),
    ("GET", "/_slm/policy", "cluster:admin/slm/get"),
    ("GET", "/_slm/policy/{name}", "cluster:admin/slm/get"),
    ("PUT", "/_slm/policy/{name}", "cluster:admin/slm/put"),
    ("DELETE", "/_slm/policy/{name}", "cluster:admin/slm/delete"),
    ("PUT POST", "/_slm/policy/{name}/_execute", "cluster:admin/slm/execute"),
    ("POST", "/_slm/_execute_retention", "cluster:admin/slm/execute-retention"),
    ("GET", "/_slm/status", "cluster:admin/slm/status"),
    ("GET", "/_slm/stats", "cluster:admin/slm/stats"),
    ("POST", "/_slm/start", "cluster:admin/slm/start"),
    ("POST", "/_slm/stop", "cluster:admin/slm/stop"),
    ("GET", "/_snapshot", "cluster:admin/repository/get"),
    ("GET", "/_snapshot/{repository}", "cluster:admin/repository/get"),
    ("PUT POST", "/_snapshot/{repository}", "cluster:admin/repository/put"),
    ("DELETE", "/_snapshot/{repository}", "cluster:admin/repository/delete"),
    ("POST", "/_snapshot/{repository}/_verify", "cluster:admin/repository/verify"),
    ("POST", "/_snapshot/{repository}/_cleanup", "cluster:admin/repository/_cleanup"),
    ("GET", "/_snapshot/_status", "cluster:admin/snapshot/status"),
    ("GET", "/_snapshot/{repository}/_status", "cluster:admin/snapshot/status"),
    ("GET", "/_snapshot/{repository}/{snapshot}/_status", "cluster:admin/snapshot/status"),
    ("PUT POST", "/_snapshot/{repository}/{snapshot}", "cluster:admin/snapshot/create"),
    ("GET", "/_snapshot/{repository}/{snapshot}", "cluster:admin/snapshot/get"),
    ("DELETE", "/_snapshot/{repository}/{snapshot}", "cluster:admin/snapshot/delete"),
    ("PUT", "/_snapshot/{repository}/{snapshot}/_clone/{target}", "cluster:admin/snapshot/clone"),
    ("POST", "/_snapshot/{repository}/{snapshot}/_restore", "cluster:admin/snapshot/restore"),
    ("GET", "/_cluster/health", "cluster:monitor/health"),
    ("GET", "/_cluster/health/{index}", "cluster:monitor/health"),
    ("GET", "/_cluster/state", "cluster:monitor/state"),
    ("GET", "/_cluster/state/{metrics}", "cluster:monitor/state"),
    ("GET", "/_cluster/state/{metrics}/{index}", "cluster:monitor/state"),
    ("GET", "/_cluster/settings", "cluster:monitor/settings"),
    ("PUT", "/_cluster/settings", "cluster:admin/settings/update"),
    ("GET", "/_cluster/pending_tasks", "cluster:monitor/task"),
    ("GET", "/_cluster/stats", "cluster:monitor/stats"),
    ("GET", "/_cluster/stats/nodes/{node}", "cluster:monitor/stats"),
    ("GET POST", "/_cluster/allocation/explain", "cluster:monitor/allocation/explain"),
    ("POST", "/_cluster/voting_config_exclusions", "cluster:admin/voting_config/add_exclusions"),
    ("DELETE", "/_cluster/voting_config_exclusions", "cluster:admin/voting_config/clear_exclusions"),
    ("GET", "/_prometheus/metrics", "cluster:monitor/nodes/stats"),
    // The page for browsers. Slow requests are shown with their bodies, as tasks are with their descriptions.
    ("GET", "/_page/words", KNOWN),
    ("GET", "/_page/slow_requests", "cluster:monitor/tasks/lists"),
    ("GET", "/_page/races", "cluster:monitor/races/get"),
    ("GET", "/_page/races/{race}/report", "cluster:monitor/races/get"),
    ("POST", "/_cluster/reroute", "cluster:admin/reroute"),
    ("*", "/_nodes", "cluster:monitor/nodes/info"),
    ("*", "/_nodes/{node_or_metric}", "cluster:monitor/nodes/info"),
    ("*", "/_nodes/{node}/{metric}", "cluster:monitor/nodes/info"),
    ("*", "/_nodes/{node}/info/{metric}", "cluster:monitor/nodes/info"),
    ("*", "/_nodes/stats", "cluster:monitor/nodes/stats"),
    ("*", "/_nodes/stats/{metric}", "cluster:monitor/nodes/stats"),
    ("*", "/_nodes/stats/{metric}/{index_metric}", "cluster:monitor/nodes/stats"),
    ("*", "/_nodes/{node}/stats", "cluster:monitor/nodes/stats"),
    ("*", "/_nodes/{node}/stats/{metric}", "cluster:monitor/nodes/stats"),
    ("*", "/_nodes/{node}/stats/{metric}/{index_metric}", "cluster:monitor/nodes/stats"),
    ("*", "/_nodes/hot_threads", "cluster:monitor/nodes/hot_threads"),
    ("*", "/_nodes/{node}/hot_threads", "cluster:monitor/nodes/hot_threads"),
    ("*", "/_nodes/reload_secure_settings", "cluster:admin/nodes/reload_secure_settings"),
    ("*", "/_nodes/{node}/reload_secure_settings", "cluster:admin/nodes/reload_secure_settings"),
    ("GET", "/_nodes/usage", "cluster:monitor/nodes/usage"),
    ("GET", "/_nodes/usage/{metric}", "cluster:monitor/nodes/usage"),
    ("GET", "/_nodes/{node}/usage", "cluster:monitor/nodes/usage"),
    ("GET", "/_nodes/{node}/usage/{metric}", "cluster:monitor/nodes/usage"),
    ("GET", "/_info/{target}", "cluster:monitor/nodes/info"),
    ("GET", "/_capabilities", "cluster:monitor/nodes/capabilities"),
    ("GET", "/_resolve/cluster", "indices:admin/resolve/cluster"),
    ("GET", "/_resolve/cluster/{name}", "indices:admin/resolve/cluster"),
    ("GET", "/_migration/deprecations", "cluster:admin/xpack/deprecation/info"),
    ("GET", "/{index}/_migration/deprecations", "cluster:admin/xpack/deprecation/info"),
    ("GET", "/_migration/system_features", "cluster:admin/migration/get_system_feature"),
    ("POST", "/_migration/system_features", "cluster:admin/migration/post_system_feature"),
    ("PUT POST", "/_create_from/{source}/{dest}", "indices:admin/index/create_from_source"),
    ("POST", "/_license/start_basic", "cluster:admin/xpack/license/start_basic"),
    ("POST", "/_license/start_trial", "cluster:admin/xpack/license/start_trial"),
    ("GET", "/_license", "cluster:monitor/xpack/license/get"),
    ("GET", "/_license/basic_status", "cluster:monitor/xpack/license/basic_status"),
    ("GET", "/_license/trial_status", "cluster:monitor/xpack/license/trial_status"),
    ("GET", "/_xpack", "cluster:monitor/xpack/info"),
    ("GET", "/_xpack/usage", "cluster:monitor/xpack/usage"),
    ("GET", "/_features", "cluster:admin/features/get"),
    ("POST", "/_features/_reset", "cluster:admin/features/reset"),
    ("GET", "/_remote/info", "cluster:monitor/remote/info"),
    ("GET", "/_health_report", "cluster:monitor/health_api"),
    ("GET", "/_health_report/{feature}", "cluster:monitor/health_api"),
    ("GET", "/_tasks", "cluster:monitor/tasks/lists"),
    ("GET", "/_tasks/{task}", "cluster:monitor/task/get"),
    ("POST", "/_tasks/_cancel", "cluster:admin/tasks/cancel"),
    ("POST", "/_tasks/{task}/_cancel", "cluster:admin/tasks/cancel"),
    ("PUT", "/_ingest/pipeline/{id}", "cluster:admin/ingest/pipeline/put"),
    ("GET", "/_ingest/pipeline", "cluster:admin/ingest/pipeline/get"),
    ("GET", "/_ingest/pipeline/{id}", "cluster:admin/ingest/pipeline/get"),
    ("DELETE", "/_ingest/pipeline/{id}", "cluster:admin/ingest/pipeline/delete"),
    ("*", "/_ingest/pipeline/_simulate", "cluster:admin/ingest/pipeline/simulate"),
    ("*", "/_ingest/pipeline/{id}/_simulate", "cluster:admin/ingest/pipeline/simulate"),
    ("PUT", "/_enrich/policy/{name}", "cluster:admin/xpack/enrich/put"),
    ("GET", "/_enrich/policy", "cluster:admin/xpack/enrich/get"),
    ("GET", "/_enrich/policy/{name}", "cluster:admin/xpack/enrich/get"),
    ("DELETE", "/_enrich/policy/{name}", "cluster:admin/xpack/enrich/delete"),
    ("PUT POST", "/_enrich/policy/{name}/_execute", "cluster:admin/xpack/enrich/execute"),
    ("GET", "/_transform", "cluster:monitor/transform/get"),
    ("GET", "/_transform/{id}", "cluster:monitor/transform/get"),
    ("PUT", "/_transform/{id}", "cluster:admin/transform/put"),
    ("DELETE", "/_transform/{id}", "cluster:admin/transform/delete"),
    ("GET POST", "/_transform/_preview", "indices:data/read/search"),
    ("GET POST", "/_transform/{id}/_preview", "cluster:admin/transform/preview"),
    ("POST", "/_transform/{id}/_start", "cluster:admin/transform/start"),
    ("POST", "/_transform/{id}/_stop", "cluster:admin/transform/stop"),
    ("POST", "/_transform/{id}/_reset", "cluster:admin/transform/reset"),
    ("POST", "/_transform/{id}/_schedule_now", "cluster:admin/transform/schedule_now"),
    ("POST", "/_transform/{id}/_update", "cluster:admin/transform/update"),
    ("GET", "/_transform/_stats", "cluster:monitor/transform/stats/get"),
    ("GET", "/_transform/{id}/_stats", "cluster:monitor/transform/stats/get"),
    ("GET", "/_enrich/_stats", "cluster:monitor/xpack/enrich/stats"),
    ("GET POST", "/_ingest/_simulate", "indices:admin/simulate/bulk"),
    ("GET POST", "/_ingest/{index}/_simulate", "indices:admin/simulate/bulk"),
    ("GET", "/_ingest/processor/grok", "cluster:admin/ingest/processor/grok/get"),
    ("GET", "/_query_rules", "cluster:admin/xpack/query_rules/list"),
    ("GET", "/_query_rules/{set}", "cluster:admin/xpack/query_rules/get"),
    ("PUT", "/_query_rules/{set}", "cluster:admin/xpack/query_rules/put"),
    ("DELETE", "/_query_rules/{set}", "cluster:admin/xpack/query_rules/delete"),
    ("GET", "/_query_rules/{set}/_rule/{rule}", "cluster:admin/xpack/query_rules/rule/get"),
    ("PUT", "/_query_rules/{set}/_rule/{rule}", "cluster:admin/xpack/query_rules/rule/put"),
    ("DELETE", "/_query_rules/{set}/_rule/{rule}", "cluster:admin/xpack/query_rules/rule/delete"),
    ("POST", "/_query_rules/{set}/_test", "cluster:admin/xpack/query_rules/test"),
    ("GET", "/_ingest/geoip/stats", "cluster:monitor/ingest/geoip/stats"),
    ("GET", "/_lifecycle/stats", "cluster:monitor/data_stream/lifecycle/stats"),
    ("GET", "/_synonyms", "cluster:admin/synonyms_sets/get"),
    ("GET", "/_synonyms/{set}", "cluster:admin/synonyms/get"),
    ("PUT", "/_synonyms/{set}", "cluster:admin/synonyms/put"),
    ("DELETE", "/_synonyms/{set}", "cluster:admin/synonyms/delete"),
    ("GET", "/_synonyms/{set}/{rule}", "cluster:admin/synonym_rules/get"),
    ("PUT", "/_synonyms/{set}/{rule}", "cluster:admin/synonym_rules/put"),
    ("DELETE", "/_synonyms/{set}/{rule}", "cluster:admin/synonym_rules/delete"),
    ("GET POST", "/{index}/_reload_search_analyzers", "indices:admin/reload_analyzers"),
    ("PUT POST", "/_scripts/{id}", "cluster:admin/script/put"),
    ("PUT POST", "/_scripts/{id}/{context}", "cluster:admin/script/put"),
    ("GET", "/_scripts/{id}", "cluster:admin/script/get"),
    ("DELETE", "/_scripts/{id}", "cluster:admin/script/delete"),
    ("GET POST", "/_scripts/painless/_execute", "cluster:admin/scripts/painless/execute"),
    ("GET", "/_script_context", "cluster:admin/script_context/get"),
    ("GET", "/_script_language", "cluster:admin/script_language/get"),
];

const CAT: &[Row] = &[
    ("GET", "/_cat", KNOWN),
    ("GET", "/_cat/aliases", "indices:admin/aliases/get"),
    ("GET", "/_cat/aliases/{name}", "indices:admin/aliases/get"),
    ("GET", "/_cat/allocation", "cluster:monitor/nodes/stats"),
    ("GET", "/_cat/allocation/{node}", "cluster:monitor/nodes/stats"),
    ("GET", "/_cat/component_templates", "cluster:admin/component_template/get"),
    ("GET", "/_cat/component_templates/{name}", "cluster:admin/component_template/get"),
    ("GET POST", "/_cat/count", "indices:data/read/search"),
    ("GET POST", "/_cat/count/{index}", "indices:data/read/search"),
    ("GET", "/_cat/fielddata", "cluster:monitor/nodes/stats"),
    ("GET", "/_cat/fielddata/{fields}", "cluster:monitor/nodes/stats"),
    ("GET", "/_cat/health", "cluster:monitor/health"),
    ("GET", "/_cat/indices", "indices:monitor/stats"),
    ("GET", "/_cat/indices/{index}", "indices:monitor/stats"),
    ("GET", "/_cat/master", "cluster:monitor/state"),
    ("GET", "/_cat/cluster_manager", "cluster:monitor/state"),
    ("GET", "/_cat/nodeattrs", "cluster:monitor/nodes/info"),
    ("GET", "/_cat/nodes", "cluster:monitor/nodes/info"),
    ("GET", "/_cat/pending_tasks", "cluster:monitor/task"),
    ("GET", "/_cat/plugins", "cluster:monitor/nodes/info"),
    ("GET", "/_cat/recovery", "indices:monitor/recovery"),
    ("GET", "/_cat/recovery/{index}", "indices:monitor/recovery"),
    ("GET", "/_cat/repositories", "cluster:admin/repository/get"),
    ("GET", "/_cat/segment_memory", "indices:monitor/segments"),
    ("GET", "/_cat/segment_memory/{index}", "indices:monitor/segments"),
    ("GET", "/_cat/segments", "indices:monitor/segments"),
    ("GET", "/_cat/segments/{index}", "indices:monitor/segments"),
    ("GET", "/_cat/shards", "indices:monitor/stats"),
    ("GET", "/_cat/shards/{index}", "indices:monitor/stats"),
    ("GET", "/_cat/snapshots", "cluster:admin/snapshot/get"),
    ("GET", "/_cat/snapshots/{repository}", "cluster:admin/snapshot/get"),
    ("GET", "/_cat/tasks", "cluster:monitor/tasks/lists"),
    ("GET", "/_cat/templates", "indices:admin/template/get"),
    ("GET", "/_cat/templates/{name}", "indices:admin/template/get"),
    ("GET", "/_cat/thread_pool", "cluster:monitor/nodes/stats"),
    ("GET", "/_cat/thread_pool/{pools}", "cluster:monitor/nodes/stats"),
    ("GET", "/_cat/transforms", "cluster:monitor/transform/get"),
    ("GET", "/_cat/transforms/{transform_id}", "cluster:monitor/transform/get"),
];

const TABLES: [&[Row]; 6] = [SECURITY, DOCUMENTS, SEARCHES, INDICES, CLUSTER, CAT];

/// The action of a route; `None`: the table has none, which a test finds.
fn named(path: &str, method: Method) -> Option<&'static str> {
    static BY_PATH: OnceLock<HashMap<&'static str, Vec<(&'static str, &'static str)>>> = OnceLock::new();
    let by_path = BY_PATH.get_or_init(|| {
        let mut by_path: HashMap<_, Vec<_>> = HashMap::new();
        for (methods, path, action) in TABLES.iter().flat_map(|table| table.iter()) {
            by_path.entry(*path).or_default().push((*methods, *action));
        }
        by_path
    });
    let rows = by_path.get(path)?;
    let of = |wanted: &str| {
        rows.iter().find(|(methods, _)| *methods == "*" || methods.split(' ').any(|one| one == wanted))
    };
    let found = of(method.name()).or_else(|| (method == Method::Head).then(|| of("GET")).flatten());
    found.map(|(_, action)| *action)
}

/// What somebody must be allowed to do who asks for this.
pub fn action_of(route: &Route, method: Method) -> &'static str {
    let is_absent = || super::absent::refuses(route);
    named(route.path, method).unwrap_or_else(|| if is_absent() { ABSENT } else { UNNAMED })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::ROUTES;

    #[test]
    fn every_route_has_an_action() {
        let routes = ROUTES.iter().flat_map(|table| table.iter());
        let unnamed: Vec<String> = routes
            .flat_map(|route| route.methods.iter().map(move |method| (route, *method)))
            .filter(|(route, method)| action_of(route, *method) == UNNAMED)
            .map(|(route, method)| format!("{} {}", method.name(), route.path))
            .collect();
        assert!(unnamed.is_empty(), "routes without a row in the tables of rest/actions.rs: {unnamed:#?}");
    }

    #[test]
    fn every_row_has_a_route() {
        let paths: Vec<&str> = ROUTES.iter().flat_map(|table| table.iter()).map(|route| route.path).collect();
        for (_, path, _) in TABLES.iter().flat_map(|table| table.iter()) {
            assert!(paths.contains(path), "{path}");
        }
    }
}
