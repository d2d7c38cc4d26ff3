//! An interface for copying documents from another cluster.
//!
//! **Invariant**: the engine does not use the network. The caller that passes in a [`BatchSource`] does, and
//! keeps names, passwords and sockets to itself.

use std::fmt::Debug;

use limber_search::SearchHit;
use limber_store::Charge;

use super::ByQueryFailure;
use crate::api::Result;
use crate::tasks::progress::Progress;

/// A search on another server.
pub trait BatchSource: Send + Sync + Debug {
    /// Describes the source as `GET _tasks?detailed` shows it, without secrets.
    fn description(&self) -> String;
    /// Begins to read batches of at most `size` documents. Returns early, with any result, when the request
    /// is cancelled.
    ///
    /// # Errors
    /// Fails when the source cannot be read.
    fn open(&self, size: u32, progress: &Progress) -> Result<Box<dyn Batches>>;
}

/// A search in progress. Dropping it releases what the other server keeps for it.
pub trait Batches {
    /// Returns the next documents; none when there are no more, or when the request was cancelled.
    ///
    /// # Errors
    /// Fails when the source cannot be read any further. A batch is never skipped silently.
    fn next(&mut self, progress: &Progress) -> Result<SourceBatch>;
}

/// Some documents of a [`BatchSource`].
#[derive(Debug, Default)]
pub struct SourceBatch {
    /// How many documents all batches together contain.
    pub total: u64,
    /// The documents; none at the end.
    pub hits: Vec<SearchHit>,
    /// Shards that were not read. The request ends when there are any.
    pub failures: Vec<ByQueryFailure>,
    /// Whether the source timed out. The request ends then.
    pub timed_out: bool,
    /// The memory that the documents take.
    pub charge: Option<Charge>,
}
