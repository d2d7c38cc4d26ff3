//! Live indices: catalog, shards, versions, translog, refresh, flush, merge, recovery, ingest pipelines,
//! tasks.
//!
//! Answers: "carry out this API call on the indices of this data folder, and lose nothing that was
//! acknowledged".
//!
//! **Invariant**: this crate does not depend on HTTP. Clock, randomness and disk are passed in, so that tests
//! are repeatable.

#![deny(missing_docs)]

mod analysis;
pub mod api;
mod api_health;
mod async_search;
mod body;
pub mod catalog;
mod caught;
mod check;
mod checked_file;
mod contexts;
mod cron;
mod data_folder;
mod enrich;
pub mod environment;
mod indexing_pressure;
pub mod ingest;
mod inspect;
pub mod lifecycle;
mod node;
mod progress;
mod query_rules;
mod repair;
mod search_pipeline;
pub mod settings;
mod shard;
mod snapshot;
mod stats_request;
mod synonyms;
mod tasks;
mod transform;
pub mod translog;
pub mod value;
mod waiting;

pub use api::*;
pub use api_health::{HealthRequest, HealthResponse, HealthStatus, IndexHealth, ShardHealth};
pub use async_search::{AsyncSearch, AsyncSearchEnd};
pub use check::{DataFolderReport, check_data_folder};
pub use contexts::OpenedPointInTime;
pub use environment::format_utc_millis;
pub use indexing_pressure::{IndexingPressure, IndexingPressureStats, PendingWrite};
pub use inspect::{FieldTermIndex, TermIndexReport, inspect_data_folder};
pub use node::{
    AliasResult, BatchSource, Batches, ByQueryFailure, ByQueryRequest, ByQueryResponse, Change,
    CopyDestination, CopyRouting, DescribedQuery, ExplainFilter, FoundAliases, IndexAndField, ListedSnapshot,
    Node, NodeConfig, OpenPointInTime, Placement, Resize, RestoredIndex, RolloverRequest, Round,
    SearchTarget, Slices, SnapshotQuery, SourceBatch, Stack, set_password_offline,
};
pub use progress::Progress;
pub use repair::{RepairReport, repair_data_folder};
pub use search_pipeline::search_pipeline_processors;
pub use shard::SegmentMemory;
pub use stats_request::{STATS_SECTIONS, StatsLevel, StatsRequest};
pub use tasks::{Task, TaskGuard, Tasks};
pub use waiting::{GivenUp, ThreadOwner, give_up_turn, set_thread_owner};
