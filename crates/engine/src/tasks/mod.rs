//! Requests at work: "what is being done, since when, how far is it, and can it be stopped?"
//!
//! [`registry`] holds what runs, [`progress`] counts what a request by query has done and slows it down,
//! [`caught`] runs work on a thread of its own and reports its panic, [`waiting`] says that a thread waits
//! for the disk.

pub(crate) mod caught;
pub(crate) mod progress;
mod registry;
pub(crate) mod waiting;

pub use registry::{Task, TaskGuard, Tasks};
