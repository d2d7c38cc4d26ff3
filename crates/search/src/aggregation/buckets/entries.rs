//! The batches that collectors get: documents, and the bucket that each belongs to.

use std::collections::HashMap;

use limber_segment::DocId;

use limber_work as work;

use crate::error::{Result, check_request};

/// Values that are joined with their entries between two checks of the request.
const CALLS_BETWEEN_CHECKS: usize = 1 << 16;

/// A batch of (document, bucket) pairs, at most 4,096 documents of one window.
///
/// A document that fell into several buckets of the parent (a field with several values) appears once in
/// `docs` and several times in `positions`.
#[derive(Debug, Clone, Copy)]
pub struct Entries<'e> {
    /// The documents, ascending and without duplicates.
    pub docs: &'e [DocId],
    /// Entry `i` is document `docs[positions[i]]`; ascending. `None`: entry `i` is `docs[i]`.
    pub positions: Option<&'e [u32]>,
    /// Entry `i` belongs to bucket `buckets[i]`. `None`: all belong to `bucket`.
    pub buckets: Option<&'e [u32]>,
    /// The bucket of all entries, if `buckets` is `None`.
    pub bucket: u32,
    /// Upper bound of the buckets (excluded).
    pub bucket_count: usize,
    /// The score of each of `docs`; empty when scores are not needed.
    pub scores: &'e [f32],
}

impl<'e> Entries<'e> {
    /// Makes a batch of documents that all belong to the only bucket.
    pub fn of(docs: &'e [DocId]) -> Entries<'e> {
        Entries { docs, positions: None, buckets: None, bucket: 0, bucket_count: 1, scores: &[] }
    }

    /// Returns the entry's index in `docs`.
    #[inline]
    pub fn position(&self, entry: usize) -> usize {
        self.positions.map_or(entry, |positions| positions[entry] as usize)
    }

    /// Returns the score of the document at an index in `docs`; 0 when scores are not needed.
    #[inline]
    pub fn score(&self, position: usize) -> f32 {
        self.scores.get(position).copied().unwrap_or(0.0)
    }

    /// Returns the number of entries; a document that is in two buckets has two entries.
    pub fn len(&self) -> usize {
        self.positions.map_or(self.docs.len(), <[u32]>::len)
    }

    /// Returns the bucket of an entry.
    #[inline]
    pub fn bucket(&self, entry: usize) -> u32 {
        self.buckets.map_or(self.bucket, |buckets| buckets[entry])
    }

    /// Whether every entry is in bucket 0 and no document occurs twice.
    pub fn is_single_bucket(&self) -> bool {
        self.only_bucket() == Some(0)
    }

    /// Returns the bucket of all entries, if there is only one and no document occurs twice.
    #[inline]
    pub fn only_bucket(&self) -> Option<u32> {
        (self.positions.is_none() && self.buckets.is_none()).then_some(self.bucket)
    }
}

/// Values of the documents of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Values<'v, T> {
    pub values: &'v [T],
    /// `values[i]` belongs to `docs[positions[i]]`; ascending. `None`: every document has exactly one.
    pub positions: Option<&'v [u32]>,
}

