//! What a shard has in the caches, and how often the caches answered.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one shard, as `_stats` shows them.
#[derive(Debug, Default)]
pub struct CacheCounters {
    /// Counters of the request cache.
    pub requests: CacheCounter,
    /// Counters of the query cache.
    pub queries: CacheCounter,
}

/// Counters of one cache.
#[derive(Debug, Default)]
pub struct CacheCounter {
    hits: AtomicU64,
    misses: AtomicU64,
    /// Entries ever added, and entries evicted to make room.
    added: AtomicU64,
    evicted: AtomicU64,
    entries: AtomicU64,
    bytes: AtomicU64,
}

impl CacheCounter {
    /// Returns the number of look-ups that found an entry.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// Returns the number of look-ups that found none.
    pub fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }

    /// Returns the number of entries ever added.
    pub fn added(&self) -> u64 {
        self.added.load(Ordering::Relaxed)
    }

    /// Returns the number of entries evicted to make room.
    pub fn evictions(&self) -> u64 {
        self.evicted.load(Ordering::Relaxed)
    }

    /// Returns the current number of entries.
    pub fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Returns the current size of the entries, in bytes.
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
