//! Answers of shards by request: "did this shard answer that already, as it is now?"
//!
//! The cache does not look into answers: whoever asks a shard knows their form.
//!
//! Source: Elasticsearch's `IndicesRequestCache` and `IndicesService#canCache`.

use std::any::Any;
use std::sync::{Arc, Weak};

use limber_store::sync::Mutex;
use limber_store::{Charge, Pool};
use lru::LruCache;

use super::CacheCounters;

/// An answer as the cache holds it.
pub(crate) type KeptAnswer = Arc<dyn Any + Send + Sync>;

/// All that an answer depends on.
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
    /// Where the shard's place among the others decides: its index, and how many there are.
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

/// The request cache of a node: least recently used answers go first.
#[derive(Debug)]
pub struct RequestCache {
    pool: Arc<Pool>,
    entries: Mutex<LruCache<RequestKey, Entry>>,
}

/// Of an entry beside its answer and its request.
const ENTRY_BYTES: u64 = (size_of::<RequestKey>() + size_of::<Entry>() + 64) as u64;

impl RequestCache {
    /// `pool`: its limit is the cache's.
    pub fn new(pool: Arc<Pool>) -> RequestCache {
        RequestCache { pool, entries: Mutex::new(LruCache::unbounded()) }
    }

    /// Whether it keeps nothing.
    pub fn is_empty(&self) -> bool {
        self.entries.lock().is_empty()
    }

    /// Drops the answers of shards, by uid and version, that are not to be kept.
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

    /// The answer that was put under this key.
    pub(crate) fn get(&self, key: &RequestKey) -> Option<KeptAnswer> {
        self.entries.lock().get(key).map(|entry| entry.answer.clone())
    }

    /// Keeps an answer that takes `answer_bytes`, where there is room for it. `addresses`: of the mapping and
    /// the settings that the key names.
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
