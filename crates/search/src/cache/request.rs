//! Answers of shards by request: "did this shard answer that already, as it is now?"
//!
//! Source: Elasticsearch's `IndicesRequestCache` and `IndicesService#canCache`.

use std::sync::{Arc, Weak};

use limber_mapping::Mapping;
use limber_store::sync::Mutex;
use limber_store::{Charge, Pool};
use lru::LruCache;

use super::{CacheCounters, ShardCaches};
use crate::aggregation::ShardAggregations;
use crate::collect::{BoundSort, Hit};
use crate::context::{SearchContext, ShardPlace, ShardSettings, ShardSnapshot};
use crate::request::SearchRequest;

/// What a shard answered to the query phase.
#[derive(Debug)]
pub(crate) struct CachedAnswer {
    pub hits: Vec<Hit>,
    pub sorts: Vec<BoundSort>,
    pub total: u64,
    pub is_lower_bound: bool,
    pub max_score: f32,
    pub terminated_early: bool,
    pub aggregations: Option<ShardAggregations>,
    /// About what the answer takes.
    pub bytes: u64,
}

/// All that an answer depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    shard_uid: u64,
    version: u64,
    /// Addresses, which [`Entry`] keeps from being used again.
    mapping: usize,
    settings: usize,
    max_buckets: u32,
    boost_bits: u32,
    /// Where the shard's place among the others decides.
    place: Option<ShardPlace>,
    request: Arc<[u8]>,
}

#[derive(Debug)]
struct Entry {
    answer: Arc<CachedAnswer>,
    counters: Arc<CacheCounters>,
    charge: Charge,
    _mapping: Weak<Mapping>,
    _settings: Weak<ShardSettings>,
}

/// The request cache of a node: least recently used answers go first.
#[derive(Debug)]
pub struct RequestCache {
    pool: Arc<Pool>,
    entries: Mutex<LruCache<Key, Entry>>,
}

/// Of an entry beside its answer and its request.
const ENTRY_BYTES: u64 = (size_of::<Key>() + size_of::<Entry>() + size_of::<CachedAnswer>() + 64) as u64;

impl RequestCache {
    /// `pool`: its limit is the cache's.
    pub fn new(pool: Arc<Pool>) -> RequestCache {
        RequestCache { pool, entries: Mutex::new(LruCache::unbounded()) }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.lock().is_empty()
    }

    /// Drops the answers of shards, by uid and version, that are not to be kept.
    pub fn retain(&self, is_kept: impl Fn(u64, u64) -> bool) {
        let mut entries = self.entries.lock();
        let is_gone = |key: &&Key| !is_kept(key.shard_uid, key.version);
        let gone: Vec<Key> = entries.iter().map(|(key, _)| key).filter(is_gone).cloned().collect();
        for key in gone {
            if let Some(entry) = entries.pop(&key) {
                entry.counters.requests.remove(entry.charge.bytes(), false);
            }
        }
    }

    fn get(&self, key: &Key) -> Option<Arc<CachedAnswer>> {
        self.entries.lock().get(key).map(|entry| entry.answer.clone())
    }

    fn put(&self, key: Key, answer: CachedAnswer, shard: &ShardSnapshot, counters: &Arc<CacheCounters>) {
        let bytes = ENTRY_BYTES + key.request.len() as u64 + answer.bytes;
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
        let entry = Entry {
            answer: Arc::new(answer),
            counters: counters.clone(),
            charge,
            _mapping: Arc::downgrade(&shard.mapping),
            _settings: Arc::downgrade(&shard.settings),
        };
        counters.requests.add(bytes);
        if let Some(before) = entries.put(key, entry) {
            before.counters.requests.remove(before.charge.bytes(), false);
        }
    }
}

/// Whether the runtime fields of a mapping depend on the documents alone.
fn has_timeless_fields(mapping: &Mapping) -> bool {
    mapping
        .runtime_fields()
        .filter_map(|field| field.runtime.as_ref()?.script.as_ref())
        .all(super::is_deterministic)
}

/// One search of one shard, which may be answered from the cache.
pub(crate) struct RequestUse<'s> {
    shard: &'s ShardSnapshot,
    caches: &'s ShardCaches,
    key: Key,
}

impl<'s> RequestUse<'s> {
    /// `None`: this request is not kept.
    pub fn of(
        shard: &'s ShardSnapshot,
        place: ShardPlace,
        request: &SearchRequest,
        context: &SearchContext,
    ) -> Option<RequestUse<'s>> {
        let caches = shard.caches.as_ref()?;
        let is_wanted = request.request_cache.unwrap_or(caches.keeps_requests && request.size() == 0);
        let is_whole = request.named_documents.is_empty() && !request.counts_all_shards && !request.profile;
        let bytes = request.cache_key.as_ref().filter(|_| is_wanted && is_whole)?;
        // What was kept of a damaged segment may have been read from what is damaged.
        if shard.segments.iter().any(|view| view.segment.is_damaged()) {
            return None;
        }
        // A mapping of the request's own is never met again.
        if !request.runtime_mappings.is_empty() || !has_timeless_fields(&shard.mapping) {
            return None;
        }
        let boost = request.index_boosts.get(&shard.index.uuid).copied().unwrap_or(1.0);
        let needs_place = request.slice.is_some() || !request.sort.is_empty();
        let key = Key {
            shard_uid: caches.shard_uid,
            version: caches.version,
            mapping: Arc::as_ptr(&shard.mapping) as usize,
            settings: Arc::as_ptr(&shard.settings) as usize,
            max_buckets: context.max_buckets,
            boost_bits: boost.to_bits(),
            place: needs_place.then_some(place),
            request: bytes.clone(),
        };
        Some(RequestUse { shard, caches, key })
    }

    pub fn get(&self) -> Option<Arc<CachedAnswer>> {
        let found = self.caches.requests.get(&self.key);
        self.caches.counters.requests.looked_up(found.is_some());
        found
    }

    pub fn put(self, answer: CachedAnswer) {
        self.caches.requests.put(self.key, answer, self.shard, &self.caches.counters);
    }
}
