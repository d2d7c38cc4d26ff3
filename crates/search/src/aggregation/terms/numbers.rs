//! Terms of a segment's ordinals by number, which is theirs in every segment.

use limber_segment::Segment;

use super::super::budget::Budget;
use super::super::source::Source;
use super::include::TermFilter;
use super::pool::TermPool;
use crate::error::Result;

/// A term that has no number yet.
pub const UNKNOWN: u32 = u32::MAX;
/// A term that may have no bucket.
pub const REFUSED: u32 = u32::MAX - 1;

/// Gives the terms of all segments of a shard numbers of their own.
#[derive(Debug)]
pub struct TermNumbers<'s> {
    filter: &'s TermFilter,
    source: &'s Source,
    /// The term that stands for `missing`.
    missing: Option<Vec<u8>>,
    pub pool: TermPool,
    segment: Option<&'s Segment>,
    missing_ordinal: Option<u32>,
    /// Number in `pool` by ordinal of the segment; [`UNKNOWN`] until it is met.
    by_ordinal: Vec<u32>,
    term: Vec<u8>,
    budget: &'s Budget,
}

impl<'s> TermNumbers<'s> {
    pub(crate) fn new(
        filter: &'s TermFilter,
        source: &'s Source,
        missing: Option<Vec<u8>>,
        budget: &'s Budget,
    ) -> TermNumbers<'s> {
        TermNumbers {
            filter,
            source,
            missing,
            pool: TermPool::default(),
            segment: None,
            missing_ordinal: None,
            by_ordinal: Vec::new(),
            term: Vec::new(),
            budget,
        }
    }

    /// The next ordinals are of this segment.
    pub fn begin(&mut self, segment: &'s Segment, missing_ordinal: Option<u32>) {
        self.segment = Some(segment);
        self.missing_ordinal = missing_ordinal;
        self.by_ordinal.clear();
    }

    /// Room for so many ordinals of the begun segment; to be called before [`Self::number`].
    pub fn reserve(&mut self, ordinal_count: usize) -> Result<()> {
        if self.by_ordinal.is_empty() {
            self.budget.spend(ordinal_count as u64 * 4)?;
            self.by_ordinal.resize(ordinal_count, UNKNOWN);
        }
        Ok(())
    }

    /// The ordinal itself where keys are ordinals, elsewhere its [`Self::number`].
    #[inline]
    pub fn key(&mut self, ordinal: u32, by_ordinal: bool) -> Result<u32> {
        if by_ordinal { Ok(ordinal) } else { self.number(ordinal) }
    }

    /// The number of the ordinal's term, or [`REFUSED`].
    pub fn number(&mut self, ordinal: u32) -> Result<u32> {
        let known = self.by_ordinal[ordinal as usize];
        if known != UNKNOWN {
            return Ok(known);
        }
        let number = if Some(ordinal) == self.missing_ordinal {
            self.number_of_missing()?
        } else {
            self.term.clear();
            if let Some(segment) = self.segment
                && let Some(terms) = segment.terms(self.source.path())?
            {
                terms.term(u64::from(ordinal), &mut self.term)?;
            }
            number_of(&mut self.pool, self.filter, &self.term, self.budget)?
        };
        self.by_ordinal[ordinal as usize] = number;
        Ok(number)
    }

    /// The number of what stands for `missing`, or [`REFUSED`].
    pub fn number_of_missing(&mut self) -> Result<u32> {
        let term = self.missing.as_deref().unwrap_or_default();
        number_of(&mut self.pool, self.filter, term, self.budget)
    }
}

fn number_of(pool: &mut TermPool, filter: &TermFilter, term: &[u8], budget: &Budget) -> Result<u32> {
    if filter.allows_term(term) { pool.number(term, budget) } else { Ok(REFUSED) }
}
