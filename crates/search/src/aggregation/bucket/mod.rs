//! Bucket aggregations other than `terms`: which buckets does a document fall into?

mod bounds;
mod date_histogram;
mod filter;
mod histogram;
mod histogram_collector;
mod missing;
mod range;
mod range_collector;
mod rounding;

pub use date_histogram::{DateHistogram, DateHistogramCollector, DateShape};
pub use filter::{FilterCollector, Filters, FiltersCollector, parse_filter};
pub use histogram::Histogram;
pub use histogram_collector::{HistogramCollector, stored_range};
pub use missing::{MissingCollector, parse_missing};
pub use range::{Ranges, ShownRange};
pub use range_collector::RangeCollector;
