//! `_xpack/usage`: how much each feature of Elasticsearch's default distribution is used.
//!
//! Clients with types fail where a member is missing, so a feature that Limber lacks shows all of its
//! numbers: they are 0. Uses of the aggregations of `analytics` are not counted. Source: the types of
//! `xpack.usage` in Elasticsearch's specification.

use limber_engine::{IndicesOptions, Result};
use limber_text::time_value::TimeValue;
use serde_json::{Map, Value, json};

use crate::rest::App;

/// Adds the members that only `_xpack/usage` shows to features with `available` and `enabled`.
pub fn with_usage(app: &App, mut features: Value) -> Result<Value> {
    for (feature, usage) in [
        ("analytics", analytics()),
        ("archive", json!({"indices_count": 0})),
        ("ccr", json!({"auto_follow_patterns_count": 0, "follower_indices_count": 0})),
        ("data_streams", data_streams(app)?),
        ("data_tiers", data_tiers()),
        ("eql", json!({"features": eql_features(), "queries": {}})),
        ("frozen_indices", json!({"indices_count": 0})),
        ("gpu_vector_indexing", json!({"index_build_count": 0, "nodes_with_gpu": 0, "nodes": []})),
        ("ilm", index_lifecycles(app)?),
        ("ml", machine_learning()),
        ("monitoring", json!({"collection_enabled": false, "enabled_exporters": {}})),
        ("searchable_snapshots", searchable_snapshots()),
        ("security", security(app)),
        ("slm", snapshot_lifecycles(app)?),
        ("sql", json!({"features": {}, "queries": {}})),
        ("watcher", watcher()),
    ] {
        if let (Some(Value::Object(shown)), Value::Object(usage)) = (features.get_mut(feature), usage) {
            shown.extend(usage);
        }
    }
    Ok(features)
}

/// Returns the uses of aggregations that Elasticsearch counts here. They are not counted by name.
fn analytics() -> Value {
    json!({"stats": {
        "boxplot_usage": 0,
        "cumulative_cardinality_usage": 0,
        "string_stats_usage": 0,
        "top_metrics_usage": 0,
        "t_test_usage": 0,
        "moving_percentiles_usage": 0,
        "normalize_usage": 0,
        "rate_usage": 0,
        "multi_terms_usage": 0,
    }})
}

/// Counts the data streams that the user may see, and their indices.
fn data_streams(app: &App) -> Result<Value> {
    let shown = app.node.get_data_streams("*", IndicesOptions::LENIENT, false)?;
    let streams = shown["data_streams"].as_array().map_or(&[][..], Vec::as_slice);
    let indices: usize = streams.iter().filter_map(|stream| Some(stream["indices"].as_array()?.len())).sum();
    Ok(json!({"data_streams": streams.len(), "indices_count": indices}))
}

fn data_tiers() -> Value {
    let tier = json!({
        "node_count": 0,
        "index_count": 0,
        "total_shard_count": 0,
        "primary_shard_count": 0,
        "doc_count": 0,
        "total_size_bytes": 0,
        "primary_size_bytes": 0,
        "primary_shard_size_avg_bytes": 0,
        "primary_shard_size_median_bytes": 0,
        "primary_shard_size_mad_bytes": 0,
    });
    let names = ["data_frozen", "data_cold", "data_warm", "data_hot", "data_content"];
    names.into_iter().map(|name| (name.to_owned(), tier.clone())).collect()
}

fn eql_features() -> Value {
    json!({
        "join": 0,
        "joins": {
            "join_queries_two": 0,
            "join_queries_three": 0,
            "join_queries_four": 0,
            "join_queries_five_or_more": 0,
            "join_until": 0,
        },
        "keys": {
            "join_keys_one": 0,
            "join_keys_two": 0,
            "join_keys_three": 0,
            "join_keys_four": 0,
            "join_keys_five_or_more": 0,
        },
        "event": 0,
        "pipes": {"pipe_tail": 0, "pipe_head": 0},
        "sequence": 0,
        "sequences": {
            "sequence_queries_two": 0,
            "sequence_queries_three": 0,
            "sequence_queries_four": 0,
            "sequence_queries_five_or_more": 0,
            "sequence_until": 0,
            "sequence_maxspan": 0,
        },
    })
}

