//! A common view of the buckets of any aggregation: key, document count, and sub-aggregations' results.

use super::super::answer::partial::{Partial, TermKey, with_places};
use super::super::answer::render::term_text;
use super::super::bind::Shape;
use super::super::buckets::list::key_text;
use super::super::tree::Aggregation;
use super::super::values::format::Format;

/// One bucket. `text` is its key as it would be shown in `key_as_string`.
#[derive(Debug)]
pub struct Row<'p> {
    /// NaN if the key is not a number.
    pub key: f64,
    pub text: String,
    pub doc_count: u64,
    pub subs: &'p [Partial],
}

/// Returns the buckets in their order; empty for metrics.
pub fn rows<'p>(own: &Aggregation, shape: &Shape, partial: &'p Partial) -> Vec<Row<'p>> {
    let (format, definition) = (&shape.format, own.definition());
    match partial {
        Partial::Terms(terms) => terms
            .buckets
            .iter()
            .map(|bucket| Row {
                key: bucket.key.as_double(),
                text: match &bucket.key {
                    TermKey::Long(value) => format.text_of_long(*value),
                    TermKey::Double(value) => format.text(*value),
                    TermKey::Term(term) => term_text(term, format),
                    TermKey::Several(keys) => {
                        let parts: Vec<String> = keys
                            .iter()
                            .enumerate()
                            .map(|(place, key)| {
                                key_text(
                                    key,
                                    shape.sources.get(place).map_or(&Format::Raw, |source| &source.format),
                                )
                            })
                            .collect();
                        parts.join("|")
                    }
                },
                doc_count: bucket.doc_count,
                subs: &bucket.subs,
            })
            .collect(),
        Partial::Histogram(buckets) => buckets
            .iter()
            .map(|bucket| {
                let (key, text) = match definition.and_then(|definition| definition.double_key(bucket.key)) {
                    Some(key) => (key, format.text(key)),
                    None => (bucket.key as f64, format.text_of_long(bucket.key)),
                };
                Row { key, text, doc_count: bucket.doc_count, subs: &bucket.subs }
            })
            .collect(),
        Partial::Fixed(buckets) => {
            let text = |place: usize| definition?.bucket_text(place, shape);
            let row = |(place, bucket): (usize, &'p super::super::answer::partial::Bucket)| Row {
                key: f64::NAN,
                text: text(place).unwrap_or_else(|| place.to_string()),
                doc_count: bucket.doc_count,
                subs: &bucket.subs,
            };
            with_places(buckets).map(row).collect()
        }
        Partial::List(list) => list
            .buckets
            .iter()
            .map(|bucket| {
                let parts: Vec<String> = bucket
                    .keys
                    .iter()
                    .enumerate()
                    .map(|(place, key)| {
                        key_text(key, shape.sources.get(place).map_or(&Format::Raw, |source| &source.format))
                    })
                    .collect();
                let key = bucket.keys.first().map_or(f64::NAN, |key| key.as_double());
                Row { key, text: parts.join("|"), doc_count: bucket.doc_count, subs: &bucket.subs }
            })
            .collect(),
        _ => Vec::new(),
    }
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
