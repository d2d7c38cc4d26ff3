//! `_cat`: statistics as aligned text, one file per table. All tables share the parameters of [`table`].

mod aliases;
mod allocation;
mod circuit_breaker;
mod component_templates;
mod count;
mod fielddata;
mod health;
mod help;
mod indices;
mod list;
mod master;
mod nodeattrs;
mod nodes;
mod page;
mod pending_tasks;
mod plugins;
mod recovery;
mod repositories;
mod rows;
mod segment_memory;
mod segment_replication;
mod segments;
mod shards;
mod snapshots;
mod statistics;
mod table;
mod tasks;
mod templates;
mod thread_pool;
mod transforms;

use super::router::get;
use super::{App, Route};
use crate::http::pools::PoolName;
use crate::http::request::Method;

/// Parameters of every table, followed by a table's own.
macro_rules! with_table_parameters {
    ($($more:literal),* $(,)?) => {
        &["v", "h", "s", "help", "bytes", "size", "time", "ts", "pri", "local", "master_timeout", $($more),*]
    };
}

/// Parameters of every paginated table, followed by a table's own.
macro_rules! with_page_parameters {
    ($($more:literal),*) => {
        with_table_parameters!["expand_wildcards", "next_token", "sort", $($more),*]
    };
}

/// Parameters of tables that have none of their own.
const TABLE: &[&str] = with_table_parameters![];
const ALIASES: &[&str] = with_table_parameters!["ignore_unavailable", "allow_no_indices", "expand_wildcards"];
const COUNT: &[&str] =
    with_table_parameters!["analyze_wildcard", "analyzer", "default_operator", "df", "lenient", "q"];
const INDICES: &[&str] = with_table_parameters![
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
    "health",
    "include_unloaded_segments"
];
const LIST_INDICES: &[&str] = with_page_parameters!["health", "include_unloaded_segments"];
const LIST_SHARDS: &[&str] = with_page_parameters![];
const RECOVERY: &[&str] = with_table_parameters![
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
    "active_only",
    "detailed"
];
const SEGMENT_MEMORY: &[&str] = with_table_parameters!["expand_wildcards"];
const SEGMENT_REPLICATION: &[&str] =
    with_table_parameters!["expand_wildcards", "active_only", "completed_only", "detailed", "shards"];
const SEGMENTS: &[&str] = with_table_parameters![
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
    "ignore_throttled",
    "allow_closed"
];
const SNAPSHOTS: &[&str] = with_table_parameters!["ignore_unavailable"];
const TRANSFORMS: &[&str] = with_table_parameters!["allow_no_match", "from"];

/// The endpoints of this file (`_cat`, `_list`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    get("/_cat", &[], help::help),
    get("/_cat/aliases", ALIASES, aliases::aliases),
    get("/_cat/aliases/{name}", ALIASES, aliases::aliases),
    get("/_cat/allocation", TABLE, allocation::allocation),
    get("/_cat/allocation/{node}", TABLE, allocation::allocation),
    get("/_cat/component_templates", TABLE, component_templates::component_templates),
    get("/_cat/component_templates/{name}", TABLE, component_templates::component_templates),
    Route {
        methods: &[Method::Get, Method::Post],
        path: "/_cat/count",
        parameters: COUNT,
        pool: PoolName::Management,
        handler: count::count,
    },
    Route {
        methods: &[Method::Get, Method::Post],
        path: "/_cat/count/{index}",
        parameters: COUNT,
        pool: PoolName::Management,
        handler: count::count,
    },
    get("/_cat/fielddata", with_table_parameters!["fields"], fielddata::fielddata),
    get("/_cat/fielddata/{fields}", TABLE, fielddata::fielddata),
    get("/_cat/health", TABLE, health::health),
    get("/_cat/indices", INDICES, indices::indices),
    get("/_cat/indices/{index}", INDICES, indices::indices),
    get("/_list", &[], list::help),
    get("/_list/indices", LIST_INDICES, list::list_indices),
    get("/_list/indices/{index}", LIST_INDICES, list::list_indices),
    get("/_list/shards", LIST_SHARDS, list::list_shards),
    get("/_list/shards/{index}", LIST_SHARDS, list::list_shards),
    get("/_cat/master", TABLE, master::master),
    // OpenSearch's name for `_cat/master`.
    get("/_cat/cluster_manager", TABLE, master::master),
    get("/_cat/nodeattrs", TABLE, nodeattrs::nodeattrs),
    get("/_cat/nodes", with_table_parameters!["full_id", "include_unloaded_segments"], nodes::nodes),
    get("/_cat/pending_tasks", TABLE, pending_tasks::pending_tasks),
    get("/_cat/plugins", with_table_parameters!["include_bootstrap"], plugins::plugins),
    get("/_cat/recovery", RECOVERY, recovery::recovery),
    get("/_cat/recovery/{index}", RECOVERY, recovery::recovery),
    get("/_cat/repositories", TABLE, repositories::repositories),
    get("/_cat/segment_memory", SEGMENT_MEMORY, segment_memory::segment_memory),
    get("/_cat/segment_memory/{index}", SEGMENT_MEMORY, segment_memory::segment_memory),
    get("/_cat/pit_segments", TABLE, segments::pit_segments),
    get("/_cat/pit_segments/_all", TABLE, segments::all_pit_segments),
    get("/_cat/segment_replication", SEGMENT_REPLICATION, segment_replication::segment_replication),
    get("/_cat/segment_replication/{index}", SEGMENT_REPLICATION, segment_replication::segment_replication),
    get("/_cat/segments", SEGMENTS, segments::segments),
    get("/_cat/segments/{index}", SEGMENTS, segments::segments),
    get("/_cat/shards", TABLE, shards::shards),
    get("/_cat/shards/{index}", TABLE, shards::shards),
    get("/_cat/snapshots", SNAPSHOTS, snapshots::snapshots),
    get("/_cat/snapshots/{repository}", SNAPSHOTS, snapshots::snapshots),
    get(
        "/_cat/tasks",
        with_table_parameters![
            "actions",
            "detailed",
            "nodes",
            "parent_task_id",
            "timeout",
            "wait_for_completion"
        ],
        tasks::tasks,
    ),
    get("/_cat/templates", TABLE, templates::templates),
    get("/_cat/templates/{name}", TABLE, templates::templates),
    get("/_cat/circuit_breaker", TABLE, circuit_breaker::circuit_breaker),
    get("/_cat/circuit_breaker/{breakers}", TABLE, circuit_breaker::circuit_breaker),
    get("/_cat/thread_pool", TABLE, thread_pool::thread_pool),
    get("/_cat/thread_pool/{pools}", TABLE, thread_pool::thread_pool),
    get("/_cat/transforms", TRANSFORMS, transforms::transforms),
    get("/_cat/transforms/{transform_id}", TRANSFORMS, transforms::transforms),
];
