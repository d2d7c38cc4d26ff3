//! Intervals that follow one another without a gap.

use limber_segment::DocId;

use super::iterator::{BoxedIntervals, Intervals, is_end, reset_all};
use crate::error::Result;
use crate::matcher::text::positions::NO_MORE;

/// Source: Lucene's `BlockIntervalsSource`.
pub(super) struct Block<'a> {
    parts: Vec<BoxedIntervals<'a>>,
    start: i64,
    end: i64,
}

impl<'a> Block<'a> {
    /// `parts` must have at least two items.
    pub fn new(parts: Vec<BoxedIntervals<'a>>) -> Block<'a> {
        Block { parts, start: -1, end: -1 }
    }

    fn finish(&mut self) -> i64 {
        (self.start, self.end) = (NO_MORE, NO_MORE);
        NO_MORE
    }
}

impl Intervals for Block<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        (self.start, self.end) = (-1, -1);
        reset_all(&mut self.parts, doc)
    }

    fn next(&mut self) -> Result<i64> {
        if is_end(self.start) || is_end(self.parts[0].next()?) {
            return Ok(self.finish());
        }
        let mut at = 1;
        while at < self.parts.len() {
            let previous_end = self.parts[at - 1].end();
            while self.parts[at].start() <= previous_end {
                if is_end(self.parts[at].next()?) {
                    return Ok(self.finish());
                }
            }
            if self.parts[at].start() == previous_end + 1 {
                at += 1;
            } else if is_end(self.parts[0].next()?) {
                return Ok(self.finish());
            } else {
                at = 1;
            }
        }
        self.start = self.parts[0].start();
        self.end = self.parts[self.parts.len() - 1].end();
        Ok(self.start)
    }

    fn start(&self) -> i64 {
        self.start
    }

    fn end(&self) -> i64 {
        self.end
    }

    fn gaps(&self) -> i64 {
        0
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        self.parts.iter().for_each(|part| part.tokens(out));
    }
}
