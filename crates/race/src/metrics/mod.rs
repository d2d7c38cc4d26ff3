//! Rally's metrics store: everything that was measured, as documents.
//!
//! [`document`] has the layout of a document (`esrally/metrics.py`). [`samples`] and [`system`] make
//! documents of requests and of the server's statistics. [`writer`] is the thread that writes them, so that
//! neither the clients nor the devices wait for a disk. `telemetry.ndjson` in the race's folder always has
//! the results of telemetry devices; `metrics.ndjson` has all documents when [`reporting`] says so, and
//! [`datastore`] sends them to an Elasticsearch-compatible server after the race.

pub(crate) mod datastore;
pub(crate) mod document;
pub(crate) mod reporting;
pub(crate) mod results;
pub(crate) mod samples;
mod templates;
#[cfg(test)]
mod tests;
pub(crate) mod writer;

pub(crate) use document::{Level, Metric, RaceContext};
pub(crate) use reporting::Reporting;
pub(crate) use samples::SampleLog;
pub(crate) use writer::{MetricsSender, MetricsWriter};
