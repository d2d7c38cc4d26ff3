//! A common view of the buckets of any aggregation: key, document count, and sub-aggregations' results.

use limber_work as work;

use super::super::answer::partial::{Key, Partial, TermKey};
use super::super::bind::Shape;
use super::super::buckets::list::keys_text;
use super::super::definition::Definition;
use super::super::tree::Aggregation;
use crate::error::Result;

/// One bucket.
#[derive(Debug, Clone, Copy)]
pub struct Row<'p> {
    /// NaN if the key is not a number.
    pub key: f64,
    pub doc_count: u64,
    pub subs: &'p [Partial],
    place: usize,
    of: Buckets<'p>,
}

/// The buckets of one aggregation.
#[derive(Debug, Clone, Copy)]
struct Buckets<'p> {
    definition: Option<&'p dyn Definition>,
    shape: &'p Shape,
    partial: &'p Partial,
}

impl Row<'_> {
    /// Returns the key as it would be shown in `key_as_string`. It is formatted here and not for all buckets
    /// in advance, because a request chooses how long keys are.
    ///
    /// # Errors
    /// Fails when there is no memory for it, or when the client has disconnected.
    pub fn text(&self) -> Result<String> {
        let Buckets { definition, shape, partial } = self.of;
        let format = &shape.format;
        match partial {
            Partial::Terms(terms) => match &terms.buckets[self.place].key {
                TermKey::Long(value) => format.text_of_long(*value),
                TermKey::Double(value) => format.text(*value),
                TermKey::Term(term) => format.text_of_term(term),
                TermKey::Several(keys) => keys_text(keys, &shape.sources),
            },
            Partial::Histogram(buckets) => {
                let key = buckets[self.place].key;
                match definition.and_then(|definition| definition.double_key(key)) {
                    Some(key) => format.text(key),
                    None => format.text_of_long(key),
                }
            }
            Partial::Fixed(buckets) => {
                let place = buckets[self.place].defined_at(self.place);
                let text = definition.map(|definition| definition.bucket_text(place, shape)).transpose()?;
                Ok(text.flatten().unwrap_or_else(|| place.to_string()))
            }
            Partial::List(list) => keys_text(&list.buckets[self.place].keys, &shape.sources),
            _ => Ok(String::new()),
        }
    }
}

/// Returns the number of buckets; 0 for metrics.
pub fn row_count(partial: &Partial) -> usize {
    match partial {
        Partial::Terms(terms) => terms.buckets.len(),
        Partial::Histogram(buckets) => buckets.len(),
        Partial::Fixed(buckets) => buckets.len(),
        Partial::List(list) => list.buckets.len(),
        _ => 0,
    }
}

/// Returns the buckets in their order; empty for metrics.
///
/// # Errors
/// Fails when there is no memory for them, or when the client has disconnected.
pub fn rows<'p>(own: &'p Aggregation, shape: &'p Shape, partial: &'p Partial) -> Result<Vec<Row<'p>>> {
    let of = Buckets { definition: own.definition(), shape, partial };
    work::claim((row_count(partial) * size_of::<Row<'p>>()) as u64)?;
    let row = |(place, (key, doc_count, subs))| Row { key, doc_count, subs, place, of };
    Ok(match partial {
        Partial::Terms(terms) => {
            let buckets = terms.buckets.iter();
            let parts = buckets.map(|bucket| (bucket.key.as_double(), bucket.doc_count, &bucket.subs[..]));
            parts.enumerate().map(row).collect()
        }
        Partial::Histogram(buckets) => {
            let double_key = |key| of.definition.and_then(|definition| definition.double_key(key));
            let key = |key: i64| double_key(key).unwrap_or(key as f64);
            let parts = buckets.iter().map(|bucket| (key(bucket.key), bucket.doc_count, &bucket.subs[..]));
            parts.enumerate().map(row).collect()
        }
        Partial::Fixed(buckets) => {
            let parts = buckets.iter().map(|bucket| (f64::NAN, bucket.doc_count, &bucket.subs[..]));
            parts.enumerate().map(row).collect()
        }
        Partial::List(list) => {
            let key = |keys: &[Key]| keys.first().map_or(f64::NAN, Key::as_double);
            let buckets = list.buckets.iter();
            let parts = buckets.map(|bucket| (key(&bucket.keys), bucket.doc_count, &bucket.subs[..]));
            parts.enumerate().map(row).collect()
        }
        _ => Vec::new(),
    })
}

/// Returns the sub-aggregations' results of every bucket, including those of single-bucket aggregations.
pub fn subs_mut(partial: &mut Partial) -> Vec<&mut Vec<Partial>> {
    match partial {
        Partial::Terms(terms) => terms.buckets.iter_mut().map(|bucket| &mut bucket.subs).collect(),
        Partial::Histogram(buckets) => buckets.iter_mut().map(|bucket| &mut bucket.subs).collect(),
        Partial::Fixed(buckets) => buckets.iter_mut().map(|bucket| &mut bucket.subs).collect(),
        Partial::List(list) => list.buckets.iter_mut().map(|bucket| &mut bucket.subs).collect(),
        Partial::Single(bucket) => vec![&mut bucket.subs],
        Partial::Own(finding) => finding.buckets_mut(),
        _ => Vec::new(),
    }
}

/// Keeps only the buckets at these indexes, each of which occurs once, in this order. Returns false if
/// buckets are identified by their index and cannot be removed.
pub fn keep(partial: &mut Partial, places: &[usize]) -> bool {
    fn pick<T>(buckets: &mut Vec<T>, places: &[usize]) {
        let mut all: Vec<Option<T>> = std::mem::take(buckets).into_iter().map(Some).collect();
        buckets.extend(places.iter().filter_map(|&place| all[place].take()));
    }
    match partial {
        Partial::Terms(terms) => pick(&mut terms.buckets, places),
        Partial::Histogram(buckets) => pick(buckets, places),
        Partial::List(list) => pick(&mut list.buckets, places),
        Partial::Fixed(buckets) => {
            for (place, bucket) in buckets.iter_mut().enumerate() {
                bucket.moved_from = Some(bucket.defined_at(place) as u32);
            }
            pick(buckets, places);
        }
        _ => return false,
    }
    true
}
