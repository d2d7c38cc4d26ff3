//! "What was measured, document by document?": Rally's metrics store.
//!
//! [`document`] knows the layout of a document (`esrally/metrics.py`); [`samples`] and [`system`] make documents of requests and of
//! the server's statistics; [`writer`] is the thread that writes them, so that neither the clients nor the devices wait for a disk.
//! `telemetry.ndjson` in the race's folder always holds what devices of telemetry found; `metrics.ndjson` holds all documents when
//! [`reporting`] says so, and [`datastore`] brings them into an Elasticsearch-compatible server once the race is over.

pub mod datastore;
pub mod document;
pub mod reporting;
pub mod results;
pub mod samples;
mod templates;
#[cfg(test)]
mod tests;
pub mod writer;

pub use document::{Level, Metric, RaceContext};
pub use reporting::Reporting;
pub use samples::SampleLog;
pub use writer::{MetricsSender, MetricsWriter};
