//! Requests and answers of the health API.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Value, json};

use crate::api::{IndicesOptions, Result};

/// Parameters of `_cluster/health` and `_cat/health`.
#[derive(Debug, Clone)]
pub struct HealthRequest {
    /// The index expression; empty or `_all` means every index.
    pub index: Option<String>,
    /// How `index` is resolved.
    pub options: IndicesOptions,
    /// Answers once the status is this one or better.
    pub wait_for_status: Option<HealthStatus>,
    /// Answers once the number of nodes meets this condition, such as `">=1"`, `"ge(1)"` or `"1"`.
    pub wait_for_nodes: Option<String>,
    /// Answers once so many shards are active: `"all"` or a number.
    pub wait_for_active_shards: Option<String>,
    /// Always fulfilled: the shards of a single node never move.
    pub wait_for_no_relocating_shards: bool,
    /// Answers once no shard is initializing.
    pub wait_for_no_initializing_shards: bool,
    /// The name of a priority of pending tasks. Always fulfilled: no task of a single node is pending.
    pub wait_for_events: Option<String>,
    /// Longest time to wait, in milliseconds.
    pub timeout_ms: u64,
}

impl Default for HealthRequest {
    fn default() -> Self {
        HealthRequest {
            index: None,
            options: IndicesOptions::LENIENT,
            wait_for_status: None,
            wait_for_nodes: None,
            wait_for_active_shards: None,
            wait_for_no_relocating_shards: false,
            wait_for_no_initializing_shards: false,
            wait_for_events: None,
            timeout_ms: 30_000,
        }
    }
}

/// The status of an index, a shard or the node: the worst status of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HealthStatus {
    /// All copies of all shards are active.
    Green,
    /// All primaries are active; replicas are not, as there is only one node.
    Yellow,
    /// A primary is not active.
    Red,
}

impl HealthStatus {
    /// Returns the name that responses use.
    pub fn as_str(self) -> &'static str {
        match self {
            HealthStatus::Green => "green",
            HealthStatus::Yellow => "yellow",
            HealthStatus::Red => "red",
        }
    }

    /// Parses the parameter, ignoring case. Any other word is an error.
    pub fn parse(text: &str) -> Result<HealthStatus> {
        match text.to_ascii_lowercase().as_str() {
            "green" => Ok(HealthStatus::Green),
            "yellow" => Ok(HealthStatus::Yellow),
            "red" => Ok(HealthStatus::Red),
            _ => Err(RequestError::illegal_argument(format!(
                "No enum constant org.elasticsearch.cluster.health.ClusterHealthStatus.{}",
                text.to_uppercase()
            ))),
        }
    }
}

/// The response of `_cluster/health`.
#[derive(Debug, Clone)]
pub struct HealthResponse {
    /// `cluster.name`.
    pub cluster_name: String,
    /// The worst status of the requested indices.
    pub status: HealthStatus,
    /// Whether the timeout expired before the awaited state was reached.
    pub timed_out: bool,
    /// Always 1.
    pub number_of_nodes: u32,
    /// Primaries that are active.
    pub active_primary_shards: u32,
    /// Copies that are active, including primaries.
    pub active_shards: u32,
    /// Copies that are not active.
    pub unassigned_shards: u32,
    /// How many of the copies of all indices are active, in percent; 100 if the requested ones are green.
    pub active_percent: f64,
    /// Cluster state updates that are waiting; always 0.
    pub number_of_pending_tasks: u32,
    /// The requested indices, in name order.
    pub indices: Vec<IndexHealth>,
}

/// The health of one index.
#[derive(Debug, Clone)]
pub struct IndexHealth {
    /// Its name.
    pub name: Arc<str>,
    /// Its id.
    pub uuid: Arc<str>,
    /// Whether it is open.
    pub open: bool,
    /// The worst status of its shards.
    pub status: HealthStatus,
    /// Number of primaries.
    pub number_of_shards: u32,
    /// Replicas of each primary.
    pub number_of_replicas: u32,
    /// Its shards, in the order of their ordinals.
    pub shards: Vec<ShardHealth>,
}

