//! Searches that outlive their request: "what was found, and what is the next page?"
//!
//! [`search_contexts`] holds scrolls and points in time, [`async_search`] holds searches that run on after
//! they were answered.

pub(crate) mod async_search;
mod search_contexts;

pub use search_contexts::OpenedPointInTime;
pub(crate) use search_contexts::{Context, Contexts, PointInTime, Scroll, is_id, is_own, missing, owner};
