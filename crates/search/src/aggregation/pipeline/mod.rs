//! Pipeline aggregations: computed from the results of other aggregations.
//!
//! They see no documents. When everything is reduced, [`resolve`] walks the results from the innermost bucket
//! outwards. A parent pipeline, which is inside a bucket aggregation, processes all of its buckets
//! ([`Pipeline::over_buckets`]); a sibling pipeline computes one result from them ([`Pipeline::beside`]).

mod bucket_correlation;
mod bucket_count_ks_test;
mod bucket_metric;
mod bucket_script;
mod bucket_sort;
mod change;
mod change_point;
mod check;
mod cumulative_cardinality;
mod cumulative_sum;
mod definition;
mod derivative;
mod moving_avg;
mod moving_fn;
mod moving_model;
mod moving_percentiles;
mod normalize;
mod options;
mod path;
mod percentiles_bucket;
mod resolve;
mod rows;
mod serial_diff;

pub use bucket_correlation::BucketCorrelation;
pub use bucket_count_ks_test::BucketCountKsTest;
pub use bucket_metric::BucketMetric;
pub use bucket_script::{BucketScript, BucketSelector};
pub use bucket_sort::BucketSort;
pub use change_point::ChangePoint;
pub use check::check;
pub use cumulative_cardinality::CumulativeCardinality;
pub use cumulative_sum::CumulativeSum;
pub use definition::{PickedBucket, Pipeline, PipelineValue, SimpleValue};
pub use derivative::Derivative;
pub use moving_avg::MovingAvg;
pub use moving_fn::MovingFn;
pub use moving_percentiles::MovingPercentiles;
pub use normalize::Normalize;
pub use percentiles_bucket::PercentilesBucket;
pub use resolve::resolve;
pub use serial_diff::SerialDiff;
