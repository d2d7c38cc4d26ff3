//! Maps (parent bucket, key index) to a bucket with one load per document. A key index is a number that
//! identifies a key and is small enough for an array, such as an ordinal.

use super::entries::Entries;
use crate::aggregation::budget::Budget;
use crate::error::Result;

/// Marks a key index that has not occurred yet.
const UNKNOWN: u32 = u32::MAX;
/// Marks a key index that must not have a bucket.
pub const REFUSED: u32 = u32::MAX - 1;

/// Largest number of slots, which take 8 MiB.
const SLOTS_MAX: usize = 1 << 21;

/// The buckets of a parent whose key indexes were all given buckets at once.
#[derive(Debug, Clone, Copy, Default)]
enum Reserved {
    #[default]
    Untried,
    /// The bucket of key index `i` of this parent is `first + i`.
    Run { parent: u32, first: u32 },
    /// The buckets are in no order, or there are none.
    Unordered,
}

/// The buckets that have occurred so far: a row of slots for each parent.
#[derive(Debug, Default)]
pub struct KnownBuckets {
    reserved: Reserved,
    /// The number of key indexes; 0 if there are none or too many.
    width: usize,
    slots: Vec<u32>,
    /// The number of slots whose memory was charged.
    charged: usize,
}

impl KnownBuckets {
    /// Forgets everything; from now on keys have key indexes below `width`.
    pub fn begin(&mut self, width: usize) {
        self.width = if width <= SLOTS_MAX { width } else { 0 };
        self.slots.clear();
        self.reserved = Reserved::Untried;
    }

    /// Makes buckets for all key indexes of the batch's only parent, if there are at most as many as entries.
    /// Returns the bucket of key index 0 if those of the others follow it in order. `make` as in
    /// [`Self::look_up`].
    pub fn reserve(
        &mut self,
        entries: &Entries<'_>,
        mut make: impl FnMut(u32, u32) -> Result<Option<u32>>,
    ) -> Result<Option<u32>> {
        let Some(parent) = entries.only_bucket() else { return Ok(None) };
        if matches!(self.reserved, Reserved::Untried) {
            self.reserved = Reserved::Unordered;
            if self.width > entries.len() {
                return Ok(None);
            }
            let (mut is_run, mut first) = (true, None);
            let row = &mut self.slots[parent as usize * self.width..][..self.width];
            for (key_index, slot) in (0..).zip(row) {
                *slot = make(parent, key_index)?.unwrap_or(REFUSED);
                let first = *first.get_or_insert(*slot);
                is_run &= *slot != REFUSED && *slot == first.wrapping_add(key_index);
            }
            if let Some(first) = first.filter(|_| is_run) {
                self.reserved = Reserved::Run { parent, first };
            }
        }
        Ok(match self.reserved {
            Reserved::Run { parent: known, first } if known == parent => Some(first),
            _ => None,
        })
    }

    /// Makes rows for the parents of a batch. Returns false if there would be too many slots.
    pub fn takes(&mut self, entries: &Entries<'_>, budget: &Budget) -> Result<bool> {
        let wanted = self.width.saturating_mul(entries.bucket_count);
        if self.width == 0 || wanted > SLOTS_MAX {
            return Ok(false);
        }
        if wanted > self.slots.len() {
            // Parents appear gradually, so the number of rows doubles each time.
            let rows = wanted.max(self.slots.len() * 2).min(SLOTS_MAX) / self.width;
            let len = rows * self.width;
            budget.spend(len.saturating_sub(self.charged) as u64 * 4)?;
            self.charged = self.charged.max(len);
            self.slots.resize(len, UNKNOWN);
        }
        Ok(true)
    }

    /// Replaces the contents of `out` by the bucket of each key index, or [`REFUSED`]; returns whether there
    /// is any such. `key_indexes[i]` belongs to entry `positions[i]`, or to entry `i` without `positions`.
    /// `make(parent, key_index)` returns the bucket of a new key index, or `None` if it must not have one.
    pub fn look_up(
        &mut self,
        key_indexes: &[u32],
        positions: Option<&[u32]>,
        entries: &Entries<'_>,
        out: &mut Vec<u32>,
        mut make: impl FnMut(u32, u32) -> Result<Option<u32>>,
    ) -> Result<bool> {
        let (width, slots) = (self.width, &mut self.slots);
        // Buckets are below the two marks, which alone have the highest bit.
        let mut all = 0;
        let mut noted = |bucket: u32| {
            all |= bucket;
            bucket
        };
        out.clear();
        match (entries.buckets, positions) {
            (None, _) => {
                let row = &slots[entries.bucket as usize * width..][..width];
                out.extend(key_indexes.iter().map(|&key_index| noted(row[key_index as usize])));
            }
            (Some(parents), None) => {
                let slot = |(&key_index, &parent): (&u32, &u32)| {
                    noted(slots[parent as usize * width + key_index as usize])
                };
                out.extend(key_indexes.iter().zip(parents).map(slot));
            }
            (Some(parents), Some(positions)) => {
                out.extend(key_indexes.iter().zip(positions).map(|(&key_index, &entry)| {
                    noted(slots[parents[entry as usize] as usize * width + key_index as usize])
                }))
            }
        }
        let mut has_refused = false;
        if all > u32::MAX / 2 {
            for (at, (bucket, &key_index)) in out.iter_mut().zip(key_indexes).enumerate() {
                if *bucket == UNKNOWN {
                    let entry = positions.map_or(at, |positions| positions[at] as usize);
                    let parent = entries.bucket(entry);
                    // An earlier entry of this batch may have added the bucket.
                    let slot = &mut slots[parent as usize * width + key_index as usize];
                    if *slot == UNKNOWN {
                        *slot = make(parent, key_index)?.unwrap_or(REFUSED);
                    }
                    *bucket = *slot;
                }
                has_refused |= *bucket == REFUSED;
            }
        }
        Ok(has_refused)
    }
}
