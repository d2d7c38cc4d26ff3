//! Requests for and information about indices and shards.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use super::Result;

/// The `_shards` of an operation on many shards.
#[derive(Debug, Clone, Default)]
pub struct BroadcastResponse {
    /// Copies of the shards, including replicas.
    pub total: u32,
    /// Shards that carried out the operation.
    pub successful: u32,
    /// Shards that failed.
    pub failed: u32,
    /// Why shards failed.
    pub failures: Vec<ShardFailure>,
}

/// Why one shard could not carry out an operation.
#[derive(Debug, Clone)]
pub struct ShardFailure {
    /// The shard's index.
    pub index: Arc<str>,
    /// The shard's ordinal within the index.
    pub shard: u32,
    /// What went wrong.
    pub error: RequestError,
}

impl BroadcastResponse {
    /// Renders the object under `_shards`.
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
    /// How many segments may be left; `None` leaves this to the merge policy.
    pub max_num_segments: Option<u32>,
    /// Merges only segments with many deleted documents.
    pub only_expunge_deletes: bool,
    /// Whether to flush after the merges.
    pub flush: bool,
}

impl Default for ForceMergeRequest {
    fn default() -> Self {
        ForceMergeRequest { max_num_segments: None, only_expunge_deletes: false, flush: true }
    }
}

/// How many active copies of each shard a write or a new index waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActiveCopies {
    /// That many, the primary included.
    Number(u32),
    /// The primary and all replicas.
    All,
    /// As many as the index's setting `index.write.wait_for_active_shards` says.
    AsSet,
}

impl ActiveCopies {
    /// Parses the value of a parameter or of a setting.
    ///
    /// # Errors
    /// It is neither `all` nor a number from 0 on.
    ///
    /// Source: `ActiveShardCount#parseString`.
    pub fn parse(text: &str) -> Result<ActiveCopies> {
        if text == "all" {
            return Ok(ActiveCopies::All);
        }
        match text.parse::<i64>().map(u32::try_from) {
            Ok(Ok(number)) => Ok(ActiveCopies::Number(number)),
            Ok(Err(_)) => Err(RequestError::illegal_argument("shard count cannot be a negative value")),
            Err(_) => {
                let reason = format!("cannot parse ActiveShardCount[{text}]");
                Err(RequestError::illegal_argument(reason).caused_by(RequestError::number_format(text)))
            }
        }
    }
}

/// Response to index creation.
#[derive(Debug, Clone)]
pub struct CreateIndexResponse {
    /// Name of the new index.
    pub index: Arc<str>,
    /// Whether the copies of its shards that the request waits for have started. Only primaries ever do.
    pub shards_acknowledged: bool,
}

/// One index as `GET {index}` shows it.
#[derive(Debug, Clone)]
pub struct IndexInfo {
    /// The index's name.
    pub name: Arc<str>,
    /// The index's UUID, which no other index ever has.
    pub uuid: Arc<str>,
    /// Whether it is open.
    pub open: bool,
    /// `{"alias": {"filter": ..}}`.
    pub aliases: Map<String, Value>,
    /// The data stream that the index belongs to.
    pub data_stream: Option<Arc<str>>,
    /// The mappings as `GET _mapping` shows them.
    pub mappings: Value,
    /// The settings, flat: keys with their `index.` prefix, values as Elasticsearch prints them (strings,
    /// arrays of strings). [`crate::settings::nest`] nests them.
    pub settings: Map<String, Value>,
    /// The defaults of the settings that are not set, flat (for `include_defaults`).
    pub defaults: Map<String, Value>,
}

impl IndexInfo {
    /// Returns when the index was created, in milliseconds since 1970.
    pub fn created_millis(&self) -> u64 {
        let text = self.settings.get("index.creation_date").and_then(Value::as_str);
        text.and_then(|text| text.parse().ok()).unwrap_or(0)
    }
}

/// One of the indices that an expression resolved to. Answers list them in name order.
#[derive(Debug, Clone)]
pub struct ResolvedIndex {
    /// The index's name.
    pub name: Arc<str>,
    /// The index's UUID, which no other index ever has.
    pub uuid: Arc<str>,
    /// Whether it is open.
    pub open: bool,
}
