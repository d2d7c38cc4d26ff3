//! Makes the answer of what shards found: puts it together, orders it and renders it.

pub(super) mod hit_reader;
pub(super) mod order;
pub(super) mod partial;
pub(super) mod reduce;
pub(super) mod render;
