//! "What was measured, document by document?": Rally's metrics store.
//!
//! [`document`] knows the layout of a document (`esrally/metrics.py`); [`samples`] and [`system`] make
//! documents of requests and of the server's statistics; [`writer`] is the thread that writes them, so that
//! neither the clients nor the devices wait for a disk. `telemetry.ndjson` in the race's folder always holds
//! what devices of telemetry found; `metrics.ndjson` holds all documents when [`reporting`] says so, and
//! [`datastore`] brings them into an Elasticsearch-compatible server once the race is over.

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
