//! Renders a snapshot as the API shows it.
//!
//! Source: Elasticsearch's `SnapshotInfo#toXContentExternal`.

use serde_json::{Map, Value, json};

use super::format::{Entry, SnapshotBody};
use super::running::Running;
use crate::environment::format_utc_millis;

/// Which details are shown of each snapshot.
#[derive(Debug, Clone)]
pub(crate) struct Detail {
    pub index_names: bool,
    pub index_details: bool,
    pub repository: bool,
}

impl Default for Detail {
    fn default() -> Self {
        Detail { index_names: true, index_details: false, repository: true }
    }
}

fn head(repository: &str, name: &str, uuid: &str, detail: &Detail) -> Map<String, Value> {
    let mut shown = Map::new();
    shown.insert("snapshot".into(), name.into());
    shown.insert("uuid".into(), uuid.into());
    if detail.repository {
        shown.insert("repository".into(), repository.into());
    }
    shown
}

/// Renders a snapshot. Without `body` only what the root contains is shown (`verbose=false`).
pub(crate) fn show(repository: &str, entry: &Entry, body: Option<&SnapshotBody>, detail: &Detail) -> Value {
    let mut shown = head(repository, &entry.name, &entry.uuid, detail);
    if let Some(body) = body {
        shown.insert("version_id".into(), body.index_version.parse::<u64>().unwrap_or(0).into());
        shown.insert("version".into(), body.version.as_str().into());
    }
    if detail.index_names {
        shown.insert("indices".into(), entry.indices.keys().cloned().collect());
    }
    if let Some(body) = body.filter(|_| detail.index_details) {
        let details = body.shards.iter().map(|(index, shards)| {
            let bytes: u64 = shards.iter().map(|shard| shard.bytes).sum();
            let segments = shards.iter().map(|shard| shard.segment_count).max().unwrap_or(0);
            let shown = json!({
                "shard_count": shards.len(),
                "size_in_bytes": bytes,
                "max_segments_per_shard": segments,
            });
            (index.clone(), shown)
        });
        shown.insert("index_details".into(), Value::Object(details.collect()));
    }
    shown.insert("data_streams".into(), entry.data_streams.clone().into());
    let Some(body) = body else {
        shown.insert("state".into(), entry.state.name().into());
        return Value::Object(shown);
    };
    shown.insert("include_global_state".into(), body.include_global_state.into());
    if let Some(metadata) = &body.metadata {
        shown.insert("metadata".into(), metadata.clone());
    }
    shown.insert("state".into(), entry.state.name().into());
    add_times(&mut shown, entry.start_ms, Some(entry.end_ms));
    let failures: Vec<Value> = body
        .failures
        .iter()
        .map(|failure| {
            json!({
                "index": failure.index,
                "index_uuid": failure.index_uuid,
                "shard_id": failure.shard,
                "reason": failure.reason,
                "status": "INTERNAL_SERVER_ERROR",
            })
        })
        .collect();
    shown.insert("failures".into(), failures.into());
    let (total, failed) = (entry.shard_count(), entry.failed_shards);
    shown.insert("shards".into(), json!({"total": total, "failed": failed, "successful": total - failed}));
    shown.insert("feature_states".into(), json!([]));
    Value::Object(shown)
}

/// Renders a snapshot in progress.
pub(crate) fn show_running(running: &Running, version: &str, index_version: &str, detail: &Detail) -> Value {
    let mut shown = head(&running.repository.name, &running.name, &running.uuid, detail);
    shown.insert("version_id".into(), index_version.parse::<u64>().unwrap_or(0).into());
    shown.insert("version".into(), version.into());
    if detail.index_names {
        shown.insert("indices".into(), running.shards.lock().keys().cloned().collect());
    }
    shown.insert("data_streams".into(), running.data_streams.clone().into());
    shown.insert("include_global_state".into(), running.include_global_state.into());
    if let Some(metadata) = &running.metadata {
        shown.insert("metadata".into(), metadata.clone());
    }
    shown.insert("state".into(), "IN_PROGRESS".into());
    add_times(&mut shown, running.start_ms, None);
    shown.insert("failures".into(), json!([]));
    shown.insert("shards".into(), json!({"total": 0, "failed": 0, "successful": 0}));
    shown.insert("feature_states".into(), json!([]));
    Value::Object(shown)
}

fn add_times(shown: &mut Map<String, Value>, start_ms: u64, end_ms: Option<u64>) {
    let (end, duration) = match end_ms {
        Some(end_ms) => (end_ms, end_ms.saturating_sub(start_ms)),
        None => (0, 0),
    };
    shown.insert("start_time".into(), format_utc_millis(start_ms).into());
    shown.insert("start_time_in_millis".into(), start_ms.into());
    shown.insert("end_time".into(), format_utc_millis(end).into());
    shown.insert("end_time_in_millis".into(), end.into());
    shown.insert("duration_in_millis".into(), duration.into());
}
