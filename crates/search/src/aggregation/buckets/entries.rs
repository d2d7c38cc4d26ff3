//! The batches that collectors get: documents, and the bucket that each belongs to.

use limber_segment::DocId;

use crate::error::Result;

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
    #[inline]
    pub fn join(&self, entries: &Entries<'_>, starts: &mut Vec<u32>, mut each: impl FnMut(usize, u32, T)) {
        match (self.positions, entries.positions) {
            (None, None) => match entries.buckets {
                None => {
                    let bucket = entries.bucket;
                    self.values.iter().enumerate().for_each(|(entry, &value)| each(entry, bucket, value));
                }
                Some(buckets) => {
                    for (entry, (&value, &bucket)) in self.values.iter().zip(buckets).enumerate() {
                        each(entry, bucket, value);
                    }
                }
            },
            (Some(positions), None) => {
                for (&value, &position) in self.values.iter().zip(positions) {
                    let entry = position as usize;
                    each(entry, entries.bucket(entry), value);
                }
            }
            (None, Some(positions)) => {
                for (entry, &position) in positions.iter().enumerate() {
                    each(entry, entries.bucket(entry), self.values[position as usize]);
                }
            }
            (Some(owners), Some(positions)) => {
                ranges(owners, entries.docs.len(), starts);
                for (entry, &position) in positions.iter().enumerate() {
                    let (start, end) = (starts[position as usize], starts[position as usize + 1]);
                    for &value in &self.values[start as usize..end as usize] {
                        each(entry, entries.bucket(entry), value);
                    }
                }
            }
        }
    }
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
    #[inline]
    pub fn push(&mut self, entry: usize, bucket: u32) {
        self.entries.push(entry as u32);
        self.buckets.push(bucket);
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
    pub fn batch<'e>(&'e mut self, parent: &Entries<'e>, bucket_count: usize) -> Entries<'e> {
        let of_each = |buckets: &'e [u32]| Entries { buckets: Some(buckets), bucket_count, ..*parent };
        if self.is_each {
            return of_each(&self.buckets);
        }
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
            return Entries {
                docs: &self.docs,
                positions: None,
                buckets: Some(&self.buckets),
                bucket: 0,
                bucket_count,
                scores: &self.scores,
            };
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
        Entries {
            docs: &self.docs,
            positions: Some(&self.positions),
            buckets: Some(&self.buckets),
            bucket: 0,
            bucket_count,
            scores: &self.scores,
        }
    }
}
