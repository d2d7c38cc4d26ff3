//! Operations on a whole cluster: refreshes, merges, snapshots, statistics, jobs, and waiting for their
//! completion.

pub(super) mod cluster_health;
pub(super) mod force_merge;
pub(super) mod index_stats;
pub(super) mod ml;
pub(super) mod node_stats;
pub(super) mod refresh;
pub(super) mod snapshot;
pub(super) mod snapshot_repository;
pub(super) mod wait_for_recovery;
pub(super) mod wait_for_snapshot;
pub(super) mod wait_for_transform;
