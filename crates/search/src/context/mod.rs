//! What a search runs on and under: "which shards, as of which instant, within which limits, and by whose
//! threads?"
//!
//! [`search_context`] holds frozen shards, limits and the deadline; [`workers`] lends threads, [`documents`]
//! reads documents that a query names, [`columns`] says whether a field's values can be read by document,
//! [`failures`] decides whether the search goes on without a shard, [`seen`] says which documents scripts may
//! read, [`timers`] measures steps for `profile`, [`version_type`] says how versions are compared.

pub(crate) mod columns;
pub(crate) mod documents;
pub(crate) mod failures;
mod search_context;
pub(crate) mod seen;
pub(crate) mod timers;
pub(crate) mod version_type;
pub(crate) mod workers;

pub(crate) use search_context::ShardPlace;
pub use search_context::{IndexRef, SearchContext, ShardSettings, ShardSnapshot};