/// Shows what each policy of indices does, and how many indices it manages.
fn index_lifecycles(app: &App) -> Result<Value> {
    let policies = app.node.get_policies("")?;
    let mut shown = Vec::new();
    for policy in policies.as_object().into_iter().flat_map(Map::values) {
        limber_work::check()?;
        let phases = policy["policy"]["phases"].as_object().into_iter().flatten();
        let phases: Map<String, Value> =
            phases.map(|(name, phase)| (name.clone(), phase_of_policy(phase))).collect();
        let managed = policy["in_use_by"]["indices"].as_array().map_or(0, Vec::len);
        shown.push(json!({"indices_managed": managed, "phases": phases}));
    }
    Ok(json!({"policy_count": shown.len(), "policy_stats": shown}))
}

fn phase_of_policy(phase: &Value) -> Value {
    let min_age = phase["min_age"].as_str().and_then(|age| TimeValue::parse(age, "min_age").ok()).flatten();
    let actions = phase["actions"].as_object().into_iter().flat_map(Map::keys);
    json!({"min_age": min_age.map_or(0, TimeValue::millis), "actions": actions.collect::<Vec<_>>()})
}

fn machine_learning() -> Value {
    json!({
        "datafeeds": {},
        "jobs": {},
        "node_count": 0,
        "data_frame_analytics_jobs": {"_all": {"count": 0}},
        "inference": {"ingest_processors": {}, "trained_models": {"_all": {"count": 0}}},
    })
}

fn searchable_snapshots() -> Value {
    json!({"indices_count": 0, "full_copy_indices_count": 0, "shared_cache_indices_count": 0})
}

fn security(app: &App) -> Value {
    let guard = app.guard.as_ref();
    let is_on = guard.is_some();
    let (mut roles, mut mappings) = (0, 0);
    if is_on {
        let store = app.node.security();
        (roles, mappings) = (store.roles.keys().count(), store.role_mappings.keys().count());
    }
    json!({
        "realms": {"native": {"available": is_on, "enabled": is_on}},
        "roles": {
            "native": {"size": roles, "dls": false, "fls": false},
            "dls": {"bit_set_cache": {
                "count": 0,
                "memory": "0b",
                "memory_in_bytes": 0,
                "hits": 0,
                "misses": 0,
                "evictions": 0,
                "hits_time_in_millis": 0,
                "misses_time_in_millis": 0,
            }},
            "file": {"size": 0, "dls": false, "fls": false},
        },
        "role_mapping": {"native": {"size": mappings, "enabled": mappings}},
        "ssl": {"http": {"enabled": app.config.tls.is_some()}, "transport": {"enabled": false}},
        "token_service": {"enabled": false},
        "api_key_service": {"enabled": is_on},
        "audit": {"enabled": guard.is_some_and(|guard| guard.audits())},
        "ipfilter": {"http": false, "transport": false},
        "anonymous": {"enabled": guard.is_some_and(|guard| guard.admits_anonymous())},
        "fips_140": {"enabled": false},
        "operator_privileges": {"available": false, "enabled": false},
    })
}

/// Counts the policies of snapshots.
fn snapshot_lifecycles(app: &App) -> Result<Value> {
    let policies = app.node.get_snapshot_policies("", false)?;
    Ok(json!({"policy_count": policies.as_object().map_or(0, Map::len)}))
}

fn watcher() -> Value {
    json!({
        "execution": {"actions": {"_all": {"total": 0, "total_time_in_ms": 0}}},
        "watch": {
            "input": {"_all": {"total": 0, "active": 0}},
            "trigger": {"_all": {"total": 0, "active": 0}},
        },
        "count": {"total": 0, "active": 0},
    })
}
