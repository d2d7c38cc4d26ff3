//! Spans that contain others, or are contained in others.

use limber_segment::DocId;

use super::iterator::{BoxedSpans, Spans};
use crate::error::Result;
use crate::matcher::text::positions::NO_MORE;

/// Source: Lucene's `SpanContainingQuery` and `SpanWithinQuery`.
pub(super) struct Contained<'a> {
    pub big: BoxedSpans<'a>,
    pub little: BoxedSpans<'a>,
    /// Whether the containing spans are returned, rather than the contained ones.
    pub gives_big: bool,
    pub is_over: bool,
}

impl<'a> Contained<'a> {
    fn given(&self) -> &BoxedSpans<'a> {
        if self.gives_big { &self.big } else { &self.little }
    }

    /// Moves to the next big span that contains a little one.
    fn next_big(&mut self) -> bool {
        while self.big.next() != NO_MORE {
            while self.little.start() < self.big.start() {
                if self.little.next() == NO_MORE {
                    return false;
                }
            }
            if self.big.end() >= self.little.end() {
                return true;
            }
        }
        false
    }

    /// Moves to the next little span that is contained in a big one.
    fn next_little(&mut self) -> bool {
        while self.little.next() != NO_MORE {
            while self.big.end() < self.little.end() {
                if self.big.next() == NO_MORE {
                    return false;
                }
            }
            if self.big.start() <= self.little.start() {
                return true;
            }
        }
        false
    }
}

impl Spans for Contained<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        self.is_over = false;
        Ok(self.big.reset(doc)? && self.little.reset(doc)?)
    }

    fn next(&mut self) -> i64 {
        if !self.is_over {
            let is_found = if self.gives_big { self.next_big() } else { self.next_little() };
            self.is_over = !is_found;
        }
        self.start()
    }

    fn start(&self) -> i64 {
        if self.is_over { NO_MORE } else { self.given().start() }
    }

    fn end(&self) -> i64 {
        if self.is_over { NO_MORE } else { self.given().end() }
    }

    fn width(&self) -> i64 {
        self.given().width()
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        self.big.tokens(out);
        self.little.tokens(out);
    }
}
