//! Prints a query as Lucene does.

use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::query::{Query, bind};

/// Returns the query as Lucene prints it once bound to a shard (`_validate/query?explain`). Fails if the
/// query cannot be bound.
pub fn describe(query: Option<&Query>, shard: &ShardSnapshot, now_millis: i64) -> Result<String> {
    match query {
        Some(query) => Ok(bind(query, shard, now_millis)?.text()),
        None => Ok("*:*".to_owned()),
    }
}
