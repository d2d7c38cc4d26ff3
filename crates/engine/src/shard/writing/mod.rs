//! The write path of a shard: "is this operation the next one for its id, and is it safe?"
//!
//! [`write`] conducts a write and its log, [`writer`] puts one operation into a buffer, [`growth`] adds the
//! fields that a document needs, and [`entrance`] bounds how many write at a time.

pub(super) mod entrance;
pub(crate) mod growth;
pub(super) mod write;
pub(super) mod writer;
