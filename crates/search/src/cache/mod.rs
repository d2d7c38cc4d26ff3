//! What shards found before, kept within byte budgets: whole answers of a shard ([`RequestCache`]), and the
//! documents of filters in a segment ([`QueryCache`]).
//!
//! **Invariant**: neither changes an answer. What is kept belongs to an immutable snapshot or segment and is
//! found again only under everything it depends on.

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
    /// Stands for the opened shard; no two have the same while the process lives.
    pub shard_uid: u64,
    /// Of the snapshot: another one where other documents are seen.
    pub version: u64,
    /// What the shard has in the caches, and how often it was of use.
    pub counters: Arc<CacheCounters>,
    /// The answers of shards that the node keeps.
    pub requests: Arc<RequestCache>,
    /// `index.requests.cache.enable`: searches without hits are kept unless they say otherwise.
    pub keeps_requests: bool,
    /// `None`: `index.queries.cache.enabled` is off.
    pub queries: Option<Arc<QueryCache>>,
}
