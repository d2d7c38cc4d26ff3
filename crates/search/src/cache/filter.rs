//! The use of a filter with the query cache.

use std::sync::Arc;

use limber_segment::{DocId, Segment};

use super::{CacheCounters, QueryCache, ShardCaches};

/// The documents of a filter in a segment, deleted ones included.
#[derive(Debug, PartialEq)]
pub(crate) enum FilterSet {
    /// The documents, ascending.
    Sparse(Box<[DocId]>),
    /// One bit per document, and the number of set bits.
    Bits(Box<[u64]>, u32),
}

/// A set that has fewer than one in this many documents is kept as a list. Source: Lucene's
/// `LRUQueryCache#cacheImpl`.
const SPARSE_SHARE: u64 = 100;

impl FilterSet {
    /// Creates the set of a segment's documents whose bits are set. `words`: bit `doc % 64` of word
    /// `doc / 64`, `[doc_count / 64 rounded up]`.
    pub fn new(words: Vec<u64>, doc_count: u32) -> FilterSet {
        let count: u32 = words.iter().map(|word| word.count_ones()).sum();
        if u64::from(count) * SPARSE_SHARE >= u64::from(doc_count) {
            return FilterSet::Bits(words.into(), count);
        }
        let mut docs = Vec::with_capacity(count as usize);
        for (at, mut word) in words.into_iter().enumerate() {
            while word != 0 {
                docs.push(at as u32 * 64 + word.trailing_zeros());
                word &= word - 1;
            }
        }
        FilterSet::Sparse(docs.into())
    }

    /// Returns the bytes to charge for the set.
    pub fn bytes(&self) -> u64 {
        match self {
            FilterSet::Sparse(docs) => size_of_val(&**docs) as u64,
            FilterSet::Bits(words, _) => size_of_val(&**words) as u64,
        }
    }
}

/// Smallest segment, and smallest share of the shard's documents in percent, for which a set is cached.
///
/// Source: Elasticsearch's `IndicesQueryCache` over `LRUQueryCache.MinSegmentSizePredicate(10000)`, with
/// Lucene's share.
const SEGMENT_DOCS_MIN: u32 = 10_000;
const SEGMENT_PERCENT_MIN: u64 = 3;
/// A filter is not cached if it costs more than this many times the cheapest part of its conjunction,
/// because that part lets it skip.
///
/// Source: Lucene's `LRUQueryCache`, `skipCacheFactor`.
const SKIP_FACTOR: u64 = 10;

/// One use of a filter on one shard.
#[derive(Debug)]
pub(crate) struct FilterUse {
    cache: Arc<QueryCache>,
    counters: Arc<CacheCounters>,
    shard_uid: u64,
    shard_docs: u64,
    key: Arc<[u8]>,
    /// Whether the filter was used often enough recently to be cached.
    is_frequent: bool,
}

impl FilterUse {
    /// Records the use. `frequency_min`: recent uses from which on a filter is cached.
    pub fn new(
        cache: &Arc<QueryCache>,
        caches: &ShardCaches,
        shard_docs: u64,
        key: Vec<u8>,
        frequency_min: u32,
    ) -> FilterUse {
        let is_frequent = cache.note(&key) >= frequency_min;
        FilterUse {
            cache: cache.clone(),
            counters: caches.counters.clone(),
            shard_uid: caches.shard_uid,
            shard_docs,
            key: key.into(),
            is_frequent,
        }
    }

    fn is_worth(&self, segment: &Segment) -> bool {
        let doc_count = segment.doc_count();
        doc_count >= SEGMENT_DOCS_MIN && u64::from(doc_count) * 100 >= self.shard_docs * SEGMENT_PERCENT_MIN
    }

    /// Returns the set, if it is cached.
    pub fn get(&self, segment: &Segment) -> Option<Arc<FilterSet>> {
        // A set from a damaged segment may have been computed from the damaged part.
        if !self.is_worth(segment) || segment.is_damaged() {
            return None;
        }
        let found = self.cache.get(self.shard_uid, segment.meta().id, &self.key);
        self.counters.queries.looked_up(found.is_some());
        found
    }

    /// Whether a missing set should be computed and cached, when the rarest other part of the conjunction
    /// has `lead_cost` documents.
    pub fn should_keep(&self, segment: &Segment, cost: u64, lead_cost: u64) -> bool {
        self.is_frequent && self.is_worth(segment) && !segment.is_damaged() && cost / SKIP_FACTOR <= lead_cost
    }

    /// Caches the set of all documents of a segment that the filter matches.
    pub fn keep(&self, set: FilterSet, segment: &Segment) -> Arc<FilterSet> {
        let set = Arc::new(set);
        self.cache.put(self.shard_uid, segment.meta().id, &self.key, &set, &self.counters);
        set
    }
}
