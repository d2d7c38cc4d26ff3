//! What a shard has in the caches, and how often it was of use.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one shard, as `_stats` shows them.
#[derive(Debug, Default)]
pub struct CacheCounters {
    /// Those of the request cache.
    pub requests: CacheCounter,
    /// Those of the query cache.
    pub queries: CacheCounter,
}

/// Counters of one cache.
#[derive(Debug, Default)]
pub struct CacheCounter {
    hits: AtomicU64,
    misses: AtomicU64,
    /// Entries ever made, and those that went again to make room.
    added: AtomicU64,
    evicted: AtomicU64,
    entries: AtomicU64,
    bytes: AtomicU64,
}

impl CacheCounter {
    /// How many questions the cache has answered.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// How many questions it could not answer.
    pub fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }

    /// Entries ever made.
    pub fn added(&self) -> u64 {
        self.added.load(Ordering::Relaxed)
    }

    /// Entries that went again to make room.
    pub fn evictions(&self) -> u64 {
        self.evicted.load(Ordering::Relaxed)
    }

    /// Entries now.
    pub fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// What the entries hold now, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn looked_up(&self, is_hit: bool) {
        if is_hit { &self.hits } else { &self.misses }.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.added.fetch_add(1, Ordering::Relaxed);
        self.entries.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self, bytes: u64, makes_room: bool) {
        self.evicted.fetch_add(u64::from(makes_room), Ordering::Relaxed);
        self.entries.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}
