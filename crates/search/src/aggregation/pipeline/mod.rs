//! Pipeline aggregations: "what follows from the values of other aggregations?"
//!
//! They see no documents. Once everything is reduced, [`resolve`] walks the results from the innermost bucket
//! outwards: a pipeline within a bucket aggregation looks at all of its buckets ([`Work::Buckets`]), one
//! beside a bucket aggregation makes one value of them ([`Work::Beside`]).

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
mod moving_fn;
mod moving_percentiles;
mod normalize;
mod options;
mod path;
mod percentiles_bucket;
mod resolve;
mod rows;
mod serial_diff;

pub use bucket_metric::BucketMetric;
pub use bucket_script::{BucketScript, BucketSelector};
pub use bucket_sort::BucketSort;
pub use change_point::ChangePoint;
pub use check::check;
pub use cumulative_cardinality::CumulativeCardinality;
pub use cumulative_sum::CumulativeSum;
pub use definition::{PickedBucket, Pipeline, PipelineValue};
pub use derivative::Derivative;
pub use moving_fn::MovingFn;
pub use moving_percentiles::MovingPercentiles;
pub use normalize::Normalize;
pub use percentiles_bucket::PercentilesBucket;
pub use resolve::resolve;
pub use serial_diff::SerialDiff;
