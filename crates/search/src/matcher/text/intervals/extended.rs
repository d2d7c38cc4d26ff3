//! Intervals that are longer than those of their source, or next to them.

use limber_segment::DocId;

use super::iterator::{BoxedIntervals, Intervals};
use crate::error::Result;
use crate::matcher::text::positions::NO_MORE;
use crate::primitives::Side;

/// Extends intervals by a number of positions at both ends. Source: Lucene's `ExtendedIntervalsSource`.
pub(super) struct Extended<'a> {
    pub part: BoxedIntervals<'a>,
    pub before: u32,
    pub after: u32,
    pub is_placed: bool,
}

impl Intervals for Extended<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        self.is_placed = false;
        self.part.reset(doc)
    }

    fn next(&mut self) -> Result<i64> {
        self.is_placed = true;
        self.part.next()?;
        Ok(self.start())
    }

    fn start(&self) -> i64 {
        match self.part.start() {
            _ if !self.is_placed => -1,
            NO_MORE => NO_MORE,
            start => (start - i64::from(self.before)).max(0),
        }
    }

    fn end(&self) -> i64 {
        match self.part.end() {
            _ if !self.is_placed => -1,
            NO_MORE => NO_MORE,
            end => end + i64::from(self.after),
        }
    }

    fn gaps(&self) -> i64 {
        self.part.gaps()
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        self.part.tokens(out);
    }
}

/// The single position before or after an interval. Source: Lucene's `OffsetIntervalsSource`.
pub(super) struct Beside<'a> {
    pub part: BoxedIntervals<'a>,
    pub side: Side,
}

impl Intervals for Beside<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        self.part.reset(doc)
    }

    fn next(&mut self) -> Result<i64> {
        self.part.next()?;
        Ok(self.start())
    }

    fn start(&self) -> i64 {
        match (self.part.start(), self.side) {
            (-1, _) => -1,
            (NO_MORE, _) => NO_MORE,
            (start, Side::Before) => (start - 1).max(0),
            (_, Side::After) => self.part.end() + 1,
        }
    }

    fn end(&self) -> i64 {
        self.start()
    }

    fn gaps(&self) -> i64 {
        0
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        self.part.tokens(out);
    }
}
