//! "How does it go right now?": what a race shows while it runs.
//!
//! [`now`] says what is known about a running task, [`terminal`] shows it on a terminal, [`page`] the same in a browser.

pub mod now;
pub mod page;
mod progress;
pub mod recording;
pub mod terminal;

pub use now::{Heading, TaskNow};
pub use progress::Progress;
