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

const RECOVERY: &[&str] = with_table_parameters![
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
    "active_only",
    "detailed"
];

/// The endpoints of this file (`_cat`, `_list`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    get("/_cat", &[], help::help),
    get(
        "/_cat/aliases",
        with_table_parameters!["ignore_unavailable", "allow_no_indices", "expand_wildcards"],
        aliases::aliases,
    ),
    get(
        "/_cat/aliases/{name}",
        with_table_parameters!["ignore_unavailable", "allow_no_indices", "expand_wildcards"],
        aliases::aliases,
    ),
    get("/_cat/allocation", with_table_parameters![], allocation::allocation),
    get("/_cat/allocation/{node}", with_table_parameters![], allocation::allocation),
    get("/_cat/component_templates", with_table_parameters![], component_templates::component_templates),
    get(
        "/_cat/component_templates/{name}",
        with_table_parameters![],
        component_templates::component_templates,
    ),
    Route {
        methods: &[Method::Get, Method::Post],
        path: "/_cat/count",
        parameters: with_table_parameters![
            "analyze_wildcard",
            "analyzer",
            "default_operator",
            "df",
            "lenient",
            "q"
        ],
        pool: PoolName::Management,
        handler: count::count,
    },
    Route {
        methods: &[Method::Get, Method::Post],
        path: "/_cat/count/{index}",
        parameters: with_table_parameters![
            "analyze_wildcard",
            "analyzer",
            "default_operator",
            "df",
            "lenient",
            "q"
        ],
        pool: PoolName::Management,
        handler: count::count,
    },
    get("/_cat/fielddata", with_table_parameters!["fields"], fielddata::fielddata),
    get("/_cat/fielddata/{fields}", with_table_parameters![], fielddata::fielddata),
    get("/_cat/health", with_table_parameters![], health::health),
    get(
        "/_cat/indices",
        with_table_parameters![
            "ignore_unavailable",
            "allow_no_indices",
            "expand_wildcards",
            "health",
            "include_unloaded_segments"
        ],
        indices::indices,
    ),
    get(
        "/_cat/indices/{index}",
        with_table_parameters![
            "ignore_unavailable",
            "allow_no_indices",
            "expand_wildcards",
            "health",
            "include_unloaded_segments"
        ],
        indices::indices,
    ),
    get("/_list", &[], list::help),
    get("/_list/indices", with_page_parameters!["health", "include_unloaded_segments"], list::list_indices),
    get(
        "/_list/indices/{index}",
        with_page_parameters!["health", "include_unloaded_segments"],
        list::list_indices,
    ),
    get("/_list/shards", with_page_parameters![], list::list_shards),
    get("/_list/shards/{index}", with_page_parameters![], list::list_shards),
    get("/_cat/master", with_table_parameters![], master::master),
    // OpenSearch's name for `_cat/master`.
    get("/_cat/cluster_manager", with_table_parameters![], master::master),
    get("/_cat/nodeattrs", with_table_parameters![], nodeattrs::nodeattrs),
    get("/_cat/nodes", with_table_parameters!["full_id", "include_unloaded_segments"], nodes::nodes),
    get("/_cat/pending_tasks", with_table_parameters![], pending_tasks::pending_tasks),
    get("/_cat/plugins", with_table_parameters!["include_bootstrap"], plugins::plugins),
    get("/_cat/recovery", RECOVERY, recovery::recovery),
    get("/_cat/recovery/{index}", RECOVERY, recovery::recovery),
    get("/_cat/repositories", with_table_parameters![], repositories::repositories),
    get("/_cat/segment_memory", with_table_parameters!["expand_wildcards"], segment_memory::segment_memory),
    get(
        "/_cat/segment_memory/{index}",
        with_table_parameters!["expand_wildcards"],
        segment_memory::segment_memory,
    ),
    get("/_cat/pit_segments", with_table_parameters![], segments::pit_segments),
    get("/_cat/pit_segments/_all", with_table_parameters![], segments::all_pit_segments),
    get(
        "/_cat/segment_replication",
        with_table_parameters!["expand_wildcards", "active_only", "completed_only", "detailed", "shards"],
        segment_replication::segment_replication,
    ),
    get(
        "/_cat/segment_replication/{index}",
        with_table_parameters!["expand_wildcards", "active_only", "completed_only", "detailed", "shards"],
        segment_replication::segment_replication,
    ),
    get(
        "/_cat/segments",
        with_table_parameters![
            "ignore_unavailable",
            "allow_no_indices",
            "expand_wildcards",
            "ignore_throttled",
            "allow_closed"
        ],
        segments::segments,
    ),
    get(
        "/_cat/segments/{index}",
        with_table_parameters![
            "ignore_unavailable",
            "allow_no_indices",
            "expand_wildcards",
            "ignore_throttled",
            "allow_closed"
        ],
        segments::segments,
    ),
    get("/_cat/shards", with_table_parameters![], shards::shards),
    get("/_cat/shards/{index}", with_table_parameters![], shards::shards),
    get("/_cat/snapshots", with_table_parameters!["ignore_unavailable"], snapshots::snapshots),
    get("/_cat/snapshots/{repository}", with_table_parameters!["ignore_unavailable"], snapshots::snapshots),
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
    get("/_cat/templates", with_table_parameters![], templates::templates),
    get("/_cat/templates/{name}", with_table_parameters![], templates::templates),
    get("/_cat/circuit_breaker", with_table_parameters![], circuit_breaker::circuit_breaker),
    get("/_cat/circuit_breaker/{breakers}", with_table_parameters![], circuit_breaker::circuit_breaker),
    get("/_cat/thread_pool", with_table_parameters![], thread_pool::thread_pool),
    get("/_cat/thread_pool/{pools}", with_table_parameters![], thread_pool::thread_pool),
    get("/_cat/transforms", with_table_parameters!["allow_no_match", "from"], transforms::transforms),
    get(
        "/_cat/transforms/{transform_id}",
        with_table_parameters!["allow_no_match", "from"],
        transforms::transforms,
    ),
];
