//! Reduces the terms of several shards. Source: Elasticsearch's `AbstractInternalTerms.reduce`.

use std::cmp::Ordering;

use super::super::answer::order::{BucketOrder, OrderBy, OrderPath};
use super::super::answer::partial::{Partial, TermBucket, TermKey, TermsPartial};
use super::super::answer::reduce::{Reducer, check_one_type};
use super::super::tree::Aggregation;
use super::request::Terms;
use super::select::compare_values;
use crate::error::Result;

/// Merges equal keys, sorts them, keeps `size` buckets, and computes the bound of what shards left out.
pub fn reduce_terms(
    request: &Terms,
    aggregation: &Aggregation,
    shards: Vec<TermsPartial>,
    reducer: &mut Reducer<'_>,
) -> Result<TermsPartial> {
    let shard_count = shards.len();
    let mut total_error = 0i64;
    let mut other_doc_count = 0;
    let mut all: Vec<TermBucket> = Vec::new();
    for shard in shards {
        let error = shard_error(request, &shard);
        total_error = if total_error == -1 || error == -1 { -1 } else { total_error + error };
        other_doc_count += shard.other_doc_count;
        all.extend(shard.buckets.into_iter().map(|bucket| TermBucket { error: -error, ..bucket }));
    }
    check_one_type(aggregation, all.iter().map(|bucket| matches!(bucket.key, TermKey::Term(_))))?;
    promote(&mut all);
    // The sort is stable: sub-aggregations of equal keys stay in the order of the shards.
    all.sort_by(|left, right| left.key.compare(&right.key));
    let mut merged: Vec<TermBucket> = Vec::new();
    let mut from = all.into_iter().peekable();
    while let Some(first) = from.next() {
        let (key, mut doc_count, mut error) = (first.key, first.doc_count, first.error);
        let mut subs = vec![first.subs];
        while let Some(next) = from.next_if(|next| next.key.compare(&key) == Ordering::Equal) {
            doc_count += next.doc_count;
            error += next.error;
            subs.push(next.subs);
        }
        let error = if total_error == -1 { -1 } else { error + total_error };
        if doc_count >= request.min_doc_count {
            merged.push(TermBucket { key, doc_count, error, subs: reducer.subs(&aggregation.subs, subs)? });
        }
    }
    merged.sort_by(|left, right| compare(&request.order, aggregation, left, right));
    if merged.len() > request.size {
        other_doc_count += merged[request.size..].iter().map(|bucket| bucket.doc_count).sum::<u64>();
        merged.truncate(request.size);
    }
    reducer.count_buckets(merged.len())?;
    let error = if total_error != -1 && shard_count == 1 { 0 } else { total_error };
    Ok(TermsPartial { buckets: merged, other_doc_count, error })
}

/// Returns the largest document count on a shard of a term that the shard did not report.
fn shard_error(request: &Terms, shard: &TermsPartial) -> i64 {
    if shard.buckets.len() < request.shard_size || request.order.is_key() {
        return 0;
    }
    match shard.buckets.last() {
        None => 0,
        Some(last) if request.order.is_count_descending() => last.doc_count as i64,
        Some(_) => -1,
    }
}

/// Converts longs to doubles where one index has longs and another one doubles.
fn promote(buckets: &mut [TermBucket]) {
    if !buckets.iter().any(|bucket| matches!(bucket.key, TermKey::Double(_))) {
        return;
    }
    for bucket in buckets {
        if let TermKey::Long(value) = bucket.key {
            bucket.key = TermKey::Double(value as f64);
        }
    }
}

fn compare(
    order: &BucketOrder,
    aggregation: &Aggregation,
    left: &TermBucket,
    right: &TermBucket,
) -> Ordering {
    let buckets = ((left.doc_count, &left.subs), (right.doc_count, &right.subs));
    compare_by(order, aggregation, buckets, || left.key.compare(&right.key))
}

/// A bucket's document count and its sub-aggregations' results.
pub type Compared<'b> = (u64, &'b Vec<Partial>);

/// Compares two buckets in the requested order; ties are broken by ascending key.
pub fn compare_by(
    order: &BucketOrder,
    aggregation: &Aggregation,
    (left, right): (Compared<'_>, Compared<'_>),
    compare_keys: impl Fn() -> Ordering,
) -> Ordering {
    for key in &order.keys {
        let ascending = match &key.by {
            OrderBy::Count => left.0.cmp(&right.0),
            OrderBy::Key => compare_keys(),
            OrderBy::Path(path) => {
                let (left, right) =
                    (value_at(path, aggregation, left.1), value_at(path, aggregation, right.1));
                match compare_values(left, right, key.ascending) {
                    Ordering::Equal => continue,
                    ordering => return ordering,
                }
            }
        };
        let ordering = if key.ascending { ascending } else { ascending.reverse() };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    compare_keys()
}

fn value_at(path: &OrderPath, aggregation: &Aggregation, subs: &[Partial]) -> f64 {
    let (mut level, mut results) = (&aggregation.subs, subs);
    for (position, name) in path.names.iter().enumerate() {
        let Some(place) = level.iter().position(|sub| sub.name == *name) else { return f64::NAN };
        let is_last = position + 1 == path.names.len();
        match (level[place].definition(), results.get(place)) {
            (_, Some(Partial::Single(bucket))) if is_last => return bucket.doc_count as f64,
            (_, Some(Partial::Single(bucket))) => (level, results) = (&level[place].subs, &bucket.subs),
            (Some(definition), Some(partial)) => {
                return definition.number(partial, path.value.as_deref()).unwrap_or(f64::NAN);
            }
            _ => return f64::NAN,
        }
    }
    f64::NAN
}
