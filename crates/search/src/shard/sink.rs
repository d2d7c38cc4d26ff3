//! The seam to aggregations: who is fed the documents that match.

use std::ops::RangeInclusive;

use limber_segment::DocId;

use crate::error::Result;
use crate::geo::Shape;

/// Receives every matching document of a shard, post filter aside: the seam to aggregations.
pub(crate) trait Sink {
    /// Documents of the segment at this place of the snapshot follow.
    fn begin_segment(&mut self, number: usize) -> Result<()>;
    /// Takes all documents of the begun segment at once, none of which is deleted, as far as that is
    /// possible: answers the aggregations that are still to be fed. `None`: not possible, nothing was done.
    fn collect_whole_segment(&mut self) -> Result<Option<Vec<usize>>> {
        Ok(None)
    }
    /// Of the begun segment, only these aggregations are to be fed.
    fn feed_only(&mut self, _rest: &[usize]) {}
    /// Takes all documents of the begun segment, none of which is deleted, whose one value of `path` lies in
    /// the range. `false`: not possible, nothing was done.
    fn count_numbers(&mut self, _path: &str, _range: RangeInclusive<i64>) -> Result<bool> {
        Ok(false)
    }
    /// Takes all documents of the begun segment, none of which is deleted, whose one place of `path` lies in
    /// the shape; how many they are. `None`: not possible, nothing was done.
    fn count_places(&mut self, _path: &str, _shape: &Shape) -> Result<Option<u64>> {
        Ok(None)
    }
    /// Ascending documents of one window.
    fn collect(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()>;
    /// Whether scores are needed.
    fn needs_scores(&self) -> bool;
}
