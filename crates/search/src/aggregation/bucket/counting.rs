//! Buckets of a number counted from the index of its values: "is that faster than looking at the documents,
//! and can all be counted so?"

use limber_segment::Segment;

use super::super::collector::Collector;
use crate::error::Result;

/// Documents that are looked at in the time that it takes to count one bucket: the values of a leaf of points
/// are decoded.
const DOCS_PER_COUNT: u64 = 128;

/// Whether documents are counted from postings rather than collected: whether there are many for each bucket.
pub fn is_worth_counting(doc_count: u64, bucket_count: u64) -> bool {
    bucket_count.saturating_mul(DOCS_PER_COUNT) <= doc_count
}

/// [`Collector::collect_whole_segment`] by [`Collector::count_numbers`].
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
