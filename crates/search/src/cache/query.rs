//! Documents of filters by segment: "which documents of this segment did that filter match?"
//!
//! Source: Lucene's `LRUQueryCache` and `UsageTrackingQueryCachingPolicy`: frequent filters are cached, for
//! segments that are large both absolutely and relative to the shard.

use std::sync::Arc;

use limber_codec::hash64::hash64;
use limber_segment::SegmentId;
use limber_store::sync::Mutex;
use limber_store::{Charge, Pool};
use lru::LruCache;

use super::usage::Usage;
use super::{CacheCounters, FilterSet};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    shard_uid: u64,
    segment: SegmentId,
    filter: Arc<[u8]>,
}

#[derive(Debug)]
struct Entry {
    set: Arc<FilterSet>,
    counters: Arc<CacheCounters>,
    charge: Charge,
}

/// The query cache of a node; evicts the least recently used sets first.
#[derive(Debug)]
pub struct QueryCache {
    pool: Arc<Pool>,
    usage: Mutex<Usage>,
    entries: Mutex<LruCache<Key, Entry>>,
}

/// Bytes of an entry besides its set and the bytes of its key.
const ENTRY_BYTES: u64 = (size_of::<Key>() + size_of::<Entry>() + size_of::<FilterSet>() + 64) as u64;

/// Maximum number of sets that are kept, however small they are. Source: `indices.queries.cache.count`,
/// default 10,000 filters, each for several segments.
const ENTRIES_MAX: usize = 100_000;

impl QueryCache {
    /// Creates a cache that is limited by `pool`.
    pub fn new(pool: Arc<Pool>) -> QueryCache {
        QueryCache { pool, usage: Mutex::default(), entries: Mutex::new(LruCache::unbounded()) }
    }

    /// Whether the cache has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.lock().is_empty()
    }

    /// Drops the sets for whose shard uid and segment `is_kept` returns `false`.
    pub fn retain(&self, is_kept: impl Fn(u64, SegmentId) -> bool) {
        let mut entries = self.entries.lock();
        let is_gone = |key: &&Key| !is_kept(key.shard_uid, key.segment);
        let gone: Vec<Key> = entries.iter().map(|(key, _)| key).filter(is_gone).cloned().collect();
        for key in gone {
            if let Some(entry) = entries.pop(&key) {
                entry.counters.queries.remove(entry.charge.bytes(), true);
            }
        }
    }

    /// Records a use of a filter; returns how often it was used recently.
    pub(super) fn note(&self, filter: &[u8]) -> u32 {
        self.usage.lock().note(hash64(filter))
    }

    pub(super) fn get(
        &self,
        shard_uid: u64,
        segment: SegmentId,
        filter: &Arc<[u8]>,
    ) -> Option<Arc<FilterSet>> {
        let key = Key { shard_uid, segment, filter: filter.clone() };
        self.entries.lock().get(&key).map(|entry| entry.set.clone())
    }

    pub(super) fn put(
        &self,
        shard_uid: u64,
        segment: SegmentId,
        filter: &Arc<[u8]>,
        set: &Arc<FilterSet>,
        counters: &Arc<CacheCounters>,
    ) {
        let bytes = ENTRY_BYTES + filter.len() as u64 + set.bytes();
        let mut entries = self.entries.lock();
        let make_room = |entries: &mut LruCache<Key, Entry>| match entries.pop_lru() {
            Some((_, entry)) => {
                entry.counters.queries.remove(entry.charge.bytes(), true);
                true
            }
            None => false,
        };
        let charge = loop {
            match self.pool.try_charge(bytes) {
                Some(charge) => break charge,
                None if bytes > self.pool.limit_bytes() || !make_room(&mut entries) => return,
                None => {}
            }
        };
        while entries.len() >= ENTRIES_MAX {
            make_room(&mut entries);
        }
        let entry = Entry { set: set.clone(), counters: counters.clone(), charge };
        counters.queries.add(bytes);
        let key = Key { shard_uid, segment, filter: filter.clone() };
        if let Some(before) = entries.put(key, entry) {
            before.counters.queries.remove(before.charge.bytes(), false);
        }
    }
}
