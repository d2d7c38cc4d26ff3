//! The answer of one shard to the query phase: "which hits did it find, and what did that cost?"

use std::sync::Arc;

use serde_json::Value;

use crate::collect::{BoundSort, Hit};
use crate::query::{BoundQuery, QueryTimes};
use crate::shard::rescore::BoundRescore;

/// The answer of one shard to the query phase.
pub(crate) struct ShardHits {
    pub hits: Vec<Hit>,
    pub sorts: Vec<BoundSort>,
    /// Number of hits; exact unless `is_lower_bound`.
    pub total: u64,
    pub is_lower_bound: bool,
    pub max_score: f32,
    pub timed_out: bool,
    pub terminated_early: bool,
    pub query: BoundQuery,
    pub post_filter: Option<BoundQuery>,
    pub rescores: Vec<BoundRescore>,
    /// Set if the search is profiled.
    pub profile: Option<ShardProfile>,
}

impl ShardHits {
    /// Returns the answer of a shard that had no time to search.
    pub fn timed_out(sorts: Vec<BoundSort>, profiles: bool) -> ShardHits {
        ShardHits {
            hits: Vec::new(),
            sorts,
            total: 0,
            is_lower_bound: false,
            max_score: f32::NEG_INFINITY,
            timed_out: true,
            terminated_early: false,
            query: BoundQuery::nothing("Time exceeded"),
            post_filter: None,
            rescores: Vec::new(),
            profile: profiles.then(ShardProfile::default),
        }
    }
}

/// The cost of the query phase of one shard.
#[derive(Debug, Default)]
pub(crate) struct ShardProfile {
    /// The query and its sub-queries.
    pub queries: Vec<Arc<QueryTimes>>,
    /// Time spent rewriting the bound query.
    pub rewrite_nanos: u64,
    /// Time from the first segment to the last.
    pub search_nanos: u64,
    pub aggregations: Vec<AggregationCost>,
}

/// The cost of one aggregation of a shard.
#[derive(Debug)]
pub(crate) struct AggregationCost {
    pub name: String,
    /// Time while documents were collected.
    pub collecting_nanos: u64,
    /// Its entry in the profile.
    pub shown: Value,
}
