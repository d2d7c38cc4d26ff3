//! What is asked of spans, and the simplest of them.

use limber_segment::DocId;

use crate::error::Result;
use crate::matcher::text::positions::{Leaf, NO_MORE};

/// The spans of one document, by their starts. The end of a span is the position behind it.
pub(crate) trait Spans {
    /// Goes to a document, before its first span; false: there is surely none in it. Documents ascend, and
    /// one may be asked for again.
    fn reset(&mut self, doc: DocId) -> Result<bool>;

    /// The start of the next span; [`NO_MORE`] when there is none.
    fn next(&mut self) -> i64;

    /// -1 before the first span, [`NO_MORE`] behind the last.
    fn start(&self) -> i64;

    fn end(&self) -> i64;

    /// What makes a span count for less: positions between its parts, or those that it covers.
    fn width(&self) -> i64;

    /// Goes on to a span that does not start before `position`. A gap goes there itself.
    fn advance_to(&mut self, position: i64) -> i64 {
        while self.start() < position {
            self.next();
        }
        self.start()
    }

    /// Adds the tokens of the current span, where the leaves are those of a text.
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

/// So many positions, wherever they are wanted (`span_gap`).
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