/// The health of one shard.
#[derive(Debug, Clone)]
pub struct ShardHealth {
    /// Its ordinal within the index.
    pub shard: u32,
    /// Green, yellow (some replicas are missing) or red.
    pub status: HealthStatus,
    /// Whether the primary is active.
    pub primary_active: bool,
    /// Copies that are not active.
    pub unassigned_shards: u32,
    /// Why the primary is not active, or which of its files are damaged.
    pub reason: Option<Arc<str>>,
}

impl HealthResponse {
    /// Counts the primaries that are not active.
    pub fn unassigned_primaries(&self) -> usize {
        self.indices.iter().map(IndexHealth::unassigned_primaries).sum()
    }

    /// Renders the response. `level` is `cluster`, `indices` or `shards`; `is_human` adds times and
    /// percentages as strings.
    pub fn to_json(&self, level: &str, is_human: bool) -> Value {
        let percent = self.active_percent;
        let mut answer = json!({
            "cluster_name": self.cluster_name,
            "status": self.status.as_str(),
            "timed_out": self.timed_out,
            "number_of_nodes": self.number_of_nodes,
            "number_of_data_nodes": self.number_of_nodes,
            "active_primary_shards": self.active_primary_shards,
            "active_shards": self.active_shards,
            "relocating_shards": 0,
            "initializing_shards": 0,
            "unassigned_shards": self.unassigned_shards,
            "unassigned_primary_shards": self.unassigned_primaries(),
            "delayed_unassigned_shards": 0,
            "number_of_pending_tasks": self.number_of_pending_tasks,
            "number_of_in_flight_fetch": 0,
            "task_max_waiting_in_queue_millis": 0,
            "active_shards_percent_as_number": percent,
        });
        if is_human {
            answer["task_max_waiting_in_queue"] = "0s".into();
            answer["active_shards_percent"] = format!("{percent:.1}%").into();
        }
        if level != "cluster" {
            let indices = self.indices.iter().map(|index| (index.name.to_string(), index.to_json(level)));
            answer["indices"] = Value::Object(indices.collect());
        }
        answer
    }
}

impl IndexHealth {
    fn unassigned_primaries(&self) -> usize {
        self.shards.iter().filter(|shard| !shard.primary_active).count()
    }

    fn to_json(&self, level: &str) -> Value {
        let active = self.shards.iter().filter(|shard| shard.primary_active).count();
        let unassigned: u32 = self.shards.iter().map(|shard| shard.unassigned_shards).sum();
        let mut answer = json!({
            "status": self.status.as_str(),
            "number_of_shards": self.number_of_shards,
            "number_of_replicas": self.number_of_replicas,
            "active_primary_shards": active,
            "active_shards": active,
            "relocating_shards": 0,
            "initializing_shards": 0,
            "unassigned_shards": unassigned,
            "unassigned_primary_shards": self.unassigned_primaries(),
        });
        // Elasticsearch shows the reason only in `_cluster/allocation/explain`.
        if let Some(reason) = self.shards.iter().find_map(|shard| shard.reason.as_deref()) {
            answer["reason"] = reason.into();
        }
        if level == "shards" {
            let shards = self.shards.iter().map(|shard| {
                let mut body = json!({
                    "status": shard.status.as_str(),
                    "primary_active": shard.primary_active,
                    "active_shards": u32::from(shard.primary_active),
                    "relocating_shards": 0,
                    "initializing_shards": 0,
                    "unassigned_shards": shard.unassigned_shards,
                    "unassigned_primary_shards": u32::from(!shard.primary_active),
                });
                if let Some(reason) = shard.reason.as_deref() {
                    body["reason"] = reason.into();
                }
                (shard.shard.to_string(), body)
            });
            answer["shards"] = Value::Object(shards.collect());
        }
        answer
    }
}
