//! The calls of `_snapshot` and `_slm`: repositories, and snapshots taken, shown, deleted, cloned and
//! restored.
//!
//! What a repository holds, and why a crash leaves nothing half there, is told in [`crate::snapshot`].

mod clone;
mod create;
mod delete;
mod get;
mod global_state;
mod policies;
mod policy_round;
mod publish;
mod repositories;
mod request;
mod restore;
mod restore_request;
mod shards;
mod state;
mod status;

pub use get::{ListedSnapshot, SnapshotQuery};
pub(super) use repositories::restored;
