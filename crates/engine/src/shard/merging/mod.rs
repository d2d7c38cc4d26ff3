//! Merges: "which segments become one, and how does the shard work on meanwhile?"
//!
//! [`policy`] chooses the segments, [`merge`] writes the new one and publishes it.

pub(super) mod merge;
pub(super) mod policy;
