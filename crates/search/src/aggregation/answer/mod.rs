//! From what shards found to the answer: put together, ordered, rendered.

pub(super) mod hit_reader;
pub(super) mod order;
pub(super) mod partial;
pub(super) mod reduce;
pub(super) mod render;
