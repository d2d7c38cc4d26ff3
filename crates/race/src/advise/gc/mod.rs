//! Reads the logs of a garbage collector: how much of the time it takes, and for what.
//!
//! [`files`] finds the logs of one JVM with their rotations and recognizes their format. [`unified`] (HotSpot
//! since Java 9) and [`openj9`] (verbose:gc) read them line by line into [`events`]. [`figures`] summarizes
//! the events.
//!
//! **Invariant**: a log is read to its end whatever it contains. Logs are cut off by rotation, crashes and
//! full disks: a line that is not understood is counted, and is never an error.

mod events;
mod figures;
mod files;
mod openj9;
#[cfg(test)]
mod tests;
mod unified;

pub(crate) use events::GcEvents;
pub(crate) use figures::GcFigures;
pub(crate) use files::{GcLogError, read};
