//! Tasks whose parameters, runner or due times come from the track's `track.py`.
//!
//! [`operation`] plans such a task. [`feed`] requests many sets of parameters from parameter sources ahead of
//! time, and built-in operations send them like any others ([`params`], [`bulk`]). Runners send their
//! requests through the client's own exchange ([`runner`]). [`schedule`] asks schedulers when requests are
//! due.

mod bulk;
mod feed;
mod operation;
mod params;
mod runner;
pub(super) mod schedule;

pub(super) use operation::{concerns, plan};
