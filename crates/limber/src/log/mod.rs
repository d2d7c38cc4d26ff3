//! The log: "which lines are written, how often, and in which form?"
//!
//! Lines go to standard error, as text for people or as JSON for programs (`log.format`). What is written is
//! decided by `LIMBER_LOG`, and while the server runs by the cluster's settings `logger.*`.

mod json;
mod levels;
mod repeats;
mod start;

pub use levels::apply;
pub use start::{Form, start};
