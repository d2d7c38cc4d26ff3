//! Buckets whose keys are ordinals: while only one segment was seen, only terms that are shown are looked up.

use super::super::super::answer::partial::TermKey;
use super::super::super::buckets::bucket_table::BucketTable;
use super::super::select::term_key;
use super::{KeywordTerms, UNLISTED};
use crate::error::Result;

impl KeywordTerms<'_> {
    /// Prepares the table for keys that are ordinals of the current segment, or numbers of terms.
    pub(super) fn prepare_keys(&mut self) -> Result<()> {
        if self.keyed_by == Some(self.segment_place) {
            return Ok(());
        }
        self.name_table()?;
        let is_first =
            self.segment_place != UNLISTED && self.buckets.table.len() == 0 && self.counted_only.is_none();
        // The ordinal of a missing value's term is after all others, which need not be the order of the
        // terms.
        if is_first && self.filter.allows_all() && self.reader.missing_ordinal().is_none() {
            return self.begin_ordinals(self.segment_place, self.ordinal_count);
        }
        self.numbers.reserve(self.ordinal_count)
    }

    fn begin_ordinals(&mut self, place: usize, ordinal_count: usize) -> Result<()> {
        let last = ordinal_count as i64 - 1;
        self.buckets.table = BucketTable::with_range(Some((0, last)), self.budget)?;
        self.keyed_by = Some(place);
        Ok(())
    }

    /// Replaces keys that are ordinals by the numbers of their terms.
    pub(super) fn name_table(&mut self) -> Result<()> {
        let Some(place) = self.keyed_by.take() else { return Ok(()) };
        let Some(terms) = self.shard.segments[place].segment.terms(self.source.path())? else {
            return Ok(());
        };
        let (pool, term, budget) = (&mut self.numbers.pool, &mut self.term, self.budget);
        self.buckets.table = self.buckets.table.with_keys(
            |ordinal| {
                terms.term(ordinal as u64, term)?;
                pool.number(term, budget).map(i64::from)
            },
            budget,
        )?;
        Ok(())
    }

    /// Adds the buckets of another collector whose keys are ordinals of the segment at `place`. Returns the
    /// bucket here for each of the other's.
    pub(super) fn absorb_by_ordinal(
        &mut self,
        table: &BucketTable,
        place: usize,
        bucket_of: &[u32],
    ) -> Result<Vec<u32>> {
        let Some(terms) = self.shard.segments[place].segment.terms(self.source.path())? else {
            return Ok(Vec::new());
        };
        if self.buckets.table.len() == 0 && self.counted_only.is_none() && self.keyed_by.is_none() {
            self.begin_ordinals(place, terms.len() as usize)?;
        }
        let budget = self.budget;
        if self.keyed_by == Some(place) {
            return self.buckets.table.absorb(table, bucket_of, Ok, budget);
        }
        self.name_table()?;
        let (pool, term) = (&mut self.numbers.pool, &mut self.term);
        let key_of = |ordinal: i64| {
            terms.term(ordinal as u64, term)?;
            pool.number(term, budget).map(i64::from)
        };
        self.buckets.table.absorb(table, bucket_of, key_of, budget)
    }

    /// Returns the term of a bucket.
    pub(super) fn term_of(&mut self, bucket: u32) -> Result<TermKey> {
        let key = self.buckets.table.key(bucket);
        let Some(place) = self.keyed_by else {
            return term_key(self.numbers.pool.term(key as u32));
        };
        self.term.clear();
        if let Some(terms) = self.shard.segments[place].segment.terms(self.source.path())? {
            terms.term(key as u64, &mut self.term)?;
        }
        term_key(&self.term)
    }
}
