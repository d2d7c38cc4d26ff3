//! Documents whose query matches documents of the request, and their scores.

use limber_segment::{DocId, Segment};

use super::confirmed::Confirm;
use super::scorer::Scorer;
use crate::error::Result;
use crate::percolator::StoredQueries;
use crate::query::PercolateNode;

/// A candidate matches when its query does.
pub(crate) struct Percolated<'a>(StoredQueries<'a>);

impl<'a> Percolated<'a> {
    pub fn open(node: &'a PercolateNode, segment: &'a Segment) -> Result<Percolated<'a>> {
        Ok(Percolated(StoredQueries::open(node, segment)?))
    }
}

impl Confirm for Percolated<'_> {
    /// A query to read, to bind and to run for each.
    const DEARNESS: u64 = 256;

    fn holds(&mut self, doc: DocId) -> Result<bool> {
        self.0.matches(doc)
    }
}

impl Scorer for Percolated<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        for (doc, sum) in docs.iter().zip(sums) {
            *sum += f64::from(self.0.score(*doc)?);
        }
        Ok(())
    }

    fn max_score(&mut self, _: DocId, _: DocId) -> Result<f32> {
        Ok(f32::INFINITY)
    }
}
