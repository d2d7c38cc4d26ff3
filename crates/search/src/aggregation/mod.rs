//! Aggregations: "what do the matching documents look like as a whole?"
//!
//! Parsed once a request ([`Aggregations`]), bound once a shard ([`BoundAggregations`]: fields, formats, queries), fed with the matching
//! documents window by window ([`ShardCollector`]), put together ([`reduce`]) and shown ([`ReducedAggregations::to_json`]).
//!
//! **Invariants**: columns are read for a whole batch of documents; buckets are numbers, and what is kept of them are arrays by that number;
//! memory is charged to the ledger as buckets are made, and the answer's buckets are counted before they are.
//!
//! Adding one is a file with its request and its collector, a variant of `Kind`, and a line in [`AGGREGATIONS`].

mod bind;
mod bucket;
mod bucket_table;
mod budget;
mod collector;
mod decimal_format;
mod entries;
mod format;
mod kahan;
mod metric;
mod options;
mod order;
mod partial;
mod reduce;
mod render;
mod source;
mod terms;
mod tree;

#[cfg(test)]
mod tests;

use limber_mapping::RequestError;

pub use collector::{BoundAggregations, ShardAggregations, ShardCollector};
pub use reduce::{ReducedAggregations, reduce};
pub use tree::Aggregations;

type Parse = fn(&mut options::Options) -> Result<tree::Kind, RequestError>;

/// Every aggregation type.
const AGGREGATIONS: &[(&str, Parse)] = &[
    ("avg", metric::Metric::avg),
    ("cardinality", metric::Cardinality::parse),
    ("date_histogram", bucket::DateHistogram::parse),
    ("date_range", bucket::Ranges::parse),
    ("extended_stats", metric::Metric::extended_stats),
    ("filter", bucket::parse_filter),
    ("filters", bucket::Filters::parse),
    ("histogram", bucket::Histogram::parse),
    ("max", metric::Metric::max),
    ("min", metric::Metric::min),
    ("missing", bucket::parse_missing),
    ("percentile_ranks", metric::Percentiles::parse_ranks),
    ("percentiles", metric::Percentiles::parse),
    ("range", bucket::Ranges::parse),
    ("stats", metric::Metric::stats),
    ("sum", metric::Metric::sum),
    ("terms", terms::Terms::parse),
    ("value_count", metric::Metric::value_count),
];

/// Names of the aggregations there are, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    AGGREGATIONS.iter().map(|(name, _)| *name)
}

/// Aggregations that Elasticsearch has and this server does not: refused by name, so that nobody thinks of a typing error.
const KNOWN_ELSEWHERE: &[&str] = &[
    "adjacency_matrix",
    "auto_date_histogram",
    "avg_bucket",
    "boxplot",
    "bucket_correlation",
    "bucket_count_ks_test",
    "bucket_script",
    "bucket_selector",
    "bucket_sort",
    "categorize_text",
    "change_point",
    "children",
    "composite",
    "cumulative_cardinality",
    "cumulative_sum",
    "derivative",
    "diversified_sampler",
    "extended_stats_bucket",
    "frequent_item_sets",
    "geo_bounds",
    "geo_centroid",
    "geo_distance",
    "geo_line",
    "geohash_grid",
    "geohex_grid",
    "geotile_grid",
    "global",
    "inference",
    "ip_prefix",
    "ip_range",
    "matrix_stats",
    "max_bucket",
    "median_absolute_deviation",
    "min_bucket",
    "moving_fn",
    "moving_percentiles",
    "multi_terms",
    "nested",
    "normalize",
    "parent",
    "percentiles_bucket",
    "random_sampler",
    "rare_terms",
    "rate",
    "reverse_nested",
    "sampler",
    "scripted_metric",
    "serial_diff",
    "significant_terms",
    "significant_text",
    "stats_bucket",
    "string_stats",
    "sum_bucket",
    "t_test",
    "time_series",
    "top_hits",
    "top_metrics",
    "variable_width_histogram",
    "weighted_avg",
];
