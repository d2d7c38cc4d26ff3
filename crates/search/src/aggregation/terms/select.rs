//! Selects the buckets that a shard reports: the first `shard_size` in the requested order.

use std::cmp::Ordering;

use limber_work as work;

use super::super::answer::order::{BucketOrder, OrderBy};
use super::super::answer::partial::{Partial, TermBucket, TermKey, TermsPartial};
use super::super::buckets::bucket_table::BucketTable;
use super::super::collector::Subs;
use super::request::Terms;
use crate::error::{Result, check_request};

/// A bucket that may be selected.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    pub bucket: u32,
    pub doc_count: u64,
}

/// The selected buckets in order, and counts of the others.
#[derive(Debug, Default)]
pub struct Selected {
    pub kept: Vec<Candidate>,
    pub other_doc_count: u64,
    /// Upper bound of the document count of a term that was not selected; -1 if it is unbounded.
    pub error: i64,
}

/// Selects buckets of one parent. `compare_keys` compares buckets by ascending key.
pub fn select(
    mut candidates: Vec<Candidate>,
    request: &Terms,
    subs: &Subs<'_>,
    compare_keys: impl Fn(u32, u32) -> Ordering,
) -> Selected {
    let mut selected = Selected::default();
    candidates.retain(|candidate| {
        let is_enough = candidate.doc_count >= request.shard_min_doc_count;
        selected.other_doc_count += if is_enough { 0 } else { candidate.doc_count };
        is_enough
    });
    let compare = |left: &Candidate, right: &Candidate| {
        compare(&request.order, subs, left, right).then_with(|| compare_keys(left.bucket, right.bucket))
    };
    let compare_with_key = |left: &Candidate, right: &Candidate| {
        for key in &request.order.keys {
            let by_key = key.by == OrderBy::Key;
            let ordering = if by_key {
                let ascending = compare_keys(left.bucket, right.bucket);
                if key.ascending { ascending } else { ascending.reverse() }
            } else {
                compare_one(key, subs, left, right)
            };
            if ordering != Ordering::Equal {
                return ordering;
            }
        }
        compare_keys(left.bucket, right.bucket)
    };
    let has_key = request.order.keys.iter().any(|key| key.by == OrderBy::Key);
    if candidates.len() > request.shard_size {
        if has_key {
            candidates.select_nth_unstable_by(request.shard_size, compare_with_key);
        } else {
            candidates.select_nth_unstable_by(request.shard_size, compare);
        }
        selected.other_doc_count +=
            candidates[request.shard_size..].iter().map(|candidate| candidate.doc_count).sum::<u64>();
        candidates.truncate(request.shard_size);
    }
    if has_key {
        candidates.sort_unstable_by(compare_with_key);
    } else {
        candidates.sort_unstable_by(compare);
    }
    selected.kept = candidates;
    selected
}

/// Does the same as [`select`] for each of `parents`.
pub fn select_all(
    table: &BucketTable,
    parents: &[u32],
    request: &Terms,
    subs: &Subs<'_>,
    compare_keys: impl Fn(u32, u32) -> Ordering,
) -> Vec<Selected> {
    let candidate = |bucket: u32| Candidate { bucket, doc_count: table.counts[bucket as usize] };
    let of_parent = |buckets: Vec<u32>| {
        select(buckets.into_iter().map(candidate).collect(), request, subs, &compare_keys)
    };
    table.by_parent(parents).into_iter().map(of_parent).collect()
}

/// Returns the sub-aggregations' results of the selected buckets, in their order.
pub fn finish_kept(subs: &mut Subs<'_>, selected: &[Selected]) -> Result<Vec<Vec<Partial>>> {
    let kept: Vec<u32> =
        selected.iter().flat_map(|selected| selected.kept.iter().map(|kept| kept.bucket)).collect();
    subs.finish(&kept)
}

/// Makes the key of one bucket. Its memory is claimed, since the value for `missing` can be as long as a
/// request, and can be in each of many buckets.
pub fn term_key(term: &[u8]) -> Result<TermKey> {
    work::claim(term.len() as u64)?;
    Ok(TermKey::Term(term.into()))
}

/// Makes the results of all parents; `below` comes from [`finish_kept`].
pub fn terms_partials(
    selected: Vec<Selected>,
    mut key: impl FnMut(u32) -> TermKey,
    below: Vec<Vec<Partial>>,
) -> Result<Vec<Partial>> {
    let mut below = below.into_iter();
    selected.into_iter().map(|selected| terms_partial(selected, &mut key, &mut below)).collect()
}

/// Makes the result of one parent; `subs` yields the results of the selected buckets in order.
pub fn terms_partial(
    selected: Selected,
    mut key: impl FnMut(u32) -> TermKey,
    subs: &mut impl Iterator<Item = Vec<Partial>>,
) -> Result<Partial> {
    let bucket = |kept: Candidate| {
        // Keys can be long, since the value for `missing` is not limited.
        check_request()?;
        let (key, doc_count, subs) = (key(kept.bucket), kept.doc_count, subs.next().unwrap_or_default());
        Ok(TermBucket { key, doc_count, error: 0, subs })
    };
    let buckets = selected.kept.into_iter().map(bucket).collect::<Result<_>>()?;
    let Selected { other_doc_count, error, .. } = selected;
    Ok(Partial::Terms(TermsPartial { buckets, other_doc_count, error }))
}

fn compare(order: &BucketOrder, subs: &Subs<'_>, left: &Candidate, right: &Candidate) -> Ordering {
    order
        .keys
        .iter()
        .map(|key| compare_one(key, subs, left, right))
        .find(|ordering| *ordering != Ordering::Equal)
        .unwrap_or(Ordering::Equal)
}

fn compare_one(
    key: &super::super::answer::order::OrderKey,
    subs: &Subs<'_>,
    left: &Candidate,
    right: &Candidate,
) -> Ordering {
    match &key.by {
        OrderBy::Count if key.ascending => left.doc_count.cmp(&right.doc_count),
        OrderBy::Count => right.doc_count.cmp(&left.doc_count),
        OrderBy::Key => Ordering::Equal,
        OrderBy::Path(path) => compare_values(
            subs.order_value(path, left.bucket),
            subs.order_value(path, right.bucket),
            key.ascending,
        ),
    }
}

/// Compares values of a metric like `Double.compare`: NaN is the largest.
pub fn compare_values(left: f64, right: f64, ascending: bool) -> Ordering {
    let ordering = match (left.is_nan(), right.is_nan()) {
        (false, false) => left.total_cmp(&right),
        (left, right) => left.cmp(&right),
    };
    if ascending { ordering } else { ordering.reverse() }
}
