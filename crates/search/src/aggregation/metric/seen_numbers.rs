//! Sets of small numbers by bucket, as bits in pages that are made when they are first needed.
//!
//! For a number that was seen before, setting its bit again is cheaper than hashing it and comparing.

use super::super::budget::Budget;
use crate::error::Result;

/// Binary logarithm of the number of bits of a page, which is one cache line.
const PAGE_BITS: usize = 9;
const PAGE_WORDS: usize = 1 << (PAGE_BITS - 6);

/// Largest number of entries of the table of pages, which then takes 8 MiB.
const TABLE_MAX: usize = 1 << 21;

/// Largest number of pages, which then take 32 MiB.
const PAGES_MAX: usize = 1 << 19;

/// The numbers that were seen in each bucket.
#[derive(Debug, Default)]
pub(super) struct SeenNumbers {
    /// Number of pages of a bucket; 0 if numbers are not collected.
    width: usize,
    /// For each bucket, the places of its pages in `pages`. Place 0 means that there is no page yet.
    table: Vec<u32>,
    pages: Vec<[u64; PAGE_WORDS]>,
    charged_bytes: u64,
}

impl SeenNumbers {
    /// Forgets everything; from now on numbers are below `width`.
    pub fn begin(&mut self, width: u64) {
        self.table.clear();
        self.pages.clear();
        self.width = usize::try_from(width.div_ceil(1 << PAGE_BITS)).unwrap_or(usize::MAX);
    }

    /// Makes room for `count` numbers of `bucket_count` buckets. Returns false if that would take too much
    /// memory.
    pub fn takes(&mut self, bucket_count: usize, count: usize, budget: &Budget) -> Result<bool> {
        let wanted = self.width.saturating_mul(bucket_count);
        if self.width == 0 || wanted > TABLE_MAX || self.pages.len() + count > PAGES_MAX {
            return Ok(false);
        }
        if wanted > self.table.len() {
            // Buckets appear gradually, so the table doubles each time.
            let len = wanted.max(self.table.len() * 2).min(TABLE_MAX);
            self.table.resize(len, 0);
        }
        if self.pages.is_empty() {
            self.pages.push([0; PAGE_WORDS]);
        }
        let bytes = (self.table.len() * size_of::<u32>() + self.pages.len() * (PAGE_WORDS * 8)) as u64;
        budget.spend(bytes.saturating_sub(self.charged_bytes))?;
        self.charged_bytes = self.charged_bytes.max(bytes);
        Ok(true)
    }

    /// Adds a number to a bucket.
    #[inline]
    pub fn insert(&mut self, bucket: u32, number: u32) {
        let place = &mut self.table[bucket as usize * self.width + (number >> PAGE_BITS) as usize];
        if *place == 0 {
            *place = self.pages.len() as u32;
            self.pages.push([0; PAGE_WORDS]);
        }
        let page = &mut self.pages[*place as usize];
        page[number as usize / 64 % PAGE_WORDS] |= 1 << (number % 64);
    }

    /// Returns all numbers below `width` of all buckets, as a bit set.
    pub fn union(&self) -> Vec<u64> {
        let mut words = vec![0; self.width * PAGE_WORDS];
        if self.width > 0 {
            for row in self.table.chunks_exact(self.width) {
                for (words, place) in words.as_chunks_mut::<PAGE_WORDS>().0.iter_mut().zip(row) {
                    if *place > 0 {
                        let page = &self.pages[*place as usize];
                        words.iter_mut().zip(page).for_each(|(word, own)| *word |= own);
                    }
                }
            }
        }
        words
    }

    /// Calls `visit` for each bucket that has numbers, with their count and the numbers in ascending order,
    /// and forgets them.
    ///
    /// # Errors
    /// That of `visit`.
    pub fn each(
        &mut self,
        mut visit: impl FnMut(u32, usize, &mut dyn Iterator<Item = u32>) -> Result<()>,
    ) -> Result<()> {
        let width = self.width.max(1);
        for (bucket, row) in (0..).zip(self.table.chunks_exact(width)) {
            let pages = || {
                let own = row.iter().enumerate().filter(|(_, place)| **place > 0);
                own.map(|(number, place)| (number << PAGE_BITS, &self.pages[*place as usize]))
            };
            let count: u32 = pages().flat_map(|(_, page)| page).map(|word| word.count_ones()).sum();
            if count > 0 {
                let words = pages().flat_map(|(first, page)| {
                    page.iter().enumerate().map(move |(at, word)| ((first + at * 64) as u32, *word))
                });
                visit(bucket, count as usize, &mut words.flat_map(|(first, word)| bits(first, word)))?;
            }
        }
        self.table.clear();
        self.pages.clear();
        Ok(())
    }
}

/// Returns the numbers of the bits of a word, whose first bit has the number `first`.
fn bits(first: u32, mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(first + bit)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use limber_store::Ledger;
    use proptest::prelude::*;

    use super::*;
    use crate::context::SearchContext;

    proptest! {
        #[test]
        fn as_sets(entries in prop::collection::vec((0u32..6, 0u32..3000), 0..400)) {
            let mut seen = SeenNumbers::default();
            seen.begin(3000);
            let context = SearchContext::new(Ledger::new(1 << 20), 0);
            let budget = Budget::new(&context).expect("room");
            let mut expected: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
            for batch in entries.chunks(50) {
                let most = batch.iter().map(|(bucket, _)| *bucket).max().unwrap_or(0);
                prop_assert!(seen.takes(most as usize + 1, batch.len(), &budget).expect("room"));
                for (bucket, number) in batch {
                    seen.insert(*bucket, *number);
                    expected.entry(*bucket).or_default().insert(*number);
                }
            }
            let all: BTreeSet<u32> = expected.values().flatten().copied().collect();
            let union: BTreeSet<u32> =
                (0..).zip(seen.union()).flat_map(|(at, word)| bits(at * 64, word)).collect();
            prop_assert_eq!(union, all);
            let mut found: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
            seen.each(|bucket, count, numbers| {
                let own: BTreeSet<u32> = numbers.collect();
                assert_eq!(own.len(), count);
                found.insert(bucket, own);
                Ok(())
            }).expect("visits");
            prop_assert_eq!(found, expected);
        }
    }
}
