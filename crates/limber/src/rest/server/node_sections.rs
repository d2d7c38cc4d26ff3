//! Sections of `_nodes/stats` about the internals of a single-node cluster: scripts, discovery, allocation,
//! repositories.

use limber_store::Ledger;
use limber_text::byte_size;
use serde_json::{Map, Value, json};

use crate::rest::App;

/// The sections in this file, by their names in the URL.
pub const NAMES: [&str; 6] =
    ["script", "script_cache", "discovery", "adaptive_selection", "repositories", "allocations"];

/// Returns a section, or null if the name is not one of [`NAMES`].
pub fn section(app: &App, name: &str) -> Value {
    match name {
        "script" => {
            let mut script = compilations(app);
            script["contexts"] = json!([]);
            script
        }
        "script_cache" => json!({ "sum": compilations(app) }),
        "discovery" => discovery(),
        // There are no other nodes to search.
        "adaptive_selection" | "repositories" => json!({}),
        "allocations" => allocations(app),
        _ => Value::Null,
    }
}

/// Renders how many scripts were compiled, how many were evicted from the cache, and how often the limit was
/// reached.
pub fn compilations(app: &App) -> Value {
    let (compilations, evictions, limited) = app.node.script_statistics();
    json!({
        "compilations": compilations,
        "cache_evictions": evictions,
        "compilation_limit_triggered": limited,
    })
}

/// Returns the section `discovery`. A single node publishes no cluster state to others.
fn discovery() -> Value {
    let states = json!({"count": 0, "uncompressed_size_in_bytes": 0, "compressed_size_in_bytes": 0});
    let update = json!({
        "count": 0,
        "computation_time_millis": 0,
        "publication_time_millis": 0,
        "context_construction_time_millis": 0,
        "commit_time_millis": 0,
        "completion_time_millis": 0,
        "master_apply_time_millis": 0,
        "notification_time_millis": 0,
    });
    json!({
        "cluster_state_queue": {"total": 0, "pending": 0, "committed": 0},
        "serialized_cluster_states": {"full_states": states, "diffs": states},
        "published_cluster_states": {"full_states": 0, "incompatible_diffs": 0, "compatible_diffs": 0},
        "cluster_state_update": {
            "unchanged": {"count": 0, "computation_time_millis": 0, "notification_time_millis": 0},
            "success": update,
            "failure": update,
        },
        "cluster_applier_stats": {"recordings": []},
    })
}

fn allocations(app: &App) -> Value {
    let request = limber_engine::StatsRequest {
        sections: vec!["store".into(), "shard_stats".into()],
        ..Default::default()
    };
    let of_indices = app.node.node_indices_stats(&request).unwrap_or_default();
    json!({
        "shards": of_indices["shard_stats"]["total_count"].as_u64().unwrap_or(0),
        "undesired_shards": 0,
        "forecasted_ingest_load": 0.0,
        "forecasted_disk_usage_in_bytes": of_indices["store"]["size_in_bytes"].as_u64().unwrap_or(0),
        "current_disk_usage_in_bytes": of_indices["store"]["size_in_bytes"].as_u64().unwrap_or(0),
    })
}

/// Returns the circuit breakers, which are the pools of the ledger.
pub fn breakers(ledger: &Ledger) -> Value {
    let mut breakers = Map::new();
    let parent = &ledger.parent;
    for pool in ledger.pools() {
        let body = breaker(pool.limit_bytes(), pool.used_bytes(), pool.tripped_count());
        breakers.insert(pool.name().to_owned(), body);
    }
    breakers.insert("fielddata".into(), breaker(0, 0, 0));
    breakers
        .insert("parent".into(), breaker(parent.limit_bytes(), parent.used_bytes(), parent.tripped_count()));
    Value::Object(breakers)
}

fn breaker(limit_bytes: u64, used_bytes: u64, tripped: u64) -> Value {
    json!({
        "limit_size_in_bytes": limit_bytes, "limit_size": byte_size::show(limit_bytes),
        "estimated_size_in_bytes": used_bytes, "estimated_size": byte_size::show(used_bytes),
        "overhead": 1.0, "tripped": tripped,
    })
}
