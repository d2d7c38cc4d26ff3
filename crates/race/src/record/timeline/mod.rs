//! "How did the race go from second to second?": `timeline.ndjson` beside `race.json`.
//!
//! `race.json` holds one figure a task; plots need the course. [`format`] says what stands in the file,
//! [`recorder`] writes it while a race runs, in memory that does not grow with the number of requests,
//! [`recording`] stands between the driver and whoever looks on, and [`reader`] brings the file back in as
//! many bins as a plot has points.

pub(crate) mod format;
pub(crate) mod reader;
pub(crate) mod recorder;

/// Name of the file in the race's folder.
pub(crate) const FILE_NAME: &str = "timeline.ndjson";
