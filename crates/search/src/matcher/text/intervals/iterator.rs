//! What is asked of intervals, and the simplest of them.

use limber_segment::DocId;

use crate::error::Result;
use crate::matcher::text::positions::{Leaf, NO_MORE};

/// The intervals of one document, by their starts. Positions are included at both ends.
pub(crate) trait Intervals {
    /// Goes to a document, before its first interval; false: there is surely none in it. Documents ascend,
    /// and one may be asked for again.
    fn reset(&mut self, doc: DocId) -> Result<bool>;

    /// The start of the next interval; [`NO_MORE`] when there is none.
    fn next(&mut self) -> Result<i64>;

    /// -1 before the first interval, [`NO_MORE`] behind the last.
    fn start(&self) -> i64;

    fn end(&self) -> i64;

    /// Positions inside that belong to none of the parts.
    fn gaps(&self) -> i64;

    fn width(&self) -> i64 {
        self.end() - self.start() + 1
    }

    /// Adds the tokens of the current interval, where the leaves are those of a text.
    fn tokens(&self, out: &mut Vec<u32>);
}

pub(crate) type BoxedIntervals<'a> = Box<dyn Intervals + 'a>;

impl Intervals for Leaf {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        Leaf::reset(self, doc)
    }

    fn next(&mut self) -> Result<i64> {
        Ok(Leaf::next(self))
    }

    fn start(&self) -> i64 {
        self.position()
    }

    fn end(&self) -> i64 {
        self.position()
    }

    fn gaps(&self) -> i64 {
        0
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        out.extend(self.token());
    }
}

/// Goes to a document with all of several; false: one of them has no interval there.
pub(super) fn reset_all(parts: &mut [BoxedIntervals<'_>], doc: DocId) -> Result<bool> {
    for part in parts {
        if !part.reset(doc)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The width of an interval that its parts do not fill.
pub(super) fn gaps_between(start: i64, end: i64, parts: &[BoxedIntervals<'_>]) -> i64 {
    end - start + 1 - parts.iter().map(|part| part.width()).sum::<i64>()
}

/// The tokens of the parts of an interval, taken while the parts stand on it: they move on while it is made
/// smaller.
#[derive(Default)]
pub(super) struct Noted(Vec<u32>);

impl Noted {
    /// Keeps where `parts` stand, as the positions of the match.
    pub fn note(&mut self, parts: &[BoxedIntervals<'_>]) {
        self.0.clear();
        parts.iter().for_each(|part| part.tokens(&mut self.0));
    }

    /// Appends the positions of the match that was noted last.
    pub fn add_to(&self, out: &mut Vec<u32>) {
        out.extend_from_slice(&self.0);
    }
}

/// Whether an interval was reached that is none.
pub(super) fn is_end(start: i64) -> bool {
    start == NO_MORE
}
