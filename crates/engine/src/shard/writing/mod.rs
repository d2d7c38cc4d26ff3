//! The write path of a shard: "is this operation the next one for its id, and is it safe?"
//!
//! [`write`] conducts a write and its log, [`writer`] puts one operation into a buffer, and [`growth`] adds
//! the fields that a document needs.

pub(crate) mod growth;
pub(super) mod write;
pub(super) mod writer;
