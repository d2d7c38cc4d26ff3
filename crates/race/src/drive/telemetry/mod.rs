//! "What does the server say about itself before and after the race?"
//!
//! Rally's telemetry devices that are always on (`esrally/telemetry.py`), one file a device. Each asks at the start, again at
//! the end, and turns the difference into rows of the report. What a server does not know drops its rows and leaves a warning;
//! only what Rally cannot do without is asked for at all. (`MasterNodeStats` has no row and is left out.)

mod environment;
mod index_stats;
mod ingest;
mod jvm;
mod ml;

pub use environment::Environment;
pub use index_stats::{IndexMetrics, ShardTime};
pub use ingest::IngestTotals;
pub use jvm::GarbageCollection;
pub use ml::MlJob;

pub mod watch;

mod devices;
mod documents;
pub use devices::{SystemMetrics, Telemetry};
pub use documents::documents;
