//! The translog: "is this operation safe on disk, and which operations does no commit contain?"
//!
//! A narrow trait, so that a replicated log could replace the files, and its implementation with files.

mod checkpoint;
mod contract;
mod file;
mod format;
mod generation;
mod position;
mod recover;
mod salvage;

pub use checkpoint::DurableGeneration;
pub(crate) use checkpoint::GENERATIONS_MAX;
pub use contract::{Translog, TranslogStats};
pub use file::FileTranslog;
pub use format::{Header, Operation, OperationType, Record, RecordBatch};
pub use position::{Appended, Location, LogId, LogPosition};
pub use recover::{Recovered, recover, recover_or};
pub use salvage::{Cut, Described, describe, is_file_of_log};
