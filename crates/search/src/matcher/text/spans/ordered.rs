//! Spans of several parts, each of which begins after the preceding one.

use limber_segment::DocId;

use super::iterator::{BoxedSpans, Spans, reset_all};
use crate::error::Result;
use crate::matcher::text::positions::NO_MORE;

/// Source: Lucene's `NearSpansOrdered`. At least one part is not a gap, so that the iteration ends with the
/// spans of that part.
pub(super) struct Ordered<'a> {
    parts: Vec<BoxedSpans<'a>>,
    slop: i64,
    start: i64,
    end: i64,
    width: i64,
}

impl<'a> Ordered<'a> {
    pub(crate) fn new(parts: Vec<BoxedSpans<'a>>, slop: i64) -> Ordered<'a> {
        Ordered { parts, slop, start: -1, end: -1, width: 0 }
    }

    /// Moves every part after the preceding one. Returns false if one of them has no further span.
    fn line_up(&mut self) -> bool {
        self.start = self.parts[0].start();
        self.width = 0;
        let mut previous_end = self.parts[0].end();
        for part in &mut self.parts[1..] {
            if part.advance_to(previous_end) == NO_MORE {
                return false;
            }
            self.width += part.start() - previous_end;
            previous_end = part.end();
        }
        self.end = previous_end;
        true
    }
}

impl Spans for Ordered<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        (self.start, self.end) = (-1, -1);
        reset_all(&mut self.parts, doc)
    }

    fn next(&mut self) -> i64 {
        while self.parts[0].next() != NO_MORE && self.line_up() {
            if self.width <= self.slop {
                return self.start;
            }
        }
        (self.start, self.end) = (NO_MORE, NO_MORE);
        NO_MORE
    }

    fn start(&self) -> i64 {
        self.start
    }

    fn end(&self) -> i64 {
        self.end
    }

    fn width(&self) -> i64 {
        self.width
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        self.parts.iter().for_each(|part| part.tokens(out));
    }
}
