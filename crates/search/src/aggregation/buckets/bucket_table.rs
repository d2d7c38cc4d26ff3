//! Maps (parent bucket, key) to a bucket: with an array where the range of keys is small enough, otherwise
//! with a hash table.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

use crate::aggregation::budget::Budget;
use crate::error::Result;

/// Largest number of slots of the array, which then has 8 MiB.
const SLOT_COUNT_MAX: u64 = 1 << 21;

/// Number of counters in [`BucketTable::count`] that adjacent documents take in turn, and the number of
/// documents per bucket from which this pays off.
const LANES: usize = 4;
const DOCS_PER_BUCKET_OF_LANES: usize = 32;

/// Estimated bytes of one bucket: its entry here, a slot of the table, and its share of the sub-aggregations'
/// arrays.
const BUCKET_BYTES: u64 = 128;

/// Buckets in the order in which they first occurred.
#[derive(Debug, Default)]
pub struct BucketTable {
    parents: Vec<u32>,
    keys: Vec<i64>,
    pub counts: Vec<u64>,
    /// Whether buckets without documents are left out of lists of buckets.
    pub omits_empty: bool,
    dense: Option<Dense>,
    hashed: HashTable<u32>,
    hasher: FixedState,
    /// Counters of [`BucketTable::count`], one lane after the other.
    lanes: Vec<u32>,
}

/// The slot of a key is `parent * width + key - first`. It holds the bucket plus 1, or 0 if there is no
/// bucket. Parents whose slots would exceed the limit are hashed.
#[derive(Debug)]
struct Dense {
    first: i64,
    width: u64,
    slots: Vec<u32>,
}

impl BucketTable {
    /// Makes a table for keys in `range` (both ends included), where that is known and small.
    pub fn with_range(range: Option<(i64, i64)>, budget: &Budget) -> Result<BucketTable> {
        let mut table = BucketTable::default();
        if let Some((first, last)) = range
            && first <= last
            && last.abs_diff(first) < SLOT_COUNT_MAX
        {
            let width = last.abs_diff(first) + 1;
            budget.spend(width * 4)?;
            table.dense = Some(Dense { first, width, slots: vec![0; width as usize] });
        }
        Ok(table)
    }

    /// Counts one document in each of `buckets`. With several lanes, adjacent documents of one bucket do not
    /// wait for each other's store.
    pub fn count(&mut self, buckets: &[u32]) {
        let len = self.len();
        let counts = &mut self.counts;
        if len == 0 || buckets.len() < len * DOCS_PER_BUCKET_OF_LANES {
            buckets.iter().for_each(|&bucket| counts[bucket as usize] += 1);
            return;
        }
        self.lanes.clear();
        self.lanes.resize(len * LANES, 0);
        let (chunks, rest) = buckets.as_chunks::<LANES>();
        for chunk in chunks {
            for (lane, &bucket) in chunk.iter().enumerate() {
                self.lanes[lane * len + bucket as usize] += 1;
            }
        }
        rest.iter().for_each(|&bucket| self.lanes[bucket as usize] += 1);
        for lane in self.lanes.chunks_exact(len) {
            counts.iter_mut().zip(lane).for_each(|(count, &part)| *count += u64::from(part));
        }
    }

    /// Adds the buckets of another table: its parent `p` is `parent_of[p]` here, and a key becomes
    /// `key_of(key)`. Returns this table's bucket for each of the other's.
    pub fn absorb(
        &mut self,
        other: &BucketTable,
        parent_of: &[u32],
        mut key_of: impl FnMut(i64) -> Result<i64>,
        budget: &Budget,
    ) -> Result<Vec<u32>> {
        self.omits_empty |= other.omits_empty;
        let mut buckets = Vec::with_capacity(other.len());
        for ((&parent, &key), count) in other.parents.iter().zip(&other.keys).zip(&other.counts) {
            let bucket = self.bucket(parent_of[parent as usize], key_of(key)?, budget)?;
            self.counts[bucket as usize] += count;
            buckets.push(bucket);
        }
        Ok(buckets)
    }

