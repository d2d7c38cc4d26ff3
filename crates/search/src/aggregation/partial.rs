//! What one shard found, and what is left after all shards are put together.

use super::metric::{Distribution, MetricState, Sketch};

/// The key of a terms bucket.
#[derive(Debug, Clone, PartialEq)]
pub enum TermKey {
    Long(i64),
    Double(f64),
    Term(Box<[u8]>),
}

impl TermKey {
    /// Ascending: numbers by value, terms by bytes.
    pub fn compare(&self, other: &TermKey) -> std::cmp::Ordering {
        match (self, other) {
            (TermKey::Long(left), TermKey::Long(right)) => left.cmp(right),
            (TermKey::Term(left), TermKey::Term(right)) => left.cmp(right),
            (left, right) => left.as_double().total_cmp(&right.as_double()),
        }
    }

    pub fn as_double(&self) -> f64 {
        match self {
            TermKey::Long(value) => *value as f64,
            TermKey::Double(value) => *value,
            TermKey::Term(_) => f64::NAN,
        }
    }
}

/// One bucket of a terms aggregation.
#[derive(Debug, Clone)]
pub struct TermBucket {
    pub key: TermKey,
    pub doc_count: u64,
    /// Upper bound of the documents that shards did not report; -1: unbounded.
    pub error: i64,
    pub subs: Vec<Partial>,
}

#[derive(Debug, Clone, Default)]
pub struct TermsPartial {
    /// In the order of the request.
    pub buckets: Vec<TermBucket>,
    pub other_doc_count: u64,
    /// -1: unbounded.
    pub error: i64,
}

/// One bucket of a histogram: the key is a multiple of the interval, or an instant in milliseconds.
#[derive(Debug, Clone)]
pub struct KeyedBucket {
    pub key: i64,
    pub doc_count: u64,
    pub subs: Vec<Partial>,
}

/// A bucket whose place says what it is.
#[derive(Debug, Clone, Default)]
pub struct Bucket {
    pub doc_count: u64,
    pub subs: Vec<Partial>,
}

/// The result of one aggregation in one bucket of its parent.
#[derive(Debug, Clone)]
pub enum Partial {
    Metric(MetricState),
    Cardinality(Box<Sketch>),
    Distribution(Box<Distribution>),
    Terms(TermsPartial),
    /// Histogram and date histogram, by ascending key until the last reduce.
    Histogram(Vec<KeyedBucket>),
    /// Range, date range and filters, in the order of the definition.
    Fixed(Vec<Bucket>),
    /// Filter and missing.
    Single(Bucket),
}
