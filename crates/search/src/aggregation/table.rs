//! The table of aggregation types by name.

use limber_mapping::RequestError;

use super::options::Options;
use super::tree::Kind;
use super::{bucket, categorize, frequent, metric, pipeline, sampling, significant, terms};

/// Parses the options of one type.
type Parse = fn(&mut Options) -> Result<Kind, RequestError>;

/// Every aggregation type.
pub(super) const AGGREGATIONS: &[(&str, Parse)] = &[
    ("adjacency_matrix", bucket::AdjacencyMatrix::parse),
    ("auto_date_histogram", bucket::AutoDateHistogram::parse),
    ("avg", metric::Metric::avg),
    ("avg_bucket", pipeline::BucketMetric::avg),
    ("boxplot", metric::Boxplot::parse),
    ("bucket_correlation", pipeline::BucketCorrelation::parse),
    ("bucket_count_ks_test", pipeline::BucketCountKsTest::parse),
    ("bucket_script", pipeline::BucketScript::parse),
    ("bucket_selector", pipeline::BucketSelector::parse),
    ("bucket_sort", pipeline::BucketSort::parse),
    ("cardinality", metric::Cardinality::parse),
    ("cartesian_bounds", metric::CartesianBounds::parse),
    ("cartesian_centroid", metric::CartesianCentroid::parse),
    ("categorize_text", categorize::CategorizeText::parse),
    ("change_point", pipeline::ChangePoint::parse),
    ("children", bucket::Joined::parse_children),
    ("composite", bucket::Composite::parse),
    ("cumulative_cardinality", pipeline::CumulativeCardinality::parse),
    ("cumulative_sum", pipeline::CumulativeSum::parse),
    ("date_histogram", bucket::DateHistogram::parse),
    ("date_range", bucket::Ranges::parse),
    ("derivative", pipeline::Derivative::parse),
    ("diversified_sampler", sampling::DiversifiedSampler::parse),
    ("extended_stats", metric::Metric::extended_stats),
    ("extended_stats_bucket", pipeline::BucketMetric::extended_stats),
    ("filter", bucket::Filter::parse),
    ("filters", bucket::Filters::parse),
    ("frequent_item_sets", frequent::FrequentItemSets::parse),
    ("frequent_items", frequent::FrequentItemSets::parse),
    ("global", bucket::Global::parse),
    ("geo_bounds", metric::GeoBounds::parse),
    ("geo_centroid", metric::GeoCentroid::parse),
    ("geo_distance", bucket::parse_geo_distance),
    ("geo_line", metric::GeoLine::parse),
    ("geohash_grid", bucket::GeoGrid::parse),
    ("geohex_grid", bucket::GeoGrid::parse),
    ("geotile_grid", bucket::GeoGrid::parse),
    ("histogram", bucket::Histogram::parse),
    ("ip_prefix", bucket::IpPrefix::parse),
    ("ip_range", bucket::IpRanges::parse),
    ("matrix_stats", metric::MatrixStats::parse),
    ("max", metric::Metric::max),
    ("max_bucket", pipeline::BucketMetric::max),
    ("median_absolute_deviation", metric::MedianAbsoluteDeviation::parse),
    ("min", metric::Metric::min),
    ("min_bucket", pipeline::BucketMetric::min),
    ("missing", bucket::Missing::parse),
    ("moving_avg", pipeline::MovingAvg::parse),
    ("moving_fn", pipeline::MovingFn::parse),
    ("moving_percentiles", pipeline::MovingPercentiles::parse),
    ("multi_terms", terms::MultiTerms::parse),
    ("nested", bucket::Nested::parse),
    ("normalize", pipeline::Normalize::parse),
    ("parent", bucket::Joined::parse_parent),
    ("percentile_ranks", metric::Percentiles::parse_ranks),
    ("percentiles", metric::Percentiles::parse),
    ("percentiles_bucket", pipeline::PercentilesBucket::parse),
    ("random_sampler", sampling::RandomSampler::parse),
    ("range", bucket::Ranges::parse),
    ("rate", metric::Rate::parse),
    ("rare_terms", terms::RareTerms::parse),
    ("reverse_nested", bucket::ReverseNested::parse),
    ("sampler", sampling::Sampler::parse),
    ("scripted_metric", metric::ScriptedMetric::parse),
    ("serial_diff", pipeline::SerialDiff::parse),
    ("significant_terms", significant::SignificantTerms::parse),
    ("significant_text", significant::SignificantText::parse),
    ("stats", metric::Metric::stats),
    ("stats_bucket", pipeline::BucketMetric::stats),
    ("string_stats", metric::StringStats::parse),
    ("sum", metric::Metric::sum),
    ("sum_bucket", pipeline::BucketMetric::sum),
    ("t_test", metric::TTest::parse),
    ("terms", terms::Terms::parse),
    ("time_series", bucket::TimeSeries::parse),
    ("top_hits", metric::TopHits::parse),
    ("top_metrics", metric::TopMetrics::parse),
    ("value_count", metric::Metric::value_count),
    ("variable_width_histogram", bucket::VariableWidthHistogram::parse),
    ("weighted_avg", metric::WeightedAvg::parse),
];

/// Returns the names of all aggregation types, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    AGGREGATIONS.iter().map(|(name, _)| *name)
}

/// Aggregations that Elasticsearch has and this server does not have. They are refused by name, so that they
/// are not mistaken for typing errors.
pub(super) const UNSUPPORTED: &[&str] = &["inference"];
