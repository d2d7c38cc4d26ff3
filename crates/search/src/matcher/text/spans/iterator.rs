//! The interface of span iterators, and the simplest ones.

use limber_segment::DocId;

use crate::error::Result;
use crate::matcher::text::positions::{Leaf, NO_MORE};

/// Iterates over the spans of one document, in the order of their starts. The end of a span is the position
/// after it.
pub(crate) trait Spans {
    /// Moves to a document, before its first span. Returns false if the document certainly has none.
    /// Documents must ascend; the same one may be requested again.
    fn reset(&mut self, doc: DocId) -> Result<bool>;

    /// Moves to the next span and returns its start, or [`NO_MORE`] if there is none.
    fn next(&mut self) -> i64;

    /// Returns the start of the current span; -1 before the first one, [`NO_MORE`] after the last one.
    fn start(&self) -> i64;

    fn end(&self) -> i64;

    /// Returns the width, which lowers the weight of a span: the positions between its parts, or the
    /// positions that it covers.
    fn width(&self) -> i64;

    /// Moves to the first span that does not start before `position`. A gap moves to `position` itself.
    fn advance_to(&mut self, position: i64) -> i64 {
        while self.start() < position {
            self.next();
        }
        self.start()
    }

    /// Appends the tokens of the current span, if the leaves are those of a text.
    fn tokens(&self, out: &mut Vec<u32>);
}

pub(crate) type BoxedSpans<'a> = Box<dyn Spans + 'a>;

impl Spans for Leaf {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        Leaf::reset(self, doc)
    }

    fn next(&mut self) -> i64 {
        Leaf::next(self)
    }

    fn start(&self) -> i64 {
        self.position()
    }

    fn end(&self) -> i64 {
        match self.position() {
            outside @ (-1 | NO_MORE) => outside,
            position => position + 1,
        }
    }

    fn width(&self) -> i64 {
        0
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        out.extend(self.token());
    }
}

/// A span of a fixed number of positions at any requested position (`span_gap`).
pub(super) struct Gap {
    pub at: i64,
    pub width: i64,
}

impl Spans for Gap {
    fn reset(&mut self, _: DocId) -> Result<bool> {
        self.at = -1;
        Ok(true)
    }

    fn next(&mut self) -> i64 {
        self.at += 1;
        self.at
    }

    fn start(&self) -> i64 {
        self.at
    }

    fn end(&self) -> i64 {
        self.at + self.width
    }

    fn width(&self) -> i64 {
        self.width
    }

    fn advance_to(&mut self, position: i64) -> i64 {
        self.at = position;
        position
    }

    fn tokens(&self, _: &mut Vec<u32>) {}
}

pub(super) fn reset_all(parts: &mut [BoxedSpans<'_>], doc: DocId) -> Result<bool> {
    for part in parts {
        if !part.reset(doc)? {
            return Ok(false);
        }
    }
    Ok(true)
}
