//! (Bucket of the parent, place of a key) to bucket: one load a document, where keys have few places.

use super::entries::Entries;
use crate::aggregation::budget::Budget;
use crate::error::Result;

/// A place that was not met yet.
const UNKNOWN: u32 = u32::MAX;
/// A place that may have no bucket.
pub const REFUSED: u32 = u32::MAX - 1;

/// Most slots: 8 MiB of them.
const SLOTS_MAX: usize = 1 << 21;

/// Buckets met so far, in a row of slots for each parent.
#[derive(Debug, Default)]
pub struct KnownBuckets {
    /// Places of keys; 0: there are too many, or none.
    width: usize,
    slots: Vec<u32>,
    /// Slots that were charged.
    charged: usize,
}

impl KnownBuckets {
    /// Forgets all; keys have places below `width` from now on.
    pub fn begin(&mut self, width: usize) {
        self.width = if width <= SLOTS_MAX { width } else { 0 };
        self.slots.clear();
    }

    /// Makes room for the parents of a batch. False: there is none for so many.
    pub fn takes(&mut self, entries: &Entries<'_>, budget: &Budget) -> Result<bool> {
        let wanted = self.width.saturating_mul(entries.bucket_count);
        if self.width == 0 || wanted > SLOTS_MAX {
            return Ok(false);
        }
        if wanted > self.slots.len() {
            // Parents come one after the other: twice as many rows each time.
            let rows = wanted.max(self.slots.len() * 2).min(SLOTS_MAX) / self.width;
            let len = rows * self.width;
            budget.spend(len.saturating_sub(self.charged) as u64 * 4)?;
            self.charged = self.charged.max(len);
            self.slots.resize(len, UNKNOWN);
        }
        Ok(true)
    }

    /// Replaces `out` by the bucket of each place, [`REFUSED`] included. `places[i]` is of entry
    /// `positions[i]`, or of entry `i` where there is no list. `make(parent, place)` tells the bucket of a
    /// place that was not met; `None`: it may have none.
    pub fn look_up(
        &mut self,
        places: &[u32],
        positions: Option<&[u32]>,
        entries: &Entries<'_>,
        out: &mut Vec<u32>,
        mut make: impl FnMut(u32, u32) -> Result<Option<u32>>,
    ) -> Result<()> {
        let (width, slots) = (self.width, &mut self.slots);
        out.clear();
        match (entries.buckets, positions) {
            (None, _) => {
                let row = &slots[entries.bucket as usize * width..][..width];
                out.extend(places.iter().map(|&place| row[place as usize]));
            }
            (Some(parents), None) => {
                let slot = |(&place, &parent): (&u32, &u32)| slots[parent as usize * width + place as usize];
                out.extend(places.iter().zip(parents).map(slot));
            }
            (Some(parents), Some(positions)) => out.extend(
                places
                    .iter()
                    .zip(positions)
                    .map(|(&place, &entry)| slots[parents[entry as usize] as usize * width + place as usize]),
            ),
        }
        if out.iter().fold(false, |any, &bucket| any | (bucket == UNKNOWN)) {
            for (at, (bucket, &place)) in out.iter_mut().zip(places).enumerate() {
                if *bucket == UNKNOWN {
                    let entry = positions.map_or(at, |positions| positions[at] as usize);
                    let parent = entries.bucket(entry);
                    // It may have come in this very batch.
                    let slot = &mut slots[parent as usize * width + place as usize];
                    if *slot == UNKNOWN {
                        *slot = make(parent, place)?.unwrap_or(REFUSED);
                    }
                    *bucket = *slot;
                }
            }
        }
        Ok(())
    }
}
