//! Shows a race while it runs.
//!
//! [`now`] computes what is known about a running task, [`terminal`] shows it on a terminal, and [`page`]
//! shows the same in a browser.

pub(crate) mod now;
pub(crate) mod page;
mod progress;
pub(crate) mod recording;
pub(crate) mod terminal;

pub(crate) use now::{Heading, TaskNow};
pub(crate) use progress::Progress;
