//! Answers of shards by request: "has this shard, in its present state, answered that before?"
//!
//! The cache treats answers as opaque; only its callers know their type.
//!
//! Source: Elasticsearch's `IndicesRequestCache` and `IndicesService#canCache`.

use std::any::Any;
use std::sync::{Arc, Weak};

use limber_store::sync::Mutex;
use limber_store::{Charge, Pool};
use lru::LruCache;

use super::CacheCounters;

/// An answer as the cache stores it.
pub(crate) type KeptAnswer = Arc<dyn Any + Send + Sync>;

/// Everything that an answer depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RequestKey {
    pub shard_uid: u64,
    pub version: u64,
    /// Addresses of the mapping and of the index's settings. A key is put with weak references to both
    /// ([`RequestCache::put`]), which keep the addresses from being used again.
    pub mapping: usize,
    pub settings: usize,
    pub max_buckets: u32,
    pub boost_bits: u32,
    /// The shard's index and the number of shards, if the answer depends on them.
    pub place: Option<(u32, u32)>,
    pub request: Arc<[u8]>,
}

#[derive(Debug)]
struct Entry {
    answer: KeptAnswer,
    counters: Arc<CacheCounters>,
    charge: Charge,
    _addresses: [Weak<dyn Any + Send + Sync>; 2],
}

/// The request cache of a node; evicts the least recently used answers first.
#[derive(Debug)]
pub struct RequestCache {
    pool: Arc<Pool>,
    entries: Mutex<LruCache<RequestKey, Entry>>,
}

/// Bytes of an entry besides its answer and its request.
const ENTRY_BYTES: u64 = (size_of::<RequestKey>() + size_of::<Entry>() + 64) as u64;

impl RequestCache {
    /// Creates a cache that is limited by `pool`.
    pub fn new(pool: Arc<Pool>) -> RequestCache {
        RequestCache { pool, entries: Mutex::new(LruCache::unbounded()) }
    }

    /// Whether the cache has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.lock().is_empty()
    }

    /// Returns the number of kept answers.
    pub fn len(&self) -> usize {
        self.entries.lock().len()
    }

    /// Drops the answers for whose shard uid and version `is_kept` returns `false`.
    pub fn retain(&self, is_kept: impl Fn(u64, u64) -> bool) {
        let mut entries = self.entries.lock();
        let is_gone = |key: &&RequestKey| !is_kept(key.shard_uid, key.version);
        let gone: Vec<RequestKey> = entries.iter().map(|(key, _)| key).filter(is_gone).cloned().collect();
        for key in gone {
            if let Some(entry) = entries.pop(&key) {
                entry.counters.requests.remove(entry.charge.bytes(), false);
            }
        }
    }

    /// Returns the answer that was put under this key.
    pub(crate) fn get(&self, key: &RequestKey) -> Option<KeptAnswer> {
        self.entries.lock().get(key).map(|entry| entry.answer.clone())
    }

    /// Caches an answer of `answer_bytes`, if there is room for it. `addresses`: the mapping and the
    /// settings whose addresses are in the key.
    pub(crate) fn put(
        &self,
        key: RequestKey,
        (answer, answer_bytes): (KeptAnswer, u64),
        addresses: [Weak<dyn Any + Send + Sync>; 2],
        counters: &Arc<CacheCounters>,
    ) {
        let bytes = ENTRY_BYTES + key.request.len() as u64 + answer_bytes;
        let mut entries = self.entries.lock();
        let charge = loop {
            match self.pool.try_charge(bytes) {
                Some(charge) => break charge,
                None if bytes > self.pool.limit_bytes() => return,
                None => match entries.pop_lru() {
                    Some((_, entry)) => entry.counters.requests.remove(entry.charge.bytes(), true),
                    None => return,
                },
            }
        };
        let entry = Entry { answer, counters: counters.clone(), charge, _addresses: addresses };
        counters.requests.add(bytes);
        if let Some(before) = entries.put(key, entry) {
            before.counters.requests.remove(before.charge.bytes(), false);
        }
    }
}
