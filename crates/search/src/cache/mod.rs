//! Caches with byte budgets for what shards found before: whole answers of a shard ([`RequestCache`]), and
//! the documents of filters in a segment ([`QueryCache`]).
//!
//! **Invariant**: the caches never change an answer. An entry belongs to an immutable snapshot or segment,
//! and its key holds everything that it depends on.

mod counters;
mod filter;
mod key;
mod query;
mod request;
mod usage;

use std::sync::Arc;

pub use counters::CacheCounters;
pub(crate) use filter::{FilterSet, FilterUse};
pub(crate) use key::KeyWriter;
pub use query::QueryCache;
pub use request::RequestCache;
pub(crate) use request::RequestKey;

/// The caches as one shard uses them.
#[derive(Debug, Clone)]
pub struct ShardCaches {
    /// Identifies the opened shard; unique while the process lives.
    pub shard_uid: u64,
    /// Version of the snapshot: changes whenever other documents become visible.
    pub version: u64,
    /// What the shard has in the caches, and how often the caches answered.
    pub counters: Arc<CacheCounters>,
    /// The request cache of the node.
    pub requests: Arc<RequestCache>,
    /// `index.requests.cache.enable`: searches without hits are cached unless the request says otherwise.
    pub keeps_requests: bool,
    /// `None` if `index.queries.cache.enabled` is off.
    pub queries: Option<Arc<QueryCache>>,
}