impl<T: Copy> Values<'_, T> {
    /// Fills `starts` so that `starts[p]..starts[p + 1]` are the values of the document at position `p`.
    pub fn starts(&self, doc_count: usize, starts: &mut Vec<u32>) {
        match self.positions {
            Some(owners) => ranges(owners, doc_count, starts),
            None => {
                starts.clear();
                starts.extend(0..=doc_count as u32);
            }
        }
    }

    /// Calls `each(entry, bucket, value)` for every value of every entry: entries in ascending order, and the
    /// values of an entry in their own order. `starts` is a reused buffer.
    ///
    /// # Errors
    /// The request was cancelled.
    #[inline]
    pub fn join(
        &self,
        entries: &Entries<'_>,
        starts: &mut Vec<u32>,
        mut each: impl FnMut(usize, u32, T),
    ) -> Result<()> {
        self.try_join(entries, starts, |entry, bucket, value| {
            each(entry, bucket, value);
            Ok(())
        })
    }

    /// Does the same as [`Self::join`], until `each` fails. A document that is in many buckets and has many
    /// values makes as many calls as their product, so nothing that grows with the calls may wait for the
    /// end to be charged.
    ///
    /// # Errors
    /// The request was cancelled, or `each` failed.
    #[inline]
    pub fn try_join(
        &self,
        entries: &Entries<'_>,
        starts: &mut Vec<u32>,
        mut each: impl FnMut(usize, u32, T) -> Result<()>,
    ) -> Result<()> {
        match (self.positions, entries.positions) {
            (None, None) => match entries.buckets {
                None => {
                    let bucket = entries.bucket;
                    let mut values = self.values.iter().enumerate();
                    values.try_for_each(|(entry, &value)| each(entry, bucket, value))
                }
                Some(buckets) => {
                    let mut values = self.values.iter().zip(buckets).enumerate();
                    values.try_for_each(|(entry, (&value, &bucket))| each(entry, bucket, value))
                }
            },
            (Some(positions), None) => {
                let parts = self.values.chunks(CALLS_BETWEEN_CHECKS);
                for (values, positions) in parts.zip(positions.chunks(CALLS_BETWEEN_CHECKS)) {
                    check_request()?;
                    for (&value, &position) in values.iter().zip(positions) {
                        let entry = position as usize;
                        each(entry, entries.bucket(entry), value)?;
                    }
                }
                Ok(())
            }
            (None, Some(positions)) => {
                for (part, positions) in positions.chunks(CALLS_BETWEEN_CHECKS).enumerate() {
                    check_request()?;
                    for (at, &position) in positions.iter().enumerate() {
                        let entry = part * CALLS_BETWEEN_CHECKS + at;
                        each(entry, entries.bucket(entry), self.values[position as usize])?;
                    }
                }
                Ok(())
            }
            (Some(owners), Some(positions)) => {
                ranges(owners, entries.docs.len(), starts);
                let mut calls = 0;
                for (entry, &position) in positions.iter().enumerate() {
                    let (start, end) = (starts[position as usize], starts[position as usize + 1]);
                    calls += (end - start) as usize;
                    if calls > CALLS_BETWEEN_CHECKS {
                        calls = 0;
                        check_request()?;
                    }
                    for &value in &self.values[start as usize..end as usize] {
                        each(entry, entries.bucket(entry), value)?;
                    }
                }
                Ok(())
            }
        }
    }
}

/// Checks the request after every so many steps of loops inside of a [`Values::try_join`].
#[derive(Debug, Default)]
pub struct Pace {
    steps: usize,
}

impl Pace {
    /// Counts `steps` more.
    ///
    /// # Errors
    /// The request was cancelled.
    #[inline]
    pub fn step(&mut self, steps: usize) -> Result<()> {
        self.steps += steps;
        if self.steps < CALLS_BETWEEN_CHECKS {
            return Ok(());
        }
        self.steps = 0;
        check_request()
    }
}

/// Checks that a hash table can take one more entry. Like a list, it grows into a new allocation, twice as
/// large.
///
/// # Errors
/// There is not enough memory for both.
#[inline]
pub fn check_table<K, V, S>(table: &HashMap<K, V, S>) -> Result<()> {
    if table.len() < table.capacity() {
        return Ok(());
    }
    // Each entry has a byte of control, and an eighth of the slots stays free.
    let entry_bytes = (size_of::<(K, V)>() + 1) * 8 / 7;
    let capacity_bytes = table.capacity() * entry_bytes;
    Ok(work::check_growth(capacity_bytes, capacity_bytes, entry_bytes)?)
}