    /// Returns a table with the same buckets under other keys.
    pub fn with_keys(
        &self,
        mut key_of: impl FnMut(i64) -> Result<i64>,
        budget: &Budget,
    ) -> Result<BucketTable> {
        let mut table = BucketTable { omits_empty: self.omits_empty, ..BucketTable::default() };
        for (&parent, &key) in self.parents.iter().zip(&self.keys) {
            table.bucket(parent, key_of(key)?, budget)?;
        }
        table.counts.clone_from(&self.counts);
        Ok(table)
    }

    /// Returns the number of buckets.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the key of a bucket. Panics if there is no such bucket.
    pub fn key(&self, bucket: u32) -> i64 {
        self.keys[bucket as usize]
    }

    /// Returns the bucket of a key, and makes it if it is new. The document count does not change.
    #[inline]
    pub fn bucket(&mut self, parent: u32, key: i64, budget: &Budget) -> Result<u32> {
        if let Some(dense) = &mut self.dense {
            let place = key.wrapping_sub(dense.first) as u64;
            let slot = u64::from(parent) * dense.width + place;
            if place < dense.width && slot < SLOT_COUNT_MAX {
                if slot >= dense.slots.len() as u64 {
                    // Grows by whole rows, to twice what is needed.
                    let rows = (u64::from(parent) + 1) * 2;
                    let wanted = (rows * dense.width).min(SLOT_COUNT_MAX) as usize;
                    budget.spend((wanted - dense.slots.len()) as u64 * 4)?;
                    dense.slots.resize(wanted, 0);
                }
                let slot = &mut dense.slots[slot as usize];
                if *slot != 0 {
                    return Ok(*slot - 1);
                }
                *slot = self.keys.len() as u32 + 1;
                return self.add(parent, key, budget);
            }
        }
        self.hashed_bucket(parent, key, budget)
    }

    fn hashed_bucket(&mut self, parent: u32, key: i64, budget: &Budget) -> Result<u32> {
        let hash = self.hasher.hash_one((parent, key));
        let (parents, keys) = (&self.parents, &self.keys);
        let is_it = |&bucket: &u32| keys[bucket as usize] == key && parents[bucket as usize] == parent;
        if let Some(&bucket) = self.hashed.find(hash, is_it) {
            return Ok(bucket);
        }
        let bucket = self.add(parent, key, budget)?;
        let (parents, keys, hasher) = (&self.parents, &self.keys, &self.hasher);
        self.hashed.insert_unique(hash, bucket, |&bucket| {
            hasher.hash_one((parents[bucket as usize], keys[bucket as usize]))
        });
        Ok(bucket)
    }

    fn add(&mut self, parent: u32, key: i64, budget: &Budget) -> Result<u32> {
        budget.spend(BUCKET_BYTES)?;
        let bucket = self.keys.len() as u32;
        self.parents.push(parent);
        self.keys.push(key);
        self.counts.push(0);
        Ok(bucket)
    }

    /// Returns the buckets of each of `parents`, in order of creation.
    pub fn by_parent(&self, parents: &[u32]) -> Vec<Vec<u32>> {
        let is_shown = |bucket: usize| !self.omits_empty || self.counts[bucket] > 0;
        if let [parent] = parents {
            let own = |bucket: &u32| self.parents[*bucket as usize] == *parent && is_shown(*bucket as usize);
            return vec![(0..self.len() as u32).filter(own).collect()];
        }
        let most = parents.iter().copied().max().map_or(0, |most| most as usize + 1);
        let mut places = vec![u32::MAX; most];
        for (place, &parent) in parents.iter().enumerate() {
            places[parent as usize] = place as u32;
        }
        let mut lists = vec![Vec::new(); parents.len()];
        for (bucket, &parent) in self.parents.iter().enumerate() {
            if let Some(&place) = places.get(parent as usize)
                && place != u32::MAX
                && is_shown(bucket)
            {
                lists[place as usize].push(bucket as u32);
            }
        }
        lists
    }
}
