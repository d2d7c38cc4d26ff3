//! "What was measured, document by document?": Rally's metrics store.
//!
//! [`document`] knows the layout of a document (`esrally/metrics.py`), [`writer`] is the thread that writes them, so that neither
//! the clients nor the devices wait for a disk. `telemetry.ndjson` in the race's folder always holds what devices of telemetry
//! found.

pub mod document;
pub mod writer;

pub use document::{Level, Metric, RaceContext};
pub use writer::{MetricsSender, MetricsWriter};