/// Appends an item to a list that may have as many as a [`Values::join`] makes calls.
///
/// # Errors
/// There is not enough memory for more.
#[inline]
pub fn push_checked<I>(list: &mut Vec<I>, item: I) -> Result<()> {
    if list.len() == list.capacity() {
        let item_bytes = size_of::<I>();
        work::check_growth(list.len() * item_bytes, list.capacity() * item_bytes, item_bytes)?;
    }
    list.push(item);
    Ok(())
}

/// The ids that one of several sources has for a batch: those of the document at position `p` are
/// `ids[starts[p]..starts[p + 1]]`.
#[derive(Debug, Default)]
pub struct IdColumn {
    pub ids: Vec<i64>,
    pub starts: Vec<u32>,
}

impl IdColumn {
    /// Replaces the contents.
    pub fn fill(&mut self, values: &Values<'_, i64>, doc_count: usize) {
        self.ids.clear();
        self.ids.extend_from_slice(values.values);
        values.starts(doc_count, &mut self.starts);
    }

    /// Returns which of the ids the document at `position` has.
    pub fn range(&self, position: usize) -> std::ops::Range<usize> {
        self.starts[position] as usize..self.starts[position + 1] as usize
    }
}

/// Fills `starts` so that `starts[p]..starts[p + 1]` are the values of the document at position `p`.
fn ranges(owners: &[u32], doc_count: usize, starts: &mut Vec<u32>) {
    starts.clear();
    starts.reserve(doc_count + 1);
    let mut next = 0u32;
    for position in 0..doc_count as u32 {
        starts.push(next);
        while owners.get(next as usize) == Some(&position) {
            next += 1;
        }
    }
    starts.push(next);
}

/// The (entry, bucket) pairs that a bucket aggregation makes for its sub-aggregations.
#[derive(Debug, Default)]
pub struct Emitted {
    /// The parent's entry of each pair, ascending. Unused if `is_each`.
    entries: Vec<u32>,
    /// Whether there is exactly one pair for each entry, in order.
    is_each: bool,
    buckets: Vec<u32>,
    docs: Vec<DocId>,
    positions: Vec<u32>,
    scores: Vec<f32>,
}

