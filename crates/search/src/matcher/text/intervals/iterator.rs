//! The interface of interval iterators, and the simplest ones.

use limber_segment::DocId;

use crate::error::Result;
use crate::matcher::text::positions::{Leaf, NO_MORE};

/// Iterates over the intervals of one document, in the order of their starts. Both ends of an interval are
/// included.
pub(crate) trait Intervals {
    /// Moves to a document, before its first interval. Returns false if the document certainly has none.
    /// Documents must ascend; the same one may be requested again.
    fn reset(&mut self, doc: DocId) -> Result<bool>;

    /// Moves to the next interval and returns its start, or [`NO_MORE`] if there is none.
    fn next(&mut self) -> Result<i64>;

    /// Returns the start of the current interval; -1 before the first one, [`NO_MORE`] after the last one.
    fn start(&self) -> i64;

    fn end(&self) -> i64;

    /// Returns the number of positions inside the current interval that belong to none of its parts.
    fn gaps(&self) -> i64;

    fn width(&self) -> i64 {
        self.end() - self.start() + 1
    }

    /// Appends the tokens of the current interval, if the leaves are those of a text.
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

/// Moves all parts to a document. Returns false if one of them has no interval there.
pub(super) fn reset_all(parts: &mut [BoxedIntervals<'_>], doc: DocId) -> Result<bool> {
    for part in parts {
        if !part.reset(doc)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the number of positions of an interval that its parts do not cover.
pub(super) fn gaps_between(start: i64, end: i64, parts: &[BoxedIntervals<'_>]) -> i64 {
    end - start + 1 - parts.iter().map(|part| part.width()).sum::<i64>()
}

/// The tokens of an interval's parts. They are stored while the parts are at the interval, because the parts
/// move on while the interval is minimized.
#[derive(Default)]
pub(super) struct Noted(Vec<u32>);

impl Noted {
    /// Stores the tokens of the parts at their current intervals.
    pub fn note(&mut self, parts: &[BoxedIntervals<'_>]) {
        self.0.clear();
        parts.iter().for_each(|part| part.tokens(&mut self.0));
    }

    /// Appends the stored tokens.
    pub fn add_to(&self, out: &mut Vec<u32>) {
        out.extend_from_slice(&self.0);
    }
}

/// Whether there is no interval at this start.
pub(super) fn is_end(start: i64) -> bool {
    start == NO_MORE
}
