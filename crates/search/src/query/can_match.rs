//! "Could anything in this shard match?", answered without looking at a document.

use super::bind::bind;
use super::parse::Query;
use crate::context::ShardSnapshot;

/// Whether a query can match anything in a shard. `false` where it names fields that the shard does not have,
/// or dates that are all before or after those it holds. Errors are left to the search itself.
///
/// Source: Elasticsearch's `SearchService#canMatch`, which rewrites the query.
pub fn can_match(query: &Query, shard: &ShardSnapshot, now_millis: i64) -> bool {
    bind(query, shard, now_millis).and_then(|bound| bound.node.can_match(shard)).unwrap_or(true)
}
