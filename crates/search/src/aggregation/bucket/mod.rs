//! Bucket aggregations other than `terms`: which buckets does a document fall into?

mod adjacency_matrix;
mod auto_date_histogram;
mod bounds;
mod composite;
mod composite_source;
mod date_histogram;
mod filter;
mod geo_distance;
mod geo_grid;
mod global;
mod grid_cells;
mod histogram;
mod histogram_collector;
mod ip_range;
mod missing;
mod range;
mod range_collector;
mod rounding;
mod variable_width_histogram;

pub use adjacency_matrix::AdjacencyMatrix;
pub use auto_date_histogram::AutoDateHistogram;
pub use composite::Composite;
pub use date_histogram::{DateHistogram, DateHistogramCollector, DateShape};
pub use filter::{Docs, FilterCollector, Filters, FiltersCollector, mark, parse_filter, single_partials};
pub use geo_distance::parse_geo_distance;
pub use geo_grid::GeoGrid;
pub use global::Global;
pub use histogram::Histogram;
pub use histogram_collector::{HistogramCollector, stored_range};
pub use ip_range::IpRanges;
pub use missing::{MissingCollector, parse_missing};
pub use range::{Ranges, ShownRange};
pub use range_collector::RangeCollector;
pub use rounding::Interval;
pub use variable_width_histogram::VariableWidthHistogram;
