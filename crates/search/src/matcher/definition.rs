//! The interface of all matchers.

use limber_segment::DocId;

use super::Bits;
use crate::error::Result;

/// Matches documents of one segment, window by window. Windows are requested in ascending order, each at most
/// once, by either [`Matcher::fill`] or [`Matcher::restrict`].
pub(crate) trait Matcher {
    /// Returns about how many documents match; used to order the clauses of a conjunction.
    fn cost(&self) -> u64;

    /// Returns a document at or after `target` such that no earlier one from `target` on matches;
    /// [`limber_segment::NO_MORE_DOCS`] if there are no more.
    fn next(&mut self, target: DocId) -> Result<DocId> {
        Ok(target)
    }

    /// Adds the matches of the window that starts at `start` (a multiple of [`super::WINDOW`]) to `bits`.
    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()>;

    /// Clears the bits of documents that do not match.
    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let mut matches = Bits::default();
        self.fill(start, &mut matches)?;
        bits.and(&matches);
        Ok(())
    }
}

/// One clause of a bound query, opened on a segment.
pub(crate) type BoxedMatcher<'a> = Box<dyn Matcher + 'a>;
