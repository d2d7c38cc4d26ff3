//! Metrics: one value, or a few, for the documents of a bucket.

mod batch_stats;
mod boxplot;
mod cardinality;
mod digest;
mod digest_collector;
mod geo_bounds;
mod geo_centroid;
mod hdr;
mod hyperloglog;
mod matrix_stats;
mod median_absolute_deviation;
mod numeric;
mod numeric_collector;
mod percentiles;
mod places;
mod string_stats;
mod student;
mod t_test;
mod top_hits;
mod top_metrics;
mod weighted_avg;

pub use boxplot::Boxplot;
pub use cardinality::{Cardinality, CardinalityCollector};
pub use geo_bounds::GeoBounds;
pub use geo_centroid::GeoCentroid;
pub use hyperloglog::{Sketch, hash_number, hash_term};
pub use matrix_stats::MatrixStats;
pub use median_absolute_deviation::MedianAbsoluteDeviation;
pub use numeric::{Metric, MetricKind, MetricState};
pub use numeric_collector::MetricCollector;
pub use percentiles::{Distribution, Percentiles, PercentilesCollector};
pub use string_stats::StringStats;
pub use t_test::TTest;
pub use top_hits::TopHits;
pub use top_metrics::TopMetrics;
pub use weighted_avg::WeightedAvg;
