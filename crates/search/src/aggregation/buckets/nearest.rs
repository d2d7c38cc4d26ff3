//! Buckets that are ranges around a centre, and the merge of those that are nearest to each other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use limber_work as work;

use super::super::answer::partial::{Key, ListBucket};
use super::list::Group;
use crate::error::{Result, check_request};

/// Memory of a bucket while the nearest ones are merged: itself, its neighbours, and two distances.
const MERGED_BYTES: usize =
    size_of::<Option<Group>>() + 2 * size_of::<usize>() + 2 * size_of::<(u64, usize)>();

/// Returns the centre, the minimum and the maximum of a bucket.
pub fn span(bucket: &ListBucket) -> [f64; 3] {
    [0, 1, 2].map(|place| bucket.keys.get(place).map_or(0.0, Key::as_double))
}

/// Sets the centre, the minimum and the maximum of a bucket.
pub fn set_span(bucket: &mut ListBucket, span: [f64; 3]) {
    bucket.keys = span.map(Key::Double).into();
}

/// Merges a bucket into the preceding one. The centre is the mean of both, weighted by document counts.
pub fn merge(into: &mut Group, group: Group) {
    let ([left, min, max], [right, other_min, other_max]) = (span(&into.bucket), span(&group.bucket));
    let (count, other) = (into.bucket.doc_count as f64, group.bucket.doc_count as f64);
    let centre = if count + other > 0.0 { (left * count + right * other) / (count + other) } else { left };
    set_span(&mut into.bucket, [centre, min.min(other_min), max.max(other_max)]);
    into.bucket.doc_count += group.bucket.doc_count;
    into.parts.extend(group.parts);
}

/// Merges the two nearest of the buckets, which ascend by their centres, until `count_max` are left. If
/// several pairs are equally near, the first pair is merged. There are thousands of buckets for each shard,
/// so a heap keeps the distances.
///
/// # Errors
/// There is no memory for the distances, or the client has disconnected.
pub fn merge_nearest(all: Vec<Group>, count_max: usize) -> Result<Vec<Group>> {
    let count = all.len();
    if count <= count_max {
        return Ok(all);
    }
    work::claim((count * MERGED_BYTES) as u64)?;
    let mut all: Vec<Option<Group>> = all.into_iter().map(Some).collect();
    // The neighbours of each bucket; `count` stands for none.
    let mut before: Vec<usize> = (0..count).map(|at| at.checked_sub(1).unwrap_or(count)).collect();
    let mut after: Vec<usize> = (1..=count).collect();
    let mut nearest: BinaryHeap<Reverse<(u64, usize)>> =
        (0..count - 1).filter_map(|at| Some(Reverse((distance(&all, at, at + 1)?, at)))).collect();
    let mut left = count;
    while left > count_max.max(1)
        && let Some(Reverse((found, at))) = nearest.pop()
    {
        let next = after[at];
        // Either a bucket is gone, or its distance has changed.
        if distance(&all, at, next) != Some(found) {
            continue;
        }
        if let (Some(second), Some(first)) = (all[next].take(), &mut all[at]) {
            merge(first, second);
        }
        left -= 1;
        if left.is_multiple_of(1024) {
            check_request()?;
        }
        after[at] = after[next];
        if after[at] < count {
            before[after[at]] = at;
        }
        for (first, second) in [(before[at], at), (at, after[at])] {
            nearest.extend(distance(&all, first, second).map(|found| Reverse((found, first))));
        }
    }
    Ok(all.into_iter().flatten().collect())
}

/// Returns the distance between the centres of two buckets as bits, which have the order of the distances;
/// `None` if one of them is gone.
fn distance(all: &[Option<Group>], first: usize, second: usize) -> Option<u64> {
    let centre = |at: usize| Some(span(&all.get(at)?.as_ref()?.bucket)[0]);
    let distance = centre(second)? - centre(first)?;
    let known = if distance.is_nan() { f64::INFINITY } else { distance.max(0.0) };
    Some(known.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(centre: f64) -> Group {
        let keys = [centre; 3].map(Key::Double);
        Group { bucket: ListBucket::new(keys.into(), 1, Vec::new()), parts: Vec::new() }
    }

    fn centres(given: &[f64], count_max: usize) -> Vec<f64> {
        let all = given.iter().map(|centre| group(*centre)).collect();
        let merged = merge_nearest(all, count_max).expect("there is no request to cancel");
        merged.iter().map(|group| span(&group.bucket)[0]).collect()
    }

    #[test]
    fn nearest_buckets_are_merged_until_few_are_left() {
        let given = [0.0, 1.0, 2.5, 10.0, 10.25, 30.0];
        assert_eq!(centres(&given, 6), given);
        assert_eq!(centres(&given, 5), [0.0, 1.0, 2.5, 10.125, 30.0]);
        assert_eq!(centres(&given, 4), [0.5, 2.5, 10.125, 30.0]);
        let two = centres(&given, 2);
        assert!(two.len() == 2 && (two[0] - 4.75).abs() < 1e-9 && two[1] == 30.0, "{two:?}");
        // If several pairs are equally near, the first pair is merged.
        assert_eq!(centres(&[1.0, 2.0, 3.0, 4.0], 3), [1.5, 3.0, 4.0]);
        assert_eq!(centres(&[f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY], 1).len(), 1);
    }

    /// With a search of all pairs for each merge, this took minutes.
    #[test]
    fn many_buckets_are_merged() {
        let many: Vec<f64> = (0..200_000).map(f64::from).collect();
        assert_eq!(centres(&many, 10).len(), 10);
    }
}
