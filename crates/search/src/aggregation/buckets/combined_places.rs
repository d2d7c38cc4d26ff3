//! Combinations of several fields' keys: each field's key has a place among few, and (combination so far,
//! place) leads to the next combination by one load, field after field.

use super::entries::Entries;
use super::known_buckets::KnownBuckets;
use crate::aggregation::budget::Budget;
use crate::error::Result;

/// The combinations of the fields up to one.
#[derive(Debug, Default)]
struct Level {
    known: KnownBuckets,
    /// Of each combination: that of the fields before (of the first field the bucket of the parent), and the
    /// place.
    origins: Vec<(u32, u32)>,
    /// Of the batch at hand.
    combinations: Vec<u32>,
}

/// Combinations of places by number. Documents have one key of every field.
#[derive(Debug, Default)]
pub struct CombinedPlaces {
    levels: Vec<Level>,
    /// Of the combination that is made.
    places: Vec<u32>,
}

impl CombinedPlaces {
    /// Forgets all: the fields' keys have places below `widths` from now on; 0: they have none.
    pub fn begin(&mut self, widths: impl Iterator<Item = usize>) {
        let mut count = 0;
        for width in widths {
            if count == self.levels.len() {
                self.levels.push(Level::default());
            }
            let level = &mut self.levels[count];
            level.known.begin(width);
            level.origins.clear();
            count += 1;
        }
        self.levels.truncate(count);
    }

    /// The number of each document's combination, [`super::known_buckets::REFUSED`] included; `places[f]` are
    /// those of field `f`, in the order of the entries. `make(parent, places)` gives the number of a
    /// combination that was not met; `None`: it has none. Answers `None` where there are too many
    /// combinations.
    pub fn look_up(
        &mut self,
        places: &[Vec<u32>],
        entries: &Entries<'_>,
        budget: &Budget,
        mut make: impl FnMut(u32, &[u32]) -> Result<Option<u32>>,
    ) -> Result<Option<&[u32]>> {
        let Some(last) = self.levels.len().checked_sub(1) else { return Ok(None) };
        for (at, places) in places.iter().enumerate() {
            let (before, rest) = self.levels.split_at_mut(at);
            let (level, made_of) = (&mut rest[0], &mut self.places);
            let parents = match before.last() {
                Some(before) => Entries {
                    buckets: Some(&before.combinations),
                    bucket: 0,
                    bucket_count: before.origins.len(),
                    ..*entries
                },
                None => *entries,
            };
            let Level { known, origins, combinations } = level;
            if !known.takes(&parents, budget)? {
                return Ok(None);
            }
            known.look_up(places, None, &parents, combinations, |parent, place| {
                if at < last {
                    budget.spend(size_of::<(u32, u32)>() as u64)?;
                    origins.push((parent, place));
                    return Ok(Some(origins.len() as u32 - 1));
                }
                made_of.clear();
                made_of.push(place);
                let mut parent = parent;
                for before in before.iter().rev() {
                    let origin = before.origins[parent as usize];
                    made_of.push(origin.1);
                    parent = origin.0;
                }
                made_of.reverse();
                make(parent, made_of)
            })?;
        }
        Ok(Some(&self.levels[last].combinations))
    }
}
