//! What the query phase of one shard cost, where the search is profiled.

use std::sync::Arc;

use crate::aggregation::AggregationTimes;
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
    pub aggregations: Vec<Arc<AggregationTimes>>,
}
