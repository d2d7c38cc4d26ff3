//! The hashes of a field's terms by ordinal: each term is hashed once in a segment.

use limber_segment::Segment;

use super::super::budget::Budget;
use super::super::source::{OrdinalReader, Source};
use super::hyperloglog::hash_term;
use crate::error::Result;

/// Looking up one term takes as long as reading about this many in order.
const TERMS_PER_LOOK_UP: usize = 8;

/// The ordinals of the current segment, and the hashes of their terms.
#[derive(Debug)]
pub(super) struct TermHashes<'s> {
    pub reader: OrdinalReader<'s>,
    missing: Option<Vec<u8>>,
    segment: Option<&'s Segment>,
    path: String,
    ordinal_count: usize,
    /// Whether the first bucket has all terms of the segment.
    pub has_all: bool,
    /// Hash by ordinal; 0 if it is not known yet. Empty until hashes are needed.
    hashes: Vec<u64>,
    term: Vec<u8>,
}

impl<'s> TermHashes<'s> {
    pub(super) fn new(source: &Source) -> Result<TermHashes<'s>> {
        Ok(TermHashes {
            reader: OrdinalReader::new(source.path(), source.missing.is_some()),
            missing: source.missing_term()?,
            segment: None,
            path: source.path().to_owned(),
            ordinal_count: 0,
            has_all: false,
            hashes: Vec::new(),
            term: Vec::new(),
        })
    }

    /// Starts a segment; returns the number of its ordinals.
    pub fn begin(&mut self, segment: &'s Segment, is_mapped: bool) -> Result<u64> {
        self.ordinal_count = self.reader.begin(segment, is_mapped)?;
        self.segment = Some(segment);
        self.has_all = false;
        self.hashes.clear();
        Ok(self.ordinal_count as u64)
    }

    /// Makes room for the hashes of all terms.
    pub fn grow(&mut self, budget: &Budget) -> Result<()> {
        if self.hashes.is_empty() {
            budget.spend(self.ordinal_count as u64 * 8)?;
            self.hashes.resize(self.ordinal_count, 0);
        }
        Ok(())
    }

    /// Returns the hash of a term, for which there must be room.
    #[inline]
    pub fn hash(&mut self, ordinal: u32) -> Result<u64> {
        match self.hashes[ordinal as usize] {
            0 => self.look_up(ordinal),
            known => Ok(known),
        }
    }

    fn look_up(&mut self, ordinal: u32) -> Result<u64> {
        if Some(ordinal) == self.reader.missing_ordinal() {
            self.term.clear();
            self.term.extend_from_slice(self.missing.as_deref().unwrap_or_default());
        } else if let Some(segment) = self.segment
            && let Some(terms) = segment.terms(&self.path)?
        {
            terms.term(u64::from(ordinal), &mut self.term)?;
        }
        let hash = hash_term(&self.term);
        self.hashes[ordinal as usize] = hash;
        Ok(hash)
    }

    /// Hashes the terms of a set of ordinals, given as bits; returns the hashes by ordinal.
    pub fn hash_all(&mut self, ordinals: &[u64], budget: &Budget) -> Result<&[u64]> {
        let count: usize = ordinals.iter().map(|word| word.count_ones() as usize).sum();
        let is_in = |ordinal: usize| ordinals[ordinal / 64] >> (ordinal % 64) & 1 == 1;
        if count == 0 {
            return Ok(&self.hashes);
        }
        self.grow(budget)?;
        if count < self.ordinal_count / TERMS_PER_LOOK_UP {
            for ordinal in (0..self.ordinal_count).filter(|ordinal| is_in(*ordinal)) {
                self.hash(ordinal as u32)?;
            }
            return Ok(&self.hashes);
        }
        if let Some(missing) = self.reader.missing_ordinal().filter(|missing| is_in(*missing as usize)) {
            self.hash(missing)?;
        }
        let mut hashes = std::mem::take(&mut self.hashes);
        let mut ordinal = 0;
        self.each(|term| {
            if is_in(ordinal) {
                hashes[ordinal] = hash_term(term);
            }
            ordinal += 1;
        })?;
        self.hashes = hashes;
        Ok(&self.hashes)
    }

    /// Calls `visit` with each term of the segment, by ascending ordinal.
    pub fn each(&self, mut visit: impl FnMut(&[u8])) -> Result<()> {
        let (Some(segment), Some(_)) = (self.segment, self.reader.column()) else { return Ok(()) };
        let Some(terms) = segment.terms(&self.path)? else { return Ok(()) };
        let mut cursor = terms.cursor();
        while cursor.advance()? {
            visit(cursor.term());
        }
        Ok(())
    }
}
