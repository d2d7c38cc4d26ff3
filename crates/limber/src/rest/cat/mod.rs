//! `_cat`: statistics as aligned text, one file a table. All share the parameters of [`table`].

mod aliases;
mod count;
mod fielddata;
mod health;
mod help;
mod indices;
mod nodes;
mod repositories;
mod rows;
mod segment_memory;
mod segments;
mod shards;
mod snapshots;
mod statistics;
mod table;
mod tasks;
mod templates;
mod thread_pool;

pub use table::human_bytes;

use super::{App, Route};
use crate::http::pools::PoolName;
use crate::http::request::Method;

/// Parameters of every table, beside its own.
macro_rules! with_table_parameters {
    ($($more:literal),* $(,)?) => {
        &["v", "h", "s", "help", "bytes", "size", "time", "ts", "local", "master_timeout", "expand_wildcards", $($more),*]
    };
}

const fn get(
    path: &'static str,
    parameters: &'static [&'static str],
    handler: super::router::Handler,
) -> Route {
    Route { methods: &[Method::Get], path, parameters, pool: PoolName::Management, handler }
}

pub const ROUTES: &[Route] = &[
    get("/_cat", &[], help::help),
    get("/_cat/aliases", with_table_parameters![], aliases::aliases),
    get("/_cat/aliases/{name}", with_table_parameters![], aliases::aliases),
    get("/_cat/count", with_table_parameters![], count::count),
    get("/_cat/count/{index}", with_table_parameters![], count::count),
    get("/_cat/fielddata", with_table_parameters!["fields"], fielddata::fielddata),
    get("/_cat/fielddata/{fields}", with_table_parameters![], fielddata::fielddata),
    get("/_cat/health", with_table_parameters![], health::health),
    get(
        "/_cat/indices",
        with_table_parameters!["health", "pri", "include_unloaded_segments"],
        indices::indices,
    ),
    get(
        "/_cat/indices/{index}",
        with_table_parameters!["health", "pri", "include_unloaded_segments"],
        indices::indices,
    ),
    get("/_cat/nodes", with_table_parameters!["full_id", "include_unloaded_segments"], nodes::nodes),
    get("/_cat/repositories", with_table_parameters![], repositories::repositories),
    get("/_cat/segment_memory", with_table_parameters![], segment_memory::segment_memory),
    get("/_cat/segment_memory/{index}", with_table_parameters![], segment_memory::segment_memory),
    get("/_cat/segments", with_table_parameters![], segments::segments),
    get("/_cat/segments/{index}", with_table_parameters![], segments::segments),
    get("/_cat/shards", with_table_parameters![], shards::shards),
    get("/_cat/shards/{index}", with_table_parameters![], shards::shards),
    get("/_cat/snapshots", with_table_parameters!["ignore_unavailable"], snapshots::snapshots),
    get("/_cat/snapshots/{repository}", with_table_parameters!["ignore_unavailable"], snapshots::snapshots),
    get(
        "/_cat/tasks",
        with_table_parameters!["actions", "detailed", "nodes", "parent_task_id"],
        tasks::tasks,
    ),
    get("/_cat/templates", with_table_parameters![], templates::templates),
    get("/_cat/templates/{name}", with_table_parameters![], templates::templates),
    get("/_cat/thread_pool", with_table_parameters![], thread_pool::thread_pool),
    get("/_cat/thread_pool/{pools}", with_table_parameters![], thread_pool::thread_pool),
];
