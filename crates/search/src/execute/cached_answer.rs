//! Cached answers of shards to the query phase: "does this search have to ask the shard at all?"
//!
//! Source: Elasticsearch's `IndicesService#canCache`.

use std::sync::{Arc, Weak};

use limber_mapping::Mapping;

use crate::aggregation::ShardAggregations;
use crate::cache::{RequestKey, ShardCaches};
use crate::collect::{BoundSort, Hit};
use crate::context::{SearchContext, ShardPlace, ShardSettings, ShardSnapshot};
use crate::request::{SearchRequest, is_deterministic};

/// The answer of a shard to the query phase.
#[derive(Debug)]
pub(crate) struct CachedAnswer {
    pub hits: Vec<Hit>,
    pub sorts: Vec<BoundSort>,
    pub total: u64,
    pub is_lower_bound: bool,
    pub max_score: f32,
    pub terminated_early: bool,
    pub aggregations: Option<ShardAggregations>,
    /// Approximate bytes that the answer takes.
    pub bytes: u64,
}

/// Whether the runtime fields of a mapping depend on nothing but the documents.
fn has_timeless_fields(mapping: &Mapping) -> bool {
    mapping
        .runtime_fields()
        .filter_map(|field| field.runtime.as_ref()?.script.as_deref())
        .all(is_deterministic)
}

/// One search of one shard that may be answered from the cache.
pub(crate) struct RequestUse<'s> {
    shard: &'s ShardSnapshot,
    caches: &'s ShardCaches,
    key: RequestKey,
}

impl<'s> RequestUse<'s> {
    /// Builds the cache key of a search; `None` if its answer is not cached.
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
        // An answer from a damaged segment may have been computed from the damaged part.
        if shard.segments.iter().any(|view| view.segment.is_damaged()) {
            return None;
        }
        // A mapping that the request itself extends is never seen again.
        if !request.runtime_mappings.is_empty() || !has_timeless_fields(&shard.mapping) {
            return None;
        }
        let boost = request.index_boosts.get(&shard.index.uuid).copied().unwrap_or(1.0);
        let needs_place = request.slice.is_some() || !request.sort.is_empty();
        let key = RequestKey {
            shard_uid: caches.shard_uid,
            version: caches.version,
            mapping: Arc::as_ptr(&shard.mapping) as usize,
            settings: Arc::as_ptr(&shard.settings) as usize,
            max_buckets: context.max_buckets,
            boost_bits: boost.to_bits(),
            place: needs_place.then_some((place.index, place.count)),
            request: bytes.clone(),
        };
        Some(RequestUse { shard, caches, key })
    }

    /// Returns the cached answer of the shard to this request, if there is one.
    pub fn get(&self) -> Option<Arc<CachedAnswer>> {
        let found = self.caches.requests.get(&self.key);
        self.caches.counters.requests.looked_up(found.is_some());
        found.and_then(|answer| answer.downcast().ok())
    }

    /// Caches the answer of the shard to this request, if there is room for it.
    pub fn put(self, answer: CachedAnswer) {
        let bytes = size_of::<CachedAnswer>() as u64 + answer.bytes;
        let mapping: Weak<Mapping> = Arc::downgrade(&self.shard.mapping);
        let settings: Weak<ShardSettings> = Arc::downgrade(&self.shard.settings);
        self.caches.requests.put(
            self.key,
            (Arc::new(answer), bytes),
            [mapping, settings],
            &self.caches.counters,
        );
    }
}
