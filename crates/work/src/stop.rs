//! Why a request must not go on.

use crate::no_room::NoRoom;

/// Why a request must not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// Its task was cancelled, or its client is gone.
    #[error("task cancelled")]
    Cancelled,
    /// Its deadline has passed.
    #[error("Time exceeded")]
    TimedOut,
    /// The patterns of an analyzer take too long on a document or a text.
    #[error("pattern matching was interrupted after [{millis}] ms: the patterns take too long on this value")]
    Patterns {
        /// How long they were let run.
        millis: u64,
    },
    /// Filters of an analyzer that run others many times take too long on a document or a text.
    #[error(
        "analysis was interrupted after [{millis}] ms: filters that run other filters take too long on this value"
    )]
    Filters {
        /// How long they were let run.
        millis: u64,
    },
    /// It holds more memory than there is for it.
    #[error(transparent)]
    Memory(#[from] NoRoom),
}
