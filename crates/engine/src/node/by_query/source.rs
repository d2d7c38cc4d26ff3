//! The documents of a copy that are read from another cluster: who hands them in, and how.
//!
//! **Invariant**: the engine knows no network. The caller that hands in a [`BatchSource`] does, and keeps
//! names, passwords and sockets to itself.

use std::fmt::Debug;

use limber_search::SearchHit;
use limber_store::Charge;

use super::ByQueryFailure;
use crate::api::Result;
use crate::tasks::progress::Progress;

/// A search on another server.
pub trait BatchSource: Send + Sync + Debug {
    /// As `GET _tasks?detailed` shows it, without secrets.
    fn description(&self) -> String;
    /// Begins to read batches of at most `size` documents. Ends early, with anything, when the request is
    /// cancelled.
    ///
    /// # Errors
    /// The source cannot be read.
    fn open(&self, size: u32, progress: &Progress) -> Result<Box<dyn Batches>>;
}

/// A search under way. Dropping it lets go of what the other server keeps for it.
pub trait Batches {
    /// The next documents; none when there are no more, or when the request was cancelled.
    ///
    /// # Errors
    /// The source cannot be read any further. Never is a batch left out in silence.
    fn next(&mut self, progress: &Progress) -> Result<SourceBatch>;
}

/// Some documents of a [`BatchSource`].
#[derive(Debug, Default)]
pub struct SourceBatch {
    /// How many documents all batches together have.
    pub total: u64,
    /// The documents; none at the end.
    pub hits: Vec<SearchHit>,
    /// Shards that were not read. The request ends with them.
    pub failures: Vec<ByQueryFailure>,
    /// Whether the source's time was over; the request ends.
    pub timed_out: bool,
    /// The memory that the documents take.
    pub charge: Option<Charge>,
}
