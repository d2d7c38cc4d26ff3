//! Matches documents with a number in a range, by points or by the column, whichever is cheaper at the time
//! of the request (the idea of Lucene's `IndexOrDocValuesQuery`).

use limber_segment::DocId;
use limber_segment::points::Points;

use super::column::ColumnDocs;
use crate::error::Result;
use crate::matcher::simple::DocBits;
use crate::matcher::{Bits, Matcher};

/// Points are used if fewer than one document in this many matches; otherwise scanning the column is cheaper.
const SELECTIVE: u64 = 4;

pub(in crate::matcher) struct NumberDocs<'a> {
    points: Points<'a>,
    range: std::ops::RangeInclusive<i64>,
    column: Option<ColumnDocs<'a, i64>>,
    cost: u64,
    doc_count: u32,
    /// The result of the points, once they were queried.
    bits: Option<DocBits>,
}

impl<'a> NumberDocs<'a> {
    pub(crate) fn new(
        points: Points<'a>,
        range: std::ops::RangeInclusive<i64>,
        column: Option<ColumnDocs<'a, i64>>,
        doc_count: u32,
    ) -> NumberDocs<'a> {
        let cost = points.count_at_most(range.clone()).min(u64::from(doc_count));
        NumberDocs { points, range, column, cost, doc_count, bits: None }
    }

    /// Returns the bit set, if it exists or is the cheaper way for a whole window.
    fn bits(&mut self) -> Result<Option<&mut DocBits>> {
        if self.bits.is_none() && (self.column.is_none() || self.cost * SELECTIVE < u64::from(self.doc_count))
        {
            let mut bits = DocBits::new(self.doc_count);
            self.points.fill_bits(self.range.clone(), &mut bits.words)?;
            self.bits = Some(bits.finish());
        }
        Ok(self.bits.as_mut())
    }
}

impl Matcher for NumberDocs<'_> {
    fn cost(&self) -> u64 {
        self.cost
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        match (&mut self.bits, &mut self.column) {
            (Some(bits), _) => bits.next(target),
            (None, Some(column)) => column.next(target),
            (None, None) => Ok(target),
        }
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        match self.bits()? {
            Some(found) => found.fill(start, bits),
            None => self.column.as_mut().expect("without a column the bits are built").fill(start, bits),
        }
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        match (&mut self.bits, &mut self.column) {
            (None, Some(column)) => column.restrict(start, bits),
            _ => {
                let mut matches = Bits::default();
                self.fill(start, &mut matches)?;
                bits.and(&matches);
                Ok(())
            }
        }
    }
}
