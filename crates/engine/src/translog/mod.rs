//! The translog: "is this operation safe on disk, and which ones are there that no commit holds?"
//!
//! One narrow trait, so that a replicated log can take the file's place, and the file implementation.

mod checkpoint;
mod file;
mod format;
mod recover;
mod salvage;

use limber_store::Result;

pub use checkpoint::DurableGeneration;
pub(crate) use checkpoint::GENERATIONS_MAX;
pub use file::FileTranslog;
pub use format::{Header, Operation, OperationType, Record, RecordBatch};
pub use recover::{Recovered, recover};
pub use salvage::{Cut, Described, describe, is_file_of_log};

/// Where an operation's record lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// Number of the file's generation.
    pub generation: u64,
    /// The offset of the record in the file, in bytes.
    pub offset: u64,
    /// Bytes of the record.
    pub len: u32,
}

/// An open log. No other log had the number since the process began, not even one over the same files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogId(pub(super) u64);

/// A point in one open log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPosition {
    /// The log that it is a point of.
    pub log: LogId,
    /// Bytes appended before it since the log was opened, over all generations.
    pub bytes: u64,
}

/// Where a batch landed.
#[derive(Debug, Clone, Copy)]
pub struct Appended {
    /// Number of the generation that took it.
    pub generation: u64,
    /// File offset of the batch's first record.
    pub offset: u64,
    /// What [`Translog::sync`] must reach for the batch to be durable.
    pub end: LogPosition,
}

/// Numbers for `_stats`.
#[derive(Debug, Clone, Copy, Default)]
pub struct TranslogStats {
    /// Operations in all generations that are still there.
    pub operations: u64,
    /// Bytes in all generations that are still there.
    pub size_bytes: u64,
    /// Operations of them that no commit holds.
    pub uncommitted_operations: u64,
    /// Bytes of them that no commit holds.
    pub uncommitted_size_bytes: u64,
    /// When the oldest generation was begun.
    pub earliest_millis: u64,
}

/// An append-only log of operations in generations. After any error the log refuses everything: the shard
/// recovers from disk.
pub trait Translog: Send + Sync {
    /// Takes the batch in one piece. It is on its way to the disk, and survives the process, with
    /// [`Translog::sync`].
    fn append(&self, batch: RecordBatch) -> Result<Appended>;
    /// Returns once everything before `position` is durable; concurrent callers share one fsync. A position
    /// of another log is refused.
    fn sync(&self, position: LogPosition) -> Result<()>;
    /// End of what was appended.
    fn end(&self) -> LogPosition;
    /// The record at a location; `None` when its generation was trimmed.
    fn read(&self, location: Location) -> Result<Option<Vec<u8>>>;
    /// Creates the next generation's file without using it yet.
    fn prepare_roll(&self, now_millis: u64) -> Result<()>;
    /// Later appends go to the prepared generation; returns its number. Touches no disk.
    fn roll(&self) -> u64;
    /// A commit holds everything below `generation`: those files go.
    fn trim(&self, generation: u64) -> Result<()>;
    /// Makes durable what is known of the log outside of it. Called about once a second; see the file
    /// `checkpoint.rs`.
    fn sync_checkpoint(&self) -> Result<()>;
    /// Heap bytes of what waits to be written.
    fn pending_bytes(&self) -> u64;
    /// The numbers of now.
    fn stats(&self) -> TranslogStats;
    /// Refuses everything from now on, so that whoever reads the files next misses nothing that is
    /// acknowledged later.
    fn close(&self);
}
