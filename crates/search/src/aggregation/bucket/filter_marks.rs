//! Marks the documents of a batch that match filters.

use std::fmt;

use limber_segment::{DocId, SegmentView};

use super::super::buckets::marked::window_bits;
use crate::error::Result;
use crate::matcher::Bits;
use crate::query::{BoundQuery, MatchingDocs};

/// Matching documents, in a type that implements `Debug`.
pub struct Docs<'s>(pub Option<MatchingDocs<'s>>);

impl fmt::Debug for Docs<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("MatchingDocs")
    }
}

/// Marks each of `docs` that is in `matching`; both are ascending.
pub fn mark(docs: &[DocId], matching: &[DocId], marks: &mut Vec<bool>) {
    marks.clear();
    let mut next = 0;
    for doc in docs {
        let is_match = matching.get(next) == Some(doc);
        next += usize::from(is_match);
        marks.push(is_match);
    }
}

/// Which filters each document of a batch matches.
#[derive(Debug)]
pub struct FilterMarks<'s> {
    queries: &'s [BoundQuery],
    docs: Vec<Docs<'s>>,
    /// First document of the current window.
    start: DocId,
    /// The matching documents of the batch, by filter.
    bits: Vec<Bits>,
}

impl<'s> FilterMarks<'s> {
    pub(crate) fn new(queries: &'s [BoundQuery]) -> FilterMarks<'s> {
        FilterMarks { queries, docs: Vec::new(), start: 0, bits: vec![Bits::default(); queries.len()] }
    }

    /// Returns the number of filters.
    pub fn filter_count(&self) -> usize {
        self.queries.len()
    }

    /// Opens the filters on a segment, whose documents come next.
    pub fn open(&mut self, view: &'s SegmentView) -> Result<()> {
        self.docs.clear();
        for query in self.queries {
            self.docs.push(Docs(Some(MatchingDocs::open(query, &view.segment)?)));
        }
        Ok(())
    }

    /// Evaluates the filters on a batch, which [`FilterMarks::of`] then refers to.
    pub fn mark(&mut self, batch: &[DocId]) -> Result<()> {
        let Some((start, all)) = window_bits(batch) else { return Ok(()) };
        self.start = start;
        for (docs, bits) in self.docs.iter_mut().zip(&mut self.bits) {
            bits.clone_from(&all);
            if let Docs(Some(docs)) = docs {
                docs.restrict(start, bits)?;
            }
        }
        Ok(())
    }

    /// Returns the filters that a document of the batch matches, in ascending order.
    pub fn of(&self, doc: DocId) -> impl Iterator<Item = usize> + '_ {
        let index = doc - self.start;
        (0..self.bits.len()).filter(move |&filter| self.bits[filter].contains(index))
    }

    /// Returns the first document of the current window, and the documents of the batch that match a filter.
    pub fn of_filter(&self, filter: usize) -> (DocId, &Bits) {
        (self.start, &self.bits[filter])
    }
}
