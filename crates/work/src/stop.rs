//! Reasons why a request must end.

use crate::memory_limit_exceeded::MemoryLimitExceeded;

/// Why a request must end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// Its task was cancelled, or its client is gone.
    #[error("task cancelled")]
    Cancelled,
    /// Its deadline has passed.
    #[error("Time exceeded")]
    TimedOut,
    /// The patterns of an analyzer take too long for a document or a text.
    #[error("pattern matching was interrupted after [{millis}] ms: the patterns take too long on this value")]
    Patterns {
        /// Time after which they were interrupted.
        millis: u64,
    },
    /// Filters of an analyzer that run other filters many times take too long for a document or a text.
    #[error(
        "analysis was interrupted after [{millis}] ms: filters that run other filters take too long on this value"
    )]
    Filters {
        /// Time after which they were interrupted.
        millis: u64,
    },
    /// It needs more memory than its budget allows.
    #[error(transparent)]
    Memory(#[from] MemoryLimitExceeded),
}
