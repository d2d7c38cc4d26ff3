//! "How much of the time does the garbage collector take, and for what?"
//!
//! [`files`] finds the logs of one JVM with their rotations and says which format they have; [`unified`]
//! (HotSpot since Java 9) and [`openj9`] (verbose:gc) read a line at a time into [`events`]; [`figures`] is
//! what a reader wants to know.
//!
//! **Invariant**: a log is read to its end whatever stands in it. Logs are cut off by rotation, by crashes
//! and by full disks: a line that is not understood is counted, never an error.

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
