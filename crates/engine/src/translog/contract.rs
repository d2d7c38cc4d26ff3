//! What a translog promises, so that a replicated log could replace the files.

use limber_store::Result;

use super::format::RecordBatch;
use super::position::{Appended, Location, LogPosition};

/// Statistics for `_stats`.
#[derive(Debug, Clone, Copy, Default)]
pub struct TranslogStats {
    /// Operations in all existing generations.
    pub operations: u64,
    /// Bytes of all existing generations.
    pub size_bytes: u64,
    /// Operations that no commit contains.
    pub uncommitted_operations: u64,
    /// Bytes that no commit contains.
    pub uncommitted_size_bytes: u64,
    /// When the oldest generation was begun.
    pub earliest_millis: u64,
}

/// An append-only log of operations, divided into generations. After any error it refuses everything, and the
/// shard recovers from disk.
pub trait Translog: Send + Sync {
    /// Appends a batch as a whole. It is written to disk, and survives the process, only with
    /// [`Translog::sync`].
    fn append(&self, batch: RecordBatch) -> Result<Appended>;
    /// Returns when everything before `position` is durable. Concurrent callers share one fsync. A position
    /// of another translog is refused.
    fn sync(&self, position: LogPosition) -> Result<()>;
    /// Returns the end of what was appended.
    fn end(&self) -> LogPosition;
    /// Returns the record at a location; `None` when its generation was trimmed.
    fn read(&self, location: Location) -> Result<Option<Vec<u8>>>;
    /// Creates the next generation's file without using it yet.
    fn prepare_roll(&self, now_millis: u64) -> Result<()>;
    /// Directs later appends to the prepared generation and returns its number. Does not access the disk.
    fn roll(&self) -> u64;
    /// Deletes the generations below `generation`, because a commit contains everything in them.
    fn trim(&self, generation: u64) -> Result<()>;
    /// Makes the checkpoint durable. Called about once a second; see `checkpoint.rs`.
    fn sync_checkpoint(&self) -> Result<()>;
    /// Returns the heap bytes of what waits to be written.
    fn pending_bytes(&self) -> u64;
    /// Returns the current statistics.
    fn stats(&self) -> TranslogStats;
    /// Refuses everything from now on, so that nothing is acknowledged that the next reader of the files
    /// would miss.
    fn close(&self);
}
