//! Numbers the terms of a shard: maps the ordinals of each segment to numbers that are the same in all of
//! them.

use limber_segment::Segment;

use super::super::budget::Budget;
use super::super::source::Source;
use super::include::TermFilter;
use super::pool::TermPool;
use crate::error::Result;

/// Marks a term that has no number yet.
pub const UNKNOWN: u32 = u32::MAX;
/// Marks a term that must not have a bucket.
pub const REFUSED: u32 = u32::MAX - 1;

/// Numbers the terms of all segments of a shard.
#[derive(Debug)]
pub struct TermNumbers<'s> {
    filter: &'s TermFilter,
    source: &'s Source,
    /// The term of documents without a value.
    missing: Option<Vec<u8>>,
    pub pool: TermPool,
    segment: Option<&'s Segment>,
    missing_ordinal: Option<u32>,
    /// The number in `pool` by ordinal of the segment; [`UNKNOWN`] until the ordinal occurs.
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

    /// Starts a segment, which the next ordinals belong to.
    pub fn begin(&mut self, segment: &'s Segment, missing_ordinal: Option<u32>) {
        self.segment = Some(segment);
        self.missing_ordinal = missing_ordinal;
        self.by_ordinal.clear();
    }

    /// Makes entries for the ordinals of the current segment. Must be called before [`Self::number`].
    pub fn reserve(&mut self, ordinal_count: usize) -> Result<()> {
        if self.by_ordinal.is_empty() {
            self.budget.spend(ordinal_count as u64 * 4)?;
            self.by_ordinal.resize(ordinal_count, UNKNOWN);
        }
        Ok(())
    }

    /// Returns the ordinal itself if keys are ordinals, otherwise its [`Self::number`].
    #[inline]
    pub fn key(&mut self, ordinal: u32, by_ordinal: bool) -> Result<u32> {
        if by_ordinal { Ok(ordinal) } else { self.number(ordinal) }
    }

    /// Returns the number of the ordinal's term, or [`REFUSED`].
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

    /// Returns the number of the `missing` term, or [`REFUSED`].
    pub fn number_of_missing(&mut self) -> Result<u32> {
        let term = self.missing.as_deref().unwrap_or_default();
        number_of(&mut self.pool, self.filter, term, self.budget)
    }
}

fn number_of(pool: &mut TermPool, filter: &TermFilter, term: &[u8], budget: &Budget) -> Result<u32> {
    if filter.allows_term(term) { pool.number(term, budget) } else { Ok(REFUSED) }
}
