//! A race over time: `timeline.ndjson` beside `race.json`.
//!
//! `race.json` has one figure per task, but plots need values over time. [`format`] is the format of the
//! file. [`recorder`] writes it while a race runs, in memory that does not grow with the number of requests.
//! [`recording`] is between the driver and the progress output. [`reader`] reads the file into as many bins
//! as a plot has points.

pub(crate) mod format;
pub(crate) mod reader;
pub(crate) mod recorder;

/// Name of the file in the race's folder.
pub(crate) const FILE_NAME: &str = "timeline.ndjson";
