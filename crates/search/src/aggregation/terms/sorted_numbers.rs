//! Counts numbers by sorting them, if nearly every document has a different one. A hash table would have a
//! cache miss for each document.

use super::super::buckets::bucket_table::BucketTable;
use super::super::budget::Budget;
use super::super::collector::Subs;
use super::request::Terms;
use super::select::{Candidate, Selected, select};
use crate::error::Result;

/// From this number of buckets on, numbers are collected and sorted.
pub const SORTED_FROM: usize = 1 << 15;

/// Number of keys, beyond those that are wanted, that are collected before the best of them are selected.
const WAITING_MAX: usize = 1 << 14;

/// Numbers that are still to be counted.
#[derive(Debug, Default)]
pub struct SortedNumbers {
    numbers: Vec<i64>,
}

impl SortedNumbers {
    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Adds ascending numbers, and charges their memory.
    pub fn add(&mut self, numbers: &[i64], budget: &Budget) -> Result<()> {
        budget.spend(numbers.len() as u64 * 8)?;
        self.numbers.extend_from_slice(numbers);
        Ok(())
    }

    /// Takes the numbers of a part of the shard, sorted.
    pub fn take(&mut self) -> Vec<i64> {
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.sort_unstable();
        numbers
    }

    /// Adds the numbers of another part.
    pub fn absorb(&mut self, mut numbers: Vec<i64>, budget: &Budget) -> Result<()> {
        budget.spend(numbers.len() as u64 * 8)?;
        match self.numbers.is_empty() {
            true => self.numbers = numbers,
            false => self.numbers.append(&mut numbers),
        }
        Ok(())
    }

    /// Selects the best of those numbers and of the keys of a table. Also returns the keys; the selected
    /// buckets are indexes of them.
    pub fn select(
        &mut self,
        table: &BucketTable,
        request: &Terms,
        subs: &Subs<'_>,
        budget: &Budget,
    ) -> Result<(Selected, Vec<i64>)> {
        // The sort makes use of runs that are already sorted.
        self.numbers.sort();
        let mut met: Vec<(i64, u64)> = (0..table.len() as u32)
            .map(|bucket| (table.key(bucket), table.counts[bucket as usize]))
            .collect();
        met.sort_unstable();
        let mut met = met.into_iter().peekable();
        let mut waiting = Waiting { keys: Vec::new(), counts: Vec::new(), other_doc_count: 0 };
        let waiting_max = WAITING_MAX + 2 * request.shard_size;
        for run in self.numbers.chunk_by(|left, right| left == right) {
            while let Some((key, count)) = met.next_if(|(key, _)| *key < run[0]) {
                waiting.push(key, count);
            }
            let before = met.next_if(|(key, _)| *key == run[0]).map_or(0, |(_, count)| count);
            waiting.push(run[0], before + run.len() as u64);
            if waiting.keys.len() >= waiting_max {
                budget.check()?;
                waiting.choose(request, subs);
            }
        }
        met.for_each(|(key, count)| waiting.push(key, count));
        let mut selected = waiting.choose(request, subs);
        selected.other_doc_count = waiting.other_doc_count;
        Ok((selected, waiting.keys))
    }
}

/// Keys in ascending order, before the best of them are selected.
struct Waiting {
    keys: Vec<i64>,
    counts: Vec<u64>,
    /// Number of documents with keys that were dropped.
    other_doc_count: u64,
}

impl Waiting {
    fn push(&mut self, key: i64, count: u64) {
        self.keys.push(key);
        self.counts.push(count);
    }

    /// Keeps only the best keys; their buckets are numbered in this order.
    fn choose(&mut self, request: &Terms, subs: &Subs<'_>) -> Selected {
        let counted = (0u32..).zip(&self.counts);
        let candidates = counted.map(|(bucket, &doc_count)| Candidate { bucket, doc_count }).collect();
        let keys = &self.keys;
        let by_key = |left: u32, right: u32| keys[left as usize].cmp(&keys[right as usize]);
        let mut selected = select(candidates, request, subs, by_key);
        self.other_doc_count += selected.other_doc_count;
        self.counts = selected.kept.iter().map(|kept| kept.doc_count).collect();
        self.keys = selected.kept.iter().map(|kept| self.keys[kept.bucket as usize]).collect();
        (0u32..).zip(&mut selected.kept).for_each(|(bucket, kept)| kept.bucket = bucket);
        selected
    }
}
