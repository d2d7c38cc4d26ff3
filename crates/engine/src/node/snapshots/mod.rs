//! The calls of `_snapshot` and `_slm`: repositories; creating, showing, deleting, cloning and restoring
//! snapshots.
//!
//! For the content of a repository, and why a crash leaves nothing half-written in it, see
//! [`crate::snapshot`].

mod clone;
mod create;
mod delete;
mod get;
mod global_state;
mod lost_runs;
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
