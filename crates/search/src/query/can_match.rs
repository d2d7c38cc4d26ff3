//! Determines whether anything in a shard can match, without examining documents.

use super::bind::bind;
use super::parse::Query;
use crate::context::ShardSnapshot;

/// Whether a query can match anything in a shard. Returns false if the query names fields that the shard does
/// not have, or dates that are all outside of the shard's range. Errors are left to the search itself.
///
/// Source: Elasticsearch's `SearchService#canMatch`, which rewrites the query.
pub fn can_match(query: &Query, shard: &ShardSnapshot, now_millis: i64) -> bool {
    bind(query, shard, now_millis).and_then(|bound| bound.node.can_match(shard)).unwrap_or(true)
}
