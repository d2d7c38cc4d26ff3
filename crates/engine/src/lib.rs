//! Indices that live: catalog, shards, versions, translog, refresh, flush, merge, recovery, ingest pipelines, tasks.
//!
//! Question answered: "carry out this API call on the indices of this data folder, and lose nothing that was acknowledged".
//!
//! **Invariant**: knows no HTTP. Clock, randomness and disk come in as arguments, so that tests replay.

pub mod api;
pub mod catalog;
pub mod environment;
pub mod ingest;
mod node;
pub mod settings;
mod shard;
pub mod translog;

pub use api::*;
pub use node::{Node, NodeConfig};

mod stats_request;
pub use stats_request::{STATS_SECTIONS, StatsLevel, StatsRequest};
