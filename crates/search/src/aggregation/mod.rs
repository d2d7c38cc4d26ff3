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
mod deferred;
mod definition;
mod entries;
mod format;
mod kahan;
mod key_reader;
mod list;
mod metric;
mod options;
mod order;
mod partial;
mod reduce;
mod render;
mod sampling;
mod significant;
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
    ("adjacency_matrix", bucket::AdjacencyMatrix::parse),
    ("auto_date_histogram", bucket::AutoDateHistogram::parse),
    ("avg", metric::Metric::avg),
    ("cardinality", metric::Cardinality::parse),
    ("composite", bucket::Composite::parse),
    ("date_histogram", bucket::DateHistogram::parse),
    ("date_range", bucket::Ranges::parse),
    ("diversified_sampler", sampling::DiversifiedSampler::parse),
    ("extended_stats", metric::Metric::extended_stats),
    ("filter", bucket::parse_filter),
    ("filters", bucket::Filters::parse),
    ("global", bucket::Global::parse),
    ("geo_bounds", metric::GeoBounds::parse),
    ("geo_centroid", metric::GeoCentroid::parse),
    ("geo_distance", bucket::parse_geo_distance),
    ("geohash_grid", bucket::GeoGrid::parse),
    ("geohex_grid", bucket::GeoGrid::parse),
    ("geotile_grid", bucket::GeoGrid::parse),
    ("histogram", bucket::Histogram::parse),
    ("ip_range", bucket::IpRanges::parse),
    ("max", metric::Metric::max),
    ("min", metric::Metric::min),
    ("missing", bucket::parse_missing),
    ("multi_terms", terms::MultiTerms::parse),
    ("percentile_ranks", metric::Percentiles::parse_ranks),
    ("percentiles", metric::Percentiles::parse),
    ("random_sampler", sampling::RandomSampler::parse),
    ("range", bucket::Ranges::parse),
    ("rare_terms", terms::RareTerms::parse),
    ("sampler", sampling::Sampler::parse),
    ("significant_terms", significant::SignificantTerms::parse),
    ("significant_text", significant::SignificantText::parse),
    ("stats", metric::Metric::stats),
    ("sum", metric::Metric::sum),
    ("terms", terms::Terms::parse),
    ("top_hits", metric::TopHits::parse),
    ("value_count", metric::Metric::value_count),
    ("variable_width_histogram", bucket::VariableWidthHistogram::parse),
];

/// Names of the aggregations there are, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    AGGREGATIONS.iter().map(|(name, _)| *name)
}

/// Aggregations that Elasticsearch has and this server does not: refused by name, so that nobody thinks of a typing error.
const KNOWN_ELSEWHERE: &[&str] = &[
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
    "cumulative_cardinality",
    "cumulative_sum",
    "derivative",
    "extended_stats_bucket",
    "frequent_item_sets",
    "geo_line",
    "inference",
    "ip_prefix",
    "matrix_stats",
    "max_bucket",
    "median_absolute_deviation",
    "min_bucket",
    "moving_fn",
    "moving_percentiles",
    "nested",
    "normalize",
    "parent",
    "percentiles_bucket",
    "rate",
    "reverse_nested",
    "scripted_metric",
    "serial_diff",
    "stats_bucket",
    "string_stats",
    "sum_bucket",
    "t_test",
    "time_series",
    "top_metrics",
    "weighted_avg",
];
