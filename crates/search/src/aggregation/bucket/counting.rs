//! Counts the documents of numeric buckets from the field's points (BKD tree) where that is faster than
//! reading the documents, and where every bucket can be counted that way.

use limber_segment::Segment;

use super::super::collector::Collector;
use crate::error::Result;

/// Reading this many documents takes as long as counting one bucket, for which the values of a leaf of points
/// are decoded.
const DOCS_PER_COUNT: u64 = 128;

/// Whether counting from points is faster than collecting: whether buckets have many documents on average.
pub fn is_worth_counting(doc_count: u64, bucket_count: u64) -> bool {
    bucket_count.saturating_mul(DOCS_PER_COUNT) <= doc_count
}

/// Implements [`Collector::collect_whole_segment`] with [`Collector::count_numbers`].
pub fn count_all_numbers<'s>(
    collector: &mut impl Collector<'s>,
    path: &str,
    segment: Option<&'s Segment>,
) -> Result<bool> {
    let points = match segment {
        Some(segment) => segment.points(path)?,
        None => None,
    };
    let all = i64::MIN..=i64::MAX;
    match points.filter(|points| points.is_single_valued()) {
        Some(points) if collector.counts_numbers(path, &points, &all)? => {
            collector.count_numbers(&points, all)?;
            Ok(true)
        }
        _ => Ok(false),
    }
}
