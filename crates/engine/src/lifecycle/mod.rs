//! Lifecycle policies: "what is to happen to an index as it grows and ages, and how far has it come?"
//!
//! A [`Policy`] is what users put. A [`LifecycleState`] is stored with each index that follows a policy.
//! `node/lifecycle*.rs` carry them out.

mod action;
mod conditions;
mod policy;
mod state;
mod stream;

pub(crate) use action::Action;
pub use conditions::Conditions;
pub(crate) use conditions::Figures;
pub use policy::Policy;
pub(crate) use policy::{Phase, check_name as check_policy_name};
pub use state::LifecycleState;
pub use stream::StreamLifecycle;

/// Policies are carried out.
pub(crate) const RUNNING: &str = "RUNNING";
/// A stop was requested; actions that have begun are finished first.
pub(crate) const STOPPING: &str = "STOPPING";
pub(crate) const STOPPED: &str = "STOPPED";
/// Name of the step, and of the action, at which a phase ends.
pub(crate) const COMPLETE: &str = "complete";
/// Name of the step in which an index waits after a failure.
pub(crate) const ERROR: &str = "ERROR";
