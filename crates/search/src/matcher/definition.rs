//! What every matcher can be asked.

use limber_segment::DocId;

use super::Bits;
use crate::error::Result;

/// The matching documents of one segment, window after window. Windows are asked for in ascending order, each
/// at most once, by either [`Matcher::fill`] or [`Matcher::restrict`].
pub(crate) trait Matcher {
    /// About how many documents match; orders the parts of a conjunction.
    fn cost(&self) -> u64;

    /// A document at or after `target` before which none matches; [`limber_segment::NO_MORE_DOCS`] when none
    /// is left.
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

/// One part of a bound query on a segment.
pub(crate) type BoxedMatcher<'a> = Box<dyn Matcher + 'a>;
