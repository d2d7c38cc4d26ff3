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
pub mod catalog;
mod checked_file;
mod contexts;
mod enrich;
pub mod environment;
mod indexing_pressure;
pub mod ingest;
pub mod lifecycle;
mod node;
pub mod notation;
mod offline;
mod query_rules;
mod search_pipeline;
pub mod settings;
mod shard;
mod snapshot;
mod tasks;
mod transform;
pub mod translog;
mod volumes;

pub use api::*;
pub use contexts::OpenedPointInTime;
pub use contexts::async_search::{AsyncSearch, AsyncSearchEnd};
pub use environment::format_utc_millis;
pub use indexing_pressure::{IndexingPressure, IndexingPressureStats, PendingWrite};
pub use node::{
    AliasResult, BatchSource, Batches, ByQueryFailure, ByQueryRequest, ByQueryResponse, Change,
    CopyDestination, CopyRouting, DescribedQuery, ExplainFilter, FoundAliases, IndexAndField, ListedSnapshot,
    Node, NodeConfig, OpenPointInTime, Placement, PresentFields, Resize, RestoredIndex, RolloverRequest,
    Round, SearchTarget, Slices, SnapshotQuery, SourceBatch, Stack, refuse_foreign, set_password_offline,
};
pub use offline::check::{DataFolderReport, check_data_folder};
pub use offline::inspect::{FieldTermIndex, TermIndexReport, inspect_data_folder};
pub use offline::repair::{RepairReport, repair_data_folder};
pub use search_pipeline::search_pipeline_processors;
pub use shard::SegmentMemory;
pub use tasks::progress::Progress;
pub use tasks::{Task, TaskGuard, Tasks};
pub use volumes::{Opener, Volumes};
