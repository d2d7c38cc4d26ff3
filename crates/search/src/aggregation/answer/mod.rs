//! Makes the answer from what the shards found: reduces, orders and renders it.

pub(super) mod hit_reader;
pub(super) mod members;
pub(super) mod order;
pub(super) mod partial;
pub(super) mod reduce;
pub(super) mod render;
