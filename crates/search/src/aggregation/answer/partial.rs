//! What one shard found, and what all shards found together.

use std::any::Any;
use std::fmt::Debug;

use crate::aggregation::metric::{Distribution, MetricState, Sketch};
use crate::aggregation::pipeline::{PipelineValue, SimpleValue};

/// The key of a terms bucket.
#[derive(Debug, Clone, PartialEq)]
pub enum TermKey {
    Long(i64),
    Double(f64),
    Term(Box<[u8]>),
    /// One key for each field of a `multi_terms`.
    Several(Box<[Key]>),
}

impl TermKey {
    /// Compares keys in ascending order: numbers by value, terms by bytes.
    pub fn compare(&self, other: &TermKey) -> std::cmp::Ordering {
        match (self, other) {
            (TermKey::Long(left), TermKey::Long(right)) => left.cmp(right),
            (TermKey::Term(left), TermKey::Term(right)) => left.cmp(right),
            (TermKey::Several(left), TermKey::Several(right)) => compare_keys(left, right),
            (left, right) => left.as_double().total_cmp(&right.as_double()),
        }
    }

    /// Returns the key as the number that pipeline aggregations and orders use.
    pub fn as_double(&self) -> f64 {
        match self {
            TermKey::Long(value) => *value as f64,
            TermKey::Double(value) => *value,
            TermKey::Term(_) | TermKey::Several(_) => f64::NAN,
        }
    }
}

/// One bucket of a terms aggregation.
#[derive(Debug, Clone)]
pub struct TermBucket {
    pub key: TermKey,
    pub doc_count: u64,
    /// Upper bound of the number of documents that shards did not report; -1 when it is unbounded.
    pub error: i64,
    pub subs: Vec<Partial>,
}

/// What one shard, or all of them, found for `terms`: the buckets, and what the other documents add up to.
#[derive(Debug, Clone, Default)]
pub struct TermsPartial {
    /// In the order of the request.
    pub buckets: Vec<TermBucket>,
    pub other_doc_count: u64,
    /// Sum of the shards' bounds of unreported documents; -1 when it is unbounded.
    pub error: i64,
}

/// One bucket of a histogram: the key is a multiple of the interval, or an instant in milliseconds.
#[derive(Debug, Clone)]
pub struct KeyedBucket {
    pub key: i64,
    pub doc_count: u64,
    pub subs: Vec<Partial>,
}

/// One bucket of a [`ListPartial`].
#[derive(Debug, Clone)]
pub struct ListBucket {
    /// One key for each source.
    pub keys: Box<[Key]>,
    pub doc_count: u64,
    /// Documents with the key in the background set; 0 without a background set.
    pub background: u64,
    /// The bucket's score, or another number that the aggregation keeps with it.
    pub score: f64,
    /// Upper bound of the number of documents that shards did not report; -1 when it is unbounded.
    pub error: i64,
    pub subs: Vec<Partial>,
}

impl ListBucket {
    /// Makes a bucket without background documents and without an error.
    pub fn new(keys: Box<[Key]>, doc_count: u64, subs: Vec<Partial>) -> ListBucket {
        ListBucket { keys, doc_count, background: 0, score: 0.0, error: 0, subs }
    }
}

/// One part of a bucket's key.
#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    Missing,
    Long(i64),
    Double(f64),
    Term(Box<[u8]>),
}

impl Key {
    /// Compares keys: missing ones come first, then numbers by value and terms by bytes.
    pub fn compare(&self, other: &Key) -> std::cmp::Ordering {
        match (self, other) {
            (Key::Missing, Key::Missing) => std::cmp::Ordering::Equal,
            (Key::Missing, _) => std::cmp::Ordering::Less,
            (_, Key::Missing) => std::cmp::Ordering::Greater,
            (Key::Long(left), Key::Long(right)) => left.cmp(right),
            (Key::Term(left), Key::Term(right)) => left.cmp(right),
            (left, right) => left.as_double().total_cmp(&right.as_double()),
        }
    }

    pub(crate) fn as_double(&self) -> f64 {
        match self {
            Key::Long(value) => *value as f64,
            Key::Double(value) => *value,
            Key::Missing | Key::Term(_) => f64::NAN,
        }
    }
}

/// Compares lists of keys part by part.
pub fn compare_keys(left: &[Key], right: &[Key]) -> std::cmp::Ordering {
    left.iter()
        .zip(right)
        .map(|(left, right)| left.compare(right))
        .find(|ordering| ordering.is_ne())
        .unwrap_or(std::cmp::Ordering::Equal)
}

/// What one shard found, as a list of buckets.
#[derive(Debug, Clone, Default)]
pub struct ListPartial {
    pub buckets: Vec<ListBucket>,
    pub other_doc_count: u64,
    /// Upper bound of the number of unreported documents; -1 when it is unbounded.
    pub error: i64,
    /// Documents that were collected; `background`: those of the background set.
    pub doc_count: u64,
    pub background: u64,
    /// Hashes of keys that must not have a bucket.
    pub refused: Vec<u64>,
    /// A number for the whole aggregation, such as the index of the rounding in use, or an interval.
    pub number: i64,
}

impl ListPartial {
    /// Makes a list that only has buckets.
    pub fn of(buckets: Vec<ListBucket>) -> ListPartial {
        ListPartial { buckets, ..ListPartial::default() }
    }
}

