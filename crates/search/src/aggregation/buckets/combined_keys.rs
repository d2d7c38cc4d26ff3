//! Finds combinations of the keys of several fields, which are given by their key indexes (see
//! [`super::known_buckets`]). Starting from the parent bucket, (combination so far, key index in the next
//! field) is looked up field by field, with one load each.

use super::entries::Entries;
use super::known_buckets::KnownBuckets;
use crate::aggregation::budget::Budget;
use crate::error::Result;

/// The combinations of the first fields, up to and including one.
#[derive(Debug, Default)]
struct Level {
    known: KnownBuckets,
    /// For each combination: the combination of the preceding fields (for the first field: the parent
    /// bucket), and the key index in this field.
    origins: Vec<(u32, u32)>,
    /// The combinations of the current batch.
    combinations: Vec<u32>,
}

/// Numbers the combinations of key indexes. Each document has exactly one key in every field.
#[derive(Debug, Default)]
pub struct CombinedKeys {
    levels: Vec<Level>,
    /// The key indexes of the combination that is being made.
    key_indexes: Vec<u32>,
}

impl CombinedKeys {
    /// Forgets everything. From now on the key indexes of the fields are below `widths`; 0 means that a field
    /// has no key indexes.
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

    /// Returns the number of each document's combination, or [`super::known_buckets::REFUSED`].
    /// `key_indexes[f]` has the key indexes in field `f`, in the order of the entries.
    /// `make(parent, key_indexes)` returns the number of a new combination, or `None` if the combination is
    /// refused. The result is `None` if there are too many combinations.
    pub fn look_up(
        &mut self,
        key_indexes: &[Vec<u32>],
        entries: &Entries<'_>,
        budget: &Budget,
        mut make: impl FnMut(u32, &[u32]) -> Result<Option<u32>>,
    ) -> Result<Option<&[u32]>> {
        let Some(last) = self.levels.len().checked_sub(1) else { return Ok(None) };
        for (at, key_indexes) in key_indexes.iter().enumerate() {
            let (before, rest) = self.levels.split_at_mut(at);
            let (level, made_of) = (&mut rest[0], &mut self.key_indexes);
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
            known.look_up(key_indexes, None, &parents, combinations, |parent, key_index| {
                if at < last {
                    budget.spend(size_of::<(u32, u32)>() as u64)?;
                    origins.push((parent, key_index));
                    return Ok(Some(origins.len() as u32 - 1));
                }
                made_of.clear();
                made_of.push(key_index);
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
