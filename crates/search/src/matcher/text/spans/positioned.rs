//! Spans near the beginning of the text.

use limber_segment::DocId;

use super::iterator::{BoxedSpans, Spans};
use crate::error::Result;
use crate::matcher::text::positions::NO_MORE;

/// Source: Lucene's `SpanFirstQuery`.
pub(super) struct First<'a> {
    pub part: BoxedSpans<'a>,
    /// The greatest allowed end of a span.
    pub end_max: i64,
    pub is_over: bool,
}

impl Spans for First<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        self.is_over = false;
        self.part.reset(doc)
    }

    fn next(&mut self) -> i64 {
        while !self.is_over {
            if self.part.next() >= self.end_max {
                self.is_over = true;
            } else if self.part.end() <= self.end_max {
                break;
            }
        }
        self.start()
    }

    fn start(&self) -> i64 {
        if self.is_over { NO_MORE } else { self.part.start() }
    }

    fn end(&self) -> i64 {
        if self.is_over { NO_MORE } else { self.part.end() }
    }

    fn width(&self) -> i64 {
        self.part.width()
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        self.part.tokens(out);
    }
}
