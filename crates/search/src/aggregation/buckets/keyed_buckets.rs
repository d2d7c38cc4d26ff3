//! Sorts documents into buckets by a key of their values, and passes them on to the sub-aggregations.

use super::bucket_table::BucketTable;
use super::entries::{Emitted, Entries, Values};
use super::known_buckets::{KnownBuckets, REFUSED};
use crate::aggregation::budget::Budget;
use crate::aggregation::collector::Subs;
use crate::aggregation::findings::Findings;
use crate::error::Result;

/// Buckets by key, with their sub-aggregations.
#[derive(Debug)]
pub struct KeyedBuckets<'s> {
    pub table: BucketTable,
    pub subs: Subs<'s>,
    has_subs: bool,
    known: KnownBuckets,
    /// The pairs of the current batch.
    emitted: Emitted,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> KeyedBuckets<'s> {
    pub(crate) fn new(table: BucketTable, subs: Subs<'s>, budget: &'s Budget) -> KeyedBuckets<'s> {
        let has_subs = !subs.is_empty();
        let (known, emitted) = (KnownBuckets::default(), Emitted::default());
        KeyedBuckets { table, subs, has_subs, known, emitted, starts: Vec::new(), budget }
    }

    /// Forgets all key indexes (see [`super::known_buckets`]). From now on they are below `width`; 0 means
    /// that keys have none.
    pub fn begin_key_indexes(&mut self, width: usize) {
        self.known.begin(width);
    }

    /// Whether [`Self::collect_key_indexes`] can collect a batch.
    pub fn takes_key_indexes(&mut self, entries: &Entries<'_>) -> Result<bool> {
        Ok(entries.positions.is_none() && self.known.takes(entries, self.budget)?)
    }

    /// Collects documents that have at most one key each, by the key indexes of the keys: `key_indexes[i]`
    /// belongs to document `positions[i]`, or to document `i` without `positions`.
    /// `make(table, parent, key_index)` returns the bucket of a key index that is new, or `None` if it is in
    /// no bucket.
    ///
    /// Key indexes must be below the width, and [`Self::takes_key_indexes`] must have returned true for the
    /// batch.
    pub fn collect_key_indexes(
        &mut self,
        key_indexes: &[u32],
        positions: Option<&[u32]>,
        entries: &Entries<'_>,
        mut make: impl FnMut(&mut BucketTable, u32, u32) -> Result<Option<u32>>,
    ) -> Result<()> {
        let (known, table) = (&mut self.known, &mut self.table);
        let fill = |buckets: &mut Vec<u32>| {
            known.look_up(key_indexes, positions, entries, buckets, |parent, key_index| {
                make(table, parent, key_index)
            })
        };
        self.emitted.fill(positions, fill, |bucket| bucket == REFUSED)?;
        self.table.count(self.emitted.buckets());
        self.hand_on(entries)
    }

    /// Collects all entries of a batch, which have one parent and one key.
    pub fn collect_one(&mut self, bucket: u32, entries: &Entries<'_>) -> Result<()> {
        self.table.counts[bucket as usize] += entries.len() as u64;
        match self.has_subs {
            true => {
                let bucket_count = self.table.len();
                self.subs.collect(&Entries { buckets: None, bucket, bucket_count, ..*entries })
            }
            false => Ok(()),
        }
    }

    /// Collects the values of a batch. `key_of(entry, value)` returns the key of a value's bucket, or `None`
    /// if the value is in no bucket.
    pub fn collect<T: Copy>(
        &mut self,
        values: &Values<'_, T>,
        entries: &Entries<'_>,
        mut key_of: impl FnMut(usize, T) -> Option<i64>,
    ) -> Result<()> {
        self.begin();
        let mut starts = std::mem::take(&mut self.starts);
        values.try_join(entries, &mut starts, |entry, parent, value| {
            let Some(key) = key_of(entry, value) else { return Ok(()) };
            let bucket = self.table.bucket(parent, key, self.budget)?;
            self.add(entry, bucket)
        })?;
        self.starts = starts;
        self.hand_on(entries)
    }

    /// Takes the findings; see [`Findings`].
    pub fn take_findings(&mut self) -> Result<Findings> {
        Ok(Findings::Keyed(Box::new(std::mem::take(&mut self.table)), self.subs.take_findings()?))
    }

    /// Adds the findings of another collector.
    pub fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Keyed(table, below) = findings else { return Ok(()) };
        let buckets = self.table.absorb(&table, bucket_of, Ok, self.budget)?;
        self.subs.absorb(below, &buckets)
    }

    /// Adds to the document count of a key, under the only parent and without sub-aggregations.
    pub fn count(&mut self, key: i64, doc_count: u64) -> Result<()> {
        let bucket = self.table.bucket(0, key, self.budget)?;
        self.table.counts[bucket as usize] += doc_count;
        Ok(())
    }

    /// Begins a batch whose entries are added one by one with [`Self::add`].
    pub fn begin(&mut self) {
        self.emitted.clear();
    }

    /// Adds the document of `entry` to `bucket`.
    #[inline]
    pub fn add(&mut self, entry: usize, bucket: u32) -> Result<()> {
        self.table.counts[bucket as usize] += 1;
        if self.has_subs {
            self.emitted.push(entry, bucket)?;
        }
        Ok(())
    }

    /// Ends the batch and passes it on to the sub-aggregations.
    pub fn hand_on(&mut self, entries: &Entries<'_>) -> Result<()> {
        if !self.has_subs {
            return Ok(());
        }
        self.subs.collect(&self.emitted.batch(entries, self.table.len())?)
    }
}
