//! What the query phase of one shard cost, where the search is profiled.

use std::sync::Arc;

use serde_json::Value;

use crate::query::QueryTimes;

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
