//! What the server says about itself before and after the race.
//!
//! These are Rally's telemetry devices that are always on (`esrally/telemetry.py`), with one file for each. A
//! device asks at the start and again at the end, and turns the difference into rows of the report. If a
//! server does not have a value, its row is left out with a warning; requests without which a race makes no
//! sense fail it. (`MasterNodeStats` has no row and is left out.)

mod environment;
mod index_stats;
mod ingest;
mod jvm;
mod ml;

pub(crate) use environment::Environment;
pub(crate) use index_stats::{IndexMetrics, ShardTime};
pub(crate) use ingest::IngestTotals;
pub(crate) use jvm::GarbageCollection;
pub(crate) use ml::MlJob;

pub(crate) mod watch;

mod devices;
mod documents;
pub(crate) use devices::{SystemMetrics, Telemetry};
pub(crate) use documents::documents;
