//! Spans that have no excluded spans near them.

use limber_segment::DocId;

use super::iterator::{BoxedSpans, Spans};
use crate::error::Result;
use crate::matcher::text::positions::NO_MORE;

/// Source: Lucene's `SpanNotQuery`.
pub(super) struct Without<'a> {
    pub include: BoxedSpans<'a>,
    pub exclude: BoxedSpans<'a>,
    /// How many positions before and after a span must be free of excluded spans.
    pub before: i64,
    pub after: i64,
    /// Whether the document may have excluded spans.
    pub excludes: bool,
}

impl Without<'_> {
    fn is_free(&mut self) -> bool {
        if !self.excludes {
            return true;
        }
        if self.exclude.start() == -1 {
            self.exclude.next();
        }
        while self.exclude.end() <= self.include.start() - self.before {
            if self.exclude.next() == NO_MORE {
                return true;
            }
        }
        self.exclude.start() == NO_MORE || self.exclude.start() - self.after >= self.include.end()
    }
}

impl Spans for Without<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        if !self.include.reset(doc)? {
            return Ok(false);
        }
        self.excludes = self.exclude.reset(doc)?;
        Ok(true)
    }

    fn next(&mut self) -> i64 {
        while self.include.next() != NO_MORE {
            if self.is_free() {
                break;
            }
        }
        self.include.start()
    }

    fn start(&self) -> i64 {
        self.include.start()
    }

    fn end(&self) -> i64 {
        self.include.end()
    }

    fn width(&self) -> i64 {
        self.include.width()
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        self.include.tokens(out);
    }
}
