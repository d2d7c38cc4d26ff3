//! The node's own life: from its start over what runs beside the requests to what it says of itself.

pub(super) mod background;
pub(super) mod health;
pub(super) mod new_node;
pub(super) mod open;
pub(super) mod recover;
pub(super) mod request_work;
pub(super) mod scrub;
pub(super) mod segment_memory;
pub(super) mod shard_recovery;
pub(super) mod stats;
pub(super) mod upkeep;
