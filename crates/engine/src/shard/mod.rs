//! One shard: "write this document, get it, make it searchable, and lose nothing".
//!
//! Steps of a write: gate (shared) -> lock of its id -> version check -> `mapping::document::parse` into a
//! buffer that the thread has checked out -> version map; then, once per request, a translog append and a
//! shared fsync. A refresh holds the gate exclusively for a moment, freezes all buffers, writes them as
//! segments while writers continue with new ones, and publishes them.

mod accounting;
mod close;
mod commit;
mod core;
mod damage;
mod error;
mod fence;
mod field_usage;
mod flush;
mod get;
pub(crate) mod ids;
mod limited;
mod merging;
mod open;
mod refresh;
mod search_groups;
mod search_idle;
mod segment_memory;
mod segments;
mod slow_log;
mod snapshot;
mod stats;
mod writing;

pub(crate) use self::core::{Host, IndexCore, NodeCaches, Shard, ShardServices, is_filling, largest_buffer};
pub(crate) use commit::{COMMIT_NAME, Commit, CommittedSegment};
pub(crate) use error::{disk_error, store_error};
pub(crate) use get::Reading;
pub(crate) use ids::flake_id::{FlakeIds, GeneratedIds};
pub(crate) use limited::{SeenMappings, force_source};
pub(crate) use open::create_files;
pub use segment_memory::SegmentMemory;
pub(crate) use slow_log::{Searched, log_search};
pub(crate) use snapshot::{CommitFile, CommitPoint, PinnedCommit, commit_of_closed, restore_commit};
pub(crate) use stats::{Counters, ShardStats, Timer};
pub(crate) use writing::growth::Growth;
pub(crate) use writing::write::{Condition, Unsynced, Write, Written};
