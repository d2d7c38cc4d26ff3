//! Reduces and renders the buckets of histograms: merges equal keys, fills gaps, and orders the buckets.
//!
//! Source: Elasticsearch's `InternalHistogram`, `InternalDateHistogram`.

use serde_json::Value;

use super::super::answer::members::Members;
use super::super::answer::order::BucketOrder;
use super::super::answer::partial::KeyedBucket;
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::terms::compare_by;
use super::super::tree::Aggregation;
use crate::error::Result;

impl Reducer<'_> {
    /// Merges buckets with equal keys and sorts them by key. Those with too few documents are left out.
    pub fn keyed(
        &mut self,
        aggregation: &Aggregation,
        parts: Vec<Vec<KeyedBucket>>,
        min_doc_count: u64,
    ) -> Result<Vec<KeyedBucket>> {
        let mut all: Vec<KeyedBucket> = parts.into_iter().flatten().collect();
        all.sort_by_key(|bucket| bucket.key);
        let mut merged = Vec::new();
        let mut from = all.into_iter().peekable();
        while let Some(first) = from.next() {
            let (key, mut doc_count) = (first.key, first.doc_count);
            let mut subs = vec![first.subs];
            while let Some(next) = from.next_if(|next| next.key == key) {
                doc_count += next.doc_count;
                subs.push(next.subs);
            }
            if doc_count >= min_doc_count {
                self.count_buckets(1)?;
                merged.push(KeyedBucket { key, doc_count, subs: self.subs(&aggregation.subs, subs)? });
            }
        }
        Ok(merged)
    }

    /// Adds empty buckets wherever there is none between `first` and `last` (both included).
    pub fn fill(
        &mut self,
        aggregation: &Aggregation,
        buckets: Vec<KeyedBucket>,
        range: Option<(i64, i64)>,
        next: impl Fn(i64) -> i64,
    ) -> Result<Vec<KeyedBucket>> {
        let known = buckets.first().map(|first| first.key).zip(buckets.last().map(|last| last.key));
        let (mut key, last) = match (range, known) {
            (Some((first, last)), Some((least, most))) => (first.min(least), last.max(most)),
            (Some(range), None) | (None, Some(range)) => range,
            (None, None) => return Ok(buckets),
        };
        let empty = self.subs(&aggregation.subs, Vec::new())?;
        let mut filled = Vec::with_capacity(buckets.len());
        let mut from = buckets.into_iter().peekable();
        while key <= last {
            match from.next_if(|bucket| bucket.key <= key) {
                Some(bucket) => {
                    let own = bucket.key;
                    filled.push(bucket);
                    if own < key {
                        continue;
                    }
                }
                None => {
                    self.count_buckets(1)?;
                    filled.push(KeyedBucket { key, doc_count: 0, subs: empty.clone() });
                }
            }
            let following = next(key);
            if following <= key {
                break;
            }
            key = following;
        }
        filled.extend(from);
        Ok(filled)
    }
}

/// Returns the range that extended bounds ask for; at an open end, the range of the buckets.
pub fn filled_range(min: Option<i64>, max: Option<i64>, buckets: &[KeyedBucket]) -> Option<(i64, i64)> {
    let first = buckets.first().map(|bucket| bucket.key);
    let last = buckets.last().map(|bucket| bucket.key);
    min.or(first).zip(max.or(last)).filter(|(min, max)| min <= max)
}

pub(crate) fn sorted(
    order: &BucketOrder,
    aggregation: &Aggregation,
    mut buckets: Vec<KeyedBucket>,
) -> Vec<KeyedBucket> {
    if !order.is_key_ascending() {
        buckets.sort_by(|left, right| {
            let pair = ((left.doc_count, &left.subs), (right.doc_count, &right.subs));
            compare_by(order, aggregation, pair, || left.key.cmp(&right.key))
        });
    }
    buckets
}

/// Renders the buckets of a histogram; `key` and `text` return a bucket's key and its formatted string.
pub fn render_keyed(
    list: &[KeyedBucket],
    keyed: bool,
    (key, text): (impl Fn(&KeyedBucket) -> Value, impl Fn(&KeyedBucket) -> Result<String>),
    renderer: &Renderer<'_>,
    out: &mut Members<'_>,
) -> Result<()> {
    let is_formatted = !renderer.shape.format.is_raw();
    out.buckets(keyed, |buckets| {
        for bucket in list {
            let text = if keyed || is_formatted { text(bucket)? } else { String::new() };
            buckets.add(&text, |out| {
                if is_formatted {
                    out.insert("key_as_string", &text)?;
                }
                out.insert("key", &key(bucket))?;
                renderer.bucket(bucket.doc_count, &bucket.subs, out)
            })?;
        }
        Ok(())
    })
}
