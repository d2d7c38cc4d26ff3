//! Documents into buckets by a key of their values, and on to the aggregations below the buckets.

use super::bucket_table::BucketTable;
use super::budget::Budget;
use super::collector::Subs;
use super::entries::{Emitted, Entries, Values};
use crate::error::Result;

/// Buckets by key with what is below them.
#[derive(Debug)]
pub struct KeyedBuckets<'s> {
    pub table: BucketTable,
    pub subs: Subs<'s>,
    has_subs: bool,
    /// Of the batch at hand.
    emitted: Emitted,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> KeyedBuckets<'s> {
    pub fn new(table: BucketTable, subs: Subs<'s>, budget: &'s Budget) -> KeyedBuckets<'s> {
        let has_subs = !subs.is_empty();
        KeyedBuckets { table, subs, has_subs, emitted: Emitted::default(), starts: Vec::new(), budget }
    }

    /// Counts the values of a batch, each in the bucket of the key that `key_of(entry, value)` gives; `None`: it is in no bucket.
    pub fn collect<T: Copy>(
        &mut self,
        values: &Values<'_, T>,
        entries: &Entries<'_>,
        mut key_of: impl FnMut(usize, T) -> Option<i64>,
    ) -> Result<()> {
        self.begin();
        let mut starts = std::mem::take(&mut self.starts);
        let mut failed = Ok(());
        values.join(entries, &mut starts, |entry, parent, value| {
            if failed.is_err() {
                return;
            }
            let Some(key) = key_of(entry, value) else { return };
            match self.table.bucket(parent, key, self.budget) {
                Ok(bucket) => self.add(entry, bucket),
                Err(error) => failed = Err(error),
            }
        });
        self.starts = starts;
        failed?;
        self.hand_on(entries)
    }

    /// Counts documents in the bucket of a key, below no other bucket and with nothing below it.
    pub fn count(&mut self, key: i64, doc_count: u64) -> Result<()> {
        let bucket = self.table.bucket(0, key, self.budget)?;
        self.table.counts[bucket as usize] += doc_count;
        Ok(())
    }

    /// A batch follows, entry by entry.
    pub fn begin(&mut self) {
        self.emitted.clear();
    }

    #[inline]
    pub fn add(&mut self, entry: usize, bucket: u32) {
        self.table.counts[bucket as usize] += 1;
        if self.has_subs {
            self.emitted.push(entry, bucket);
        }
    }

    /// Counts all entries of a batch, each in its bucket, and hands them on.
    pub fn collect_each(
        &mut self,
        buckets: impl ExactSizeIterator<Item = u32>,
        entries: &Entries<'_>,
    ) -> Result<()> {
        self.emitted.fill(buckets.len(), None, buckets);
        self.table.count(self.emitted.buckets());
        self.hand_on(entries)
    }

    /// The batch is over.
    pub fn hand_on(&mut self, entries: &Entries<'_>) -> Result<()> {
        if !self.has_subs {
            return Ok(());
        }
        self.subs.collect(&self.emitted.batch(entries, self.table.len()))
    }
}