/// A bucket that is identified by its position.
#[derive(Debug, Clone, Default)]
pub struct Bucket {
    pub doc_count: u64,
    pub subs: Vec<Partial>,
    /// The place in the definition, where a pipeline has given the bucket another.
    pub moved_from: Option<u32>,
}

impl Bucket {
    /// Makes a bucket that has not been moved.
    pub fn new(doc_count: u64, subs: Vec<Partial>) -> Bucket {
        Bucket { doc_count, subs, moved_from: None }
    }

    /// Returns the index in the definition of the bucket that is at index `place` now.
    pub fn defined_at(&self, place: usize) -> usize {
        self.moved_from.map_or(place, |from| from as usize)
    }
}

/// Returns each bucket with its index in the definition.
pub fn with_places(buckets: &[Bucket]) -> impl Iterator<Item = (usize, &Bucket)> {
    buckets.iter().enumerate().map(|(place, bucket)| (bucket.defined_at(place), bucket))
}

/// The result of one aggregation in one bucket of its parent.
#[derive(Debug, Clone)]
pub enum Partial {
    Metric(MetricState),
    Cardinality(Box<Sketch>),
    Distribution(Box<Distribution>),
    Terms(TermsPartial),
    /// Histograms and date histograms, by ascending key until the last reduce; grids in the order of their
    /// answer.
    Histogram(Vec<KeyedBucket>),
    /// Ranges, date ranges and filters, in the order of the definition.
    Fixed(Vec<Bucket>),
    /// `filter`, `missing` and other single-bucket aggregations.
    Single(Bucket),
    /// Buckets that carry their own keys.
    List(ListPartial),
    /// A finding whose type only its aggregation knows.
    Own(Box<dyn AnyFinding>),
    /// The number that a pipeline aggregation makes.
    Simple(SimpleValue),
    /// Another result of a pipeline aggregation.
    Pipeline(Box<PipelineValue>),
    /// The aggregation is not shown.
    Absent,
}

/// The result of an aggregation in its own type; [`Partial`] can hold any of them.
pub trait Finding: Sized {
    fn into_partial(self) -> Partial;
    /// Returns the finding in a partial result, or `None` where the result is of another type.
    fn from_partial(partial: Partial) -> Option<Self>;
    fn in_partial(partial: &Partial) -> Option<&Self>;
}

macro_rules! finding {
    ($($type:ty => $variant:ident),* $(,)?) => {$(
        impl Finding for $type {
            fn into_partial(self) -> Partial {
                Partial::$variant(self)
            }

            fn from_partial(partial: Partial) -> Option<Self> {
                match partial {
                    Partial::$variant(finding) => Some(finding),
                    _ => None,
                }
            }

            fn in_partial(partial: &Partial) -> Option<&Self> {
                match partial {
                    Partial::$variant(finding) => Some(finding),
                    _ => None,
                }
            }
        }
    )*};
}

finding! {
    MetricState => Metric,
    Box<Sketch> => Cardinality,
    Box<Distribution> => Distribution,
    TermsPartial => Terms,
    Vec<KeyedBucket> => Histogram,
    Vec<Bucket> => Fixed,
    Bucket => Single,
    ListPartial => List,
}

/// A finding whose type belongs to a single aggregation.
pub trait OwnFinding: Any + Clone + Debug + Send + Sync {
    /// Returns its only bucket, if paths can lead through it.
    fn single(&self) -> Option<&Bucket> {
        None
    }

    /// Returns the sub-aggregations' results of each of its buckets.
    fn buckets_mut(&mut self) -> Vec<&mut Vec<Partial>> {
        Vec::new()
    }

    /// Scales counts of a sample up to the whole set; `probability` is that of a document being in the
    /// sample.
    fn scale(&mut self, _probability: f64) {}
}

/// An [`OwnFinding`] whose type only its aggregation knows.
pub trait AnyFinding: Any + Debug + Send + Sync {
    fn boxed_clone(&self) -> Box<dyn AnyFinding>;
    fn single(&self) -> Option<&Bucket>;
    fn buckets_mut(&mut self) -> Vec<&mut Vec<Partial>>;
    fn scale(&mut self, probability: f64);
}

impl<T: OwnFinding> AnyFinding for T {
    fn boxed_clone(&self) -> Box<dyn AnyFinding> {
        Box::new(self.clone())
    }

    fn single(&self) -> Option<&Bucket> {
        OwnFinding::single(self)
    }

    fn buckets_mut(&mut self) -> Vec<&mut Vec<Partial>> {
        OwnFinding::buckets_mut(self)
    }

    fn scale(&mut self, probability: f64) {
        OwnFinding::scale(self, probability);
    }
}

impl Clone for Box<dyn AnyFinding> {
    fn clone(&self) -> Box<dyn AnyFinding> {
        (**self).boxed_clone()
    }
}

impl<T: OwnFinding> Finding for T {
    fn into_partial(self) -> Partial {
        Partial::Own(Box::new(self))
    }

    fn from_partial(partial: Partial) -> Option<T> {
        let Partial::Own(finding) = partial else { return None };
        let any: Box<dyn Any> = finding;
        any.downcast().ok().map(|finding| *finding)
    }

    fn in_partial(partial: &Partial) -> Option<&T> {
        let Partial::Own(finding) = partial else { return None };
        let any: &dyn Any = &**finding;
        any.downcast_ref()
    }
}
