//! The node as a whole: opening it, its background work, its health and its statistics.

pub(super) mod background;
pub(super) mod health;
pub(super) mod new_node;
pub(super) mod open;
pub(super) mod recover;
pub(super) mod request_work;
mod restored;
pub(super) mod scrub;
pub(super) mod segment_memory;
pub(super) mod shard_recovery;
mod stat_sections;
pub(super) mod stats;
pub(super) mod upkeep;
