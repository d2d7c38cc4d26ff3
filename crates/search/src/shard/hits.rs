//! What one shard answers to the query phase: "which hits did it find, and what did that cost?"

use std::sync::Arc;

use serde_json::Value;

use crate::collect::{BoundSort, Hit};
use crate::query::{BoundQuery, QueryTimes};
use crate::shard::rescore::BoundRescore;

/// What one shard answers to the query phase.
pub(crate) struct ShardHits {
    pub hits: Vec<Hit>,
    pub sorts: Vec<BoundSort>,
    /// Hits counted; exact unless `is_lower_bound`.
    pub total: u64,
    pub is_lower_bound: bool,
    pub max_score: f32,
    pub timed_out: bool,
    pub terminated_early: bool,
    pub query: BoundQuery,
    pub post_filter: Option<BoundQuery>,
    pub rescores: Vec<BoundRescore>,
    /// Where the search is profiled.
    pub profile: Option<ShardProfile>,
}

/// What the query phase of one shard cost.
#[derive(Debug)]
pub(crate) struct ShardProfile {
    /// The query, and those in it.
    pub queries: Vec<Arc<QueryTimes>>,
    /// From the bound query to the one that is run.
    pub rewrite_nanos: u64,
    /// From the first segment to the last.
    pub search_nanos: u64,
    pub aggregations: Vec<AggregationCost>,
}

/// What one aggregation of a shard cost.
#[derive(Debug)]
pub(crate) struct AggregationCost {
    pub name: String,
    /// While documents were looked at.
    pub collecting_nanos: u64,
    /// As it is shown.
    pub shown: Value,
}
