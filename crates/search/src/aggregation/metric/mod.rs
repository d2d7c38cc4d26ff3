//! Metrics: one value, or a few, for the documents of a bucket.

mod cardinality;
mod digest;
mod geo_bounds;
mod geo_centroid;
mod hdr;
mod hyperloglog;
mod numeric;
mod numeric_collector;
mod percentiles;
mod top_hits;

pub use cardinality::{Cardinality, CardinalityCollector};
pub use geo_bounds::GeoBounds;
pub use geo_centroid::GeoCentroid;
pub use hyperloglog::{Sketch, hash_number, hash_term};
pub use numeric::{Metric, MetricKind, MetricState};
pub use numeric_collector::MetricCollector;
pub use percentiles::{Distribution, Percentiles, PercentilesCollector};
pub use top_hits::TopHits;