impl Emitted {
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.buckets.clear();
        self.is_each = false;
    }

    /// Adds the document of `entry` to `bucket`.
    ///
    /// # Errors
    /// There is not enough memory for more pairs.
    #[inline]
    pub fn push(&mut self, entry: usize, bucket: u32) -> Result<()> {
        if self.entries.len() == self.entries.capacity() {
            self.check_growth()?;
        }
        self.entries.push(entry as u32);
        self.buckets.push(bucket);
        Ok(())
    }

    /// Claims memory before both vectors grow: there may be as many pairs as the product of the buckets and
    /// the values of the documents.
    #[cold]
    fn check_growth(&self) -> Result<()> {
        let bytes_of = |count: usize| 2 * size_of::<u32>() * count;
        Ok(work::check_growth(bytes_of(self.entries.len()), bytes_of(self.entries.capacity()), bytes_of(1))?)
    }

    /// Replaces the contents. `fill` writes the bucket of every pair, which belongs to entry `positions[i]`,
    /// or to entry `i` without `positions`. Pairs whose bucket is `out` are left out; `fill` returns whether
    /// there are any.
    pub fn fill(
        &mut self,
        positions: Option<&[u32]>,
        fill: impl FnOnce(&mut Vec<u32>) -> Result<bool>,
        out: u32,
    ) -> Result<()> {
        self.clear();
        let has_some_out = fill(&mut self.buckets)?;
        self.is_each = positions.is_none() && !has_some_out;
        if self.is_each {
            return Ok(());
        }
        match positions {
            Some(positions) => self.entries.extend_from_slice(positions),
            None => self.entries.extend(0..self.buckets.len() as u32),
        }
        if has_some_out {
            let mut kept = 0;
            for at in 0..self.buckets.len() {
                let bucket = self.buckets[at];
                (self.buckets[kept], self.entries[kept]) = (bucket, self.entries[at]);
                kept += usize::from(bucket != out);
            }
            self.buckets.truncate(kept);
            self.entries.truncate(kept);
        }
        Ok(())
    }

    /// Returns the bucket of each pair.
    pub fn buckets(&self) -> &[u32] {
        &self.buckets
    }

    /// Returns the pairs as a batch of the documents of `parent`, without documents that are in no pair.
    ///
    /// # Errors
    /// There is not enough memory for it.
    pub fn batch<'e>(&'e mut self, parent: &Entries<'e>, bucket_count: usize) -> Result<Entries<'e>> {
        let of_each = |buckets: &'e [u32]| Ok(Entries { buckets: Some(buckets), bucket_count, ..*parent });
        if self.is_each {
            return of_each(&self.buckets);
        }
        let pair_bytes = size_of::<u32>() * self.entries.len();
        work::check_growth(0, size_of::<u32>() * self.positions.capacity(), pair_bytes)?;
        let is_strict = self.entries.windows(2).fold(true, |strict, pair| strict & (pair[0] < pair[1]));
        if is_strict && parent.positions.is_none() {
            if self.entries.len() == parent.docs.len() {
                return of_each(&self.buckets);
            }
            self.docs.clear();
            self.docs.extend(self.entries.iter().map(|&entry| parent.docs[entry as usize]));
            self.scores.clear();
            if !parent.scores.is_empty() {
                self.scores.extend(self.entries.iter().map(|&entry| parent.scores[entry as usize]));
            }
            return Ok(Entries {
                docs: &self.docs,
                positions: None,
                buckets: Some(&self.buckets),
                bucket: 0,
                bucket_count,
                scores: &self.scores,
            });
        }
        self.docs.clear();
        self.positions.clear();
        self.scores.clear();
        let mut last = u32::MAX;
        for &entry in &self.entries {
            let position = parent.positions.map_or(entry, |positions| positions[entry as usize]);
            if position != last {
                self.docs.push(parent.docs[position as usize]);
                self.scores.extend(parent.scores.get(position as usize));
                last = position;
            }
            self.positions.push(self.docs.len() as u32 - 1);
        }
        Ok(Entries {
            docs: &self.docs,
            positions: Some(&self.positions),
            buckets: Some(&self.buckets),
            bucket: 0,
            bucket_count,
            scores: &self.scores,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    /// Each of a thousand documents has a hundred values and is in a hundred buckets.
    fn product(calls_max: usize) -> (Result<()>, usize) {
        const MANY: u32 = 100;
        let docs: Vec<DocId> = (0..1_000).collect();
        let owners: Vec<u32> = docs.iter().flat_map(|&doc| std::iter::repeat_n(doc, MANY as usize)).collect();
        let buckets: Vec<u32> = docs.iter().flat_map(|_| 0..MANY).collect();
        let entries = Entries { positions: Some(&owners), buckets: Some(&buckets), ..Entries::of(&docs) };
        let numbers: Vec<i64> = (0..owners.len() as i64).collect();
        let values = Values { values: &numbers, positions: Some(&owners) };
        let mut calls = 0;
        let joined = values.try_join(&entries, &mut Vec::new(), |_, _, _| {
            calls += 1;
            match calls == calls_max {
                true => Err(crate::error::Error::Cancelled),
                false => Ok(()),
            }
        });
        (joined, calls)
    }

    #[test]
    fn a_join_ends_with_the_first_failure() {
        let (joined, calls) = product(777);
        assert!(joined.is_err());
        assert_eq!(calls, 777);
        assert_eq!(product(usize::MAX).1, 10_000_000);
    }

    #[test]
    fn a_join_ends_with_its_request() {
        let work = work::Work::default();
        work.cancelled.store(true, Ordering::Relaxed);
        let _entered = work.enter();
        let (joined, calls) = product(usize::MAX);
        assert!(joined.is_err());
        assert!(calls <= 2 * CALLS_BETWEEN_CHECKS, "{calls}");
    }
}
