//! What is done to indices and shards, and what is known of them.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

/// `_shards` of an operation over many shards.
#[derive(Debug, Clone, Default)]
pub struct BroadcastResponse {
    /// Copies of the shards, replicas included.
    pub total: u32,
    /// Shards that carried it out.
    pub successful: u32,
    /// Shards that failed.
    pub failed: u32,
    /// Why they failed.
    pub failures: Vec<ShardFailure>,
}

/// Why one shard could not carry out an operation.
#[derive(Debug, Clone)]
pub struct ShardFailure {
    /// The shard's index.
    pub index: Arc<str>,
    /// The shard's number.
    pub shard: u32,
    /// What went wrong.
    pub error: RequestError,
}

impl BroadcastResponse {
    /// The object under `_shards`.
    pub fn to_json(&self) -> Value {
        let mut shards = json!({"total": self.total, "successful": self.successful, "failed": self.failed});
        if !self.failures.is_empty() {
            shards["failures"] = self
                .failures
                .iter()
                .map(|failure| {
                    json!({"shard": failure.shard, "index": &*failure.index, "status": failure.error.class.name(), "reason": failure.error.to_json()})
                })
                .collect();
        }
        shards
    }
}

/// Parameters of `_forcemerge`.
#[derive(Debug, Clone)]
pub struct ForceMergeRequest {
    /// `None`: as the merge policy says.
    pub max_num_segments: Option<u32>,
    /// Merges only segments with many deleted documents.
    pub only_expunge_deletes: bool,
    /// Flushes when the merges are done.
    pub flush: bool,
}

impl Default for ForceMergeRequest {
    fn default() -> Self {
        ForceMergeRequest { max_num_segments: None, only_expunge_deletes: false, flush: true }
    }
}

/// Answer of index creation.
#[derive(Debug, Clone)]
pub struct CreateIndexResponse {
    /// Name of the new index.
    pub index: Arc<str>,
    /// Whether its shards have started.
    pub shards_acknowledged: bool,
}

/// One index as `GET {index}` shows it.
#[derive(Debug, Clone)]
pub struct IndexInfo {
    /// The index's name.
    pub name: Arc<str>,
    /// The index's id, which no other index ever has.
    pub uuid: Arc<str>,
    /// Whether it is open.
    pub open: bool,
    /// `{"alias": {"filter": ..}}`.
    pub aliases: Map<String, Value>,
    /// The data stream that it belongs to.
    pub data_stream: Option<Arc<str>>,
    /// As `GET _mapping` shows them.
    pub mappings: Value,
    /// Flat, keys with their `index.` prefix, values as Elasticsearch prints them (strings, arrays of
    /// strings). Nest with [`crate::settings::nest`].
    pub settings: Map<String, Value>,
    /// Defaults of the settings that are not set, flat (for `include_defaults`).
    pub defaults: Map<String, Value>,
}

impl IndexInfo {
    /// When the index was created, in milliseconds since 1970.
    pub fn created_millis(&self) -> u64 {
        let text = self.settings.get("index.creation_date").and_then(Value::as_str);
        text.and_then(|text| text.parse().ok()).unwrap_or(0)
    }
}

/// What an expression resolved to, in name order.
#[derive(Debug, Clone)]
pub struct ResolvedIndex {
    /// The index's name.
    pub name: Arc<str>,
    /// The index's id, which no other index ever has.
    pub uuid: Arc<str>,
    /// Whether it is open.
    pub open: bool,
}
