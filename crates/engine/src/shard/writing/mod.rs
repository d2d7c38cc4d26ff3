//! The write path of a shard: "is this operation the next one for its id, and is it safe?"
//!
//! [`write`] conducts a write and its log, [`writer`] puts one operation into a buffer.

pub(super) mod write;
pub(super) mod writer;
