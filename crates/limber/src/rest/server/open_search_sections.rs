//! Sections that only OpenSearch's `_nodes/stats` has, and only here if a request names them: "what did the
//! node do to protect itself?"
//!
//! Source: OpenSearch's `NodeStats#toXContent`.

use serde_json::{Value, json};

use crate::rest::App;

/// A section: its name in the URL and in the response, and how it is made.
type Section = (&'static str, fn(&App) -> Value);

/// The sections, in OpenSearch's order.
pub const SECTIONS: &[Section] = &[
    ("shard_indexing_pressure", shard_indexing_pressure),
    ("search_backpressure", search_backpressure),
    // There is no other node whose tasks could be throttled, and no zone that could be preferred.
    (
        "cluster_manager_throttling",
        |_| json!({"stats": {"total_throttled_tasks": 0, "throttled_tasks_per_task_type": {}}}),
    ),
    ("weighted_routing", |_| json!({"stats": {"fail_open_count": 0}})),
];

/// Limits on single shards, which Limber does not have: they are off in OpenSearch too, unless switched on.
fn shard_indexing_pressure(_: &App) -> Value {
    json!({
        "stats": {},
        "total_rejections_breakup_shadow_mode": {
            "node_limits": 0, "no_successful_request_limits": 0, "throughput_degradation_limits": 0,
        },
        "enabled": false,
        "enforced": false,
    })
}

/// How many searches were ended because memory was short. Searches of single shards are no tasks of their
/// own.
fn search_backpressure(app: &App) -> Value {
    let ended = |count: u64| json!({"cancellation_stats": {"cancellation_count": count, "cancellation_limit_reached_count": 0}});
    json!({
        "search_task": ended(app.back_pressure.ended_count()),
        "search_shard_task": ended(0),
        "mode": app.node.cluster_setting("search_backpressure.mode"),
    })
}
