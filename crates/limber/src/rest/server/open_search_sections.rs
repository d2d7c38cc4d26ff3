//! Sections that only OpenSearch's `_nodes/stats` has, and only here if a request names them: "what did the
//! node do to protect itself?"
//!
//! Source: OpenSearch's `NodeStats#toXContent`.

use limber_engine::{Result, StatsLevel, StatsRequest};
use serde_json::{Value, json};

use super::nodes::os_section;
use crate::rest::App;

/// A section: its name in the URL and in the response, and how it is made. A section that is `null` is left
/// out.
type Section = (&'static str, fn(&App) -> Result<Value>);

/// The sections, in OpenSearch's order.
pub const SECTIONS: &[Section] = &[
    ("shard_indexing_pressure", shard_indexing_pressure),
    ("search_backpressure", search_backpressure),
    // There is no other node whose tasks could be throttled, and no zone that could be preferred.
    ("cluster_manager_throttling", |_| {
        Ok(json!({"stats": {"total_throttled_tasks": 0, "throttled_tasks_per_task_type": {}}}))
    }),
    ("weighted_routing", |_| Ok(json!({"stats": {"fail_open_count": 0}}))),
    // The cache of remote segments, which only nodes that search snapshots have.
    ("file_cache", |_| Ok(Value::Null)),
    ("resource_usage_stats", resource_usage),
    // There are no replicas that segments could be sent to.
    ("segment_replication_backpressure", |_| Ok(json!({"total_rejected_requests": 0}))),
    ("admission_control", admission_control),
    ("caches", caches),
];

/// How busy the machine is, as the node that chooses among copies of a shard would see it.
fn resource_usage(app: &App) -> Result<Value> {
    let os = os_section();
    let percent = |value: &Value| format!("{:.1}", value.as_f64().unwrap_or(0.0));
    Ok(json!({app.node.node_id(): {
        "timestamp": os["timestamp"],
        "cpu_utilization_percent": percent(&os["cpu"]["percent"]),
        "memory_utilization_percent": percent(&os["mem"]["used_percent"]),
    }}))
}

/// Requests that were rejected because a resource was short, by resource. Limber limits memory and queues
/// instead (`breakers`, `thread_pool`).
fn admission_control(_: &App) -> Result<Value> {
    let none = json!({"transport": {"rejection_count": {}}});
    Ok(json!({"global_io_usage": none, "global_cpu_usage": none}))
}

fn caches(app: &App) -> Result<Value> {
    let sections = vec!["request_cache".to_owned()];
    let stats = app.node.node_indices_stats(&StatsRequest {
        sections,
        level: StatsLevel::Cluster,
        ..StatsRequest::default()
    })?;
    let cache = &stats["request_cache"];
    Ok(json!({"request_cache": {
        "size_in_bytes": cache["memory_size_in_bytes"],
        "evictions": cache["evictions"],
        "hit_count": cache["hit_count"],
        "miss_count": cache["miss_count"],
        "item_count": app.node.request_cache_len(),
        "store_name": "opensearch_onheap",
    }}))
}

/// Limits on single shards, which Limber does not have: they are off in OpenSearch too, unless switched on.
fn shard_indexing_pressure(_: &App) -> Result<Value> {
    Ok(json!({
        "stats": {},
        "total_rejections_breakup_shadow_mode": {
            "node_limits": 0, "no_successful_request_limits": 0, "throughput_degradation_limits": 0,
        },
        "enabled": false,
        "enforced": false,
    }))
}

/// How many searches were ended because memory was short. Searches of single shards are no tasks of their
/// own.
fn search_backpressure(app: &App) -> Result<Value> {
    let ended = |count: u64| json!({"cancellation_stats": {"cancellation_count": count, "cancellation_limit_reached_count": 0}});
    Ok(json!({
        "search_task": ended(app.back_pressure.ended_count()),
        "search_shard_task": ended(0),
        "mode": app.node.cluster_setting("search_backpressure.mode"),
    }))
}
