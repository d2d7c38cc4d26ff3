//! The interface to aggregations, which receive the matching documents.

use std::ops::RangeInclusive;

use limber_segment::DocId;

use crate::error::Result;
use crate::geo::Shape;

/// Receives every matching document of a shard, regardless of the post filter. Aggregations implement it.
pub(crate) trait Sink {
    /// Begins a segment, given its index in the snapshot. Its documents follow.
    fn begin_segment(&mut self, number: usize) -> Result<()>;
    /// Collects all documents of the current segment at once, as far as possible; none of them is deleted.
    /// Returns the aggregations that still need the documents, or `None` if nothing could be done.
    fn collect_whole_segment(&mut self) -> Result<Option<Vec<usize>>> {
        Ok(None)
    }
    /// Restricts the aggregations that the current segment's documents are fed to.
    fn feed_only(&mut self, _rest: &[usize]) {}
    /// Collects all documents of the current segment whose single value of `path` is in the range; no
    /// document is deleted. Returns `false` if that is not possible; then nothing was done.
    fn count_numbers(&mut self, _path: &str, _range: RangeInclusive<i64>) -> Result<bool> {
        Ok(false)
    }
    /// Collects all documents of the current segment whose single point of `path` is in the shape; no
    /// document is deleted. Returns their number, or `None` if that is not possible; then nothing was done.
    fn count_points(&mut self, _path: &str, _shape: &Shape) -> Result<Option<u64>> {
        Ok(None)
    }
    /// Collects ascending documents of one window.
    fn collect(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()>;
    /// Whether scores are needed.
    fn needs_scores(&self) -> bool;
}
