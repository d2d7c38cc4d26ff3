//! Intervals of a source that are related to intervals of another one.

use limber_segment::DocId;

use super::iterator::{BoxedIntervals, Intervals, is_end};
use crate::error::Result;
use crate::matcher::text::positions::NO_MORE;
use crate::primitives::Relation;

/// Source: Lucene's `ContainingIntervalsSource`, `NotContainingIntervalsSource` and similar classes. The
/// intervals of both sources ascend by start and by end, so each is examined once.
pub(super) struct Related<'a> {
    pub relation: Relation,
    pub part: BoxedIntervals<'a>,
    pub reference: BoxedIntervals<'a>,
    /// Whether the reference may have more intervals.
    pub has_reference: bool,
}

impl Related<'_> {
    /// Whether the current interval has the relation; `None` if neither it nor a later one has. Moves the
    /// reference as far as necessary.
    fn is_wanted(&mut self) -> Result<Option<bool>> {
        let (start, end) = (self.part.start(), self.part.end());
        let is_behind = |reference: &BoxedIntervals<'_>| match self.relation {
            Relation::Containing | Relation::NotContaining => {
                reference.start() < start && reference.end() < end
            }
            Relation::ContainedBy | Relation::NotContainedBy => reference.end() < end,
            Relation::Overlapping | Relation::NotOverlapping => reference.end() < start,
        };
        while is_behind(&self.reference) {
            if is_end(self.reference.next()?) {
                self.has_reference = false;
                return Ok(self.relation.is_negative().then_some(true));
            }
        }
        let (reference_start, reference_end) = (self.reference.start(), self.reference.end());
        Ok(Some(match self.relation {
            Relation::Containing => start <= reference_start && reference_end <= end,
            Relation::ContainedBy => reference_start <= start,
            Relation::Overlapping => reference_start <= end,
            // As in Lucene, reference intervals that begin within the interval count, wherever they end.
            Relation::NotContaining | Relation::NotOverlapping => end < reference_start,
            Relation::NotContainedBy => start < reference_start,
        }))
    }
}

impl Intervals for Related<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        if !self.part.reset(doc)? {
            return Ok(false);
        }
        self.has_reference = self.reference.reset(doc)?;
        if self.relation.is_negative() {
            return Ok(true);
        }
        self.has_reference = self.has_reference && !is_end(self.reference.next()?);
        Ok(self.has_reference)
    }

    fn next(&mut self) -> Result<i64> {
        if !self.has_reference {
            return match self.relation.is_negative() {
                true => self.part.next(),
                false => Ok(NO_MORE),
            };
        }
        while !is_end(self.part.next()?) {
            match self.is_wanted()? {
                Some(true) => return Ok(self.part.start()),
                Some(false) => {}
                None => return Ok(NO_MORE),
            }
        }
        self.has_reference &= self.relation.is_negative();
        Ok(NO_MORE)
    }

    fn start(&self) -> i64 {
        if self.has_reference || self.relation.is_negative() { self.part.start() } else { NO_MORE }
    }

    fn end(&self) -> i64 {
        if self.has_reference || self.relation.is_negative() { self.part.end() } else { NO_MORE }
    }

    fn gaps(&self) -> i64 {
        self.part.gaps()
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        self.part.tokens(out);
        // As in Lucene, the tokens of the reference are included.
        if self.relation == Relation::Containing {
            self.reference.tokens(out);
        }
    }
}
