//! (Bucket of the parent, key) to bucket: dense where the keys' range allows, hashed elsewhere.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

use super::budget::Budget;
use crate::error::Result;

/// Keys of a dense table: 1 MiB of slots.
const DENSE_KEY_COUNT_MAX: u64 = 1 << 18;

/// What one bucket costs: its entry here, a slot of the table, and its share of the sub-aggregations' arrays.
const BUCKET_BYTES: u64 = 128;

/// Buckets in order of their first document.
#[derive(Debug, Default)]
pub struct BucketTable {
    parents: Vec<u32>,
    keys: Vec<i64>,
    pub counts: Vec<u64>,
    dense: Option<Dense>,
    hashed: HashTable<u32>,
    hasher: FixedState,
}

/// Slots by `key - first`, of parent 0; 0 = none, otherwise bucket + 1.
#[derive(Debug)]
struct Dense {
    first: i64,
    slots: Vec<u32>,
}

impl BucketTable {
    /// A table for keys in `range` (both included), when that is known and narrow.
    pub fn with_range(range: Option<(i64, i64)>, budget: &Budget) -> Result<BucketTable> {
        let mut table = BucketTable::default();
        if let Some((first, last)) = range
            && first <= last
            && last.abs_diff(first) < DENSE_KEY_COUNT_MAX
        {
            let count = last.abs_diff(first) as usize + 1;
            budget.spend(count as u64 * 4)?;
            table.dense = Some(Dense { first, slots: vec![0; count] });
        }
        Ok(table)
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn key(&self, bucket: u32) -> i64 {
        self.keys[bucket as usize]
    }

    /// The bucket, made at the first call; its count stays as it is.
    #[inline]
    pub fn bucket(&mut self, parent: u32, key: i64, budget: &Budget) -> Result<u32> {
        if parent == 0
            && let Some(dense) = &mut self.dense
            && let Some(slot) = dense.slots.get_mut(key.wrapping_sub(dense.first) as usize)
        {
            if *slot != 0 {
                return Ok(*slot - 1);
            }
            *slot = self.keys.len() as u32 + 1;
            return self.add(parent, key, budget);
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

    /// The buckets of each of `parents`, in order of creation.
    pub fn by_parent(&self, parents: &[u32]) -> Vec<Vec<u32>> {
        if let [parent] = parents {
            let own = |bucket: &u32| self.parents[*bucket as usize] == *parent;
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
            {
                lists[place as usize].push(bucket as u32);
            }
        }
        lists
    }
}
