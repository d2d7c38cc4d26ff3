//! Writes: "into which shard of which index does this document go, and what is the outcome?"

pub(in crate::node) mod active_copies;
pub(super) mod bulk;
pub(super) mod bulk_step;
pub(super) mod bulk_target;
pub(super) mod index_pipelines;
pub(super) mod ingest;
pub(super) mod reroute;
mod series;
pub(super) mod simulate_ingest;
pub(super) mod update;
