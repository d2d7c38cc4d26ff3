//! The one ledger of memory: "may I have that many bytes?"
//!
//! Every long-lived or request-sized allocation is charged to a pool **before** it is made and given back when its
//! [`Charge`] drops. A refused charge becomes Elasticsearch's `circuit_breaking_exception`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Error, Result};

/// One named budget. `used` never exceeds `limit`, not even for a moment.
#[derive(Debug)]
pub struct Pool {
    name: &'static str,
    limit_bytes: AtomicU64,
    used_bytes: AtomicU64,
    tripped_count: AtomicU64,
}

impl Pool {
    pub fn new(name: &'static str, limit_bytes: u64) -> Arc<Pool> {
        Arc::new(Pool {
            name,
            limit_bytes: AtomicU64::new(limit_bytes),
            used_bytes: AtomicU64::new(0),
            tripped_count: AtomicU64::new(0),
        })
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes.load(Ordering::Relaxed)
    }

    /// A lower limit refuses new charges; what is charged already stays until it drops.
    pub fn set_limit_bytes(&self, limit_bytes: u64) {
        self.limit_bytes.store(limit_bytes, Ordering::Relaxed);
    }

    pub fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    /// How often a charge was refused.
    pub fn tripped_count(&self) -> u64 {
        self.tripped_count.load(Ordering::Relaxed)
    }

    /// Reserves `bytes`; `label` names what they are for, in the error only.
    pub fn charge(self: &Arc<Self>, bytes: u64, label: &str) -> Result<Charge> {
        self.take(bytes, label)?;
        Ok(Charge { pool: self.clone(), bytes })
    }

    /// Reserves `bytes` when `used` stays within `limit_bytes`, which stands for the pool's own; a refusal is not a trip. For
    /// caches, which evict instead of failing.
    pub(crate) fn try_take(&self, bytes: u64, limit_bytes: u64) -> bool {
        self.add_within(bytes, limit_bytes).is_ok()
    }

    /// After [`Pool::try_take`].
    pub(crate) fn give_back(&self, bytes: u64) {
        self.used_bytes.fetch_sub(bytes, Ordering::AcqRel);
    }

    /// `Err` has what is used.
    fn add_within(&self, bytes: u64, limit_bytes: u64) -> std::result::Result<u64, u64> {
        self.used_bytes.fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| {
            used.checked_add(bytes).filter(|&wanted| wanted <= limit_bytes)
        })
    }

    fn take(&self, bytes: u64, label: &str) -> Result<()> {
        let limit_bytes = self.limit_bytes();
        match self.add_within(bytes, limit_bytes) {
            Ok(_) => Ok(()),
            Err(used) => {
                self.tripped_count.fetch_add(1, Ordering::Relaxed);
                let wanted_bytes = used.saturating_add(bytes);
                Err(Error::LimitExceeded {
                    pool: self.name,
                    label: label.to_owned(),
                    wanted_bytes,
                    limit_bytes,
                })
            }
        }
    }
}

/// Bytes reserved in a pool; given back on drop.
#[derive(Debug)]
pub struct Charge {
    pool: Arc<Pool>,
    bytes: u64,
}

impl Charge {
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves `more` bytes on top; on error nothing changes.
    pub fn grow(&mut self, more_bytes: u64, label: &str) -> Result<()> {
        self.pool.take(more_bytes, label)?;
        self.bytes += more_bytes;
        Ok(())
    }

    /// Gives back all but `bytes` (which must not exceed what is held).
    pub fn shrink_to(&mut self, bytes: u64) {
        let back = self.bytes.saturating_sub(bytes);
        self.pool.used_bytes.fetch_sub(back, Ordering::AcqRel);
        self.bytes -= back;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.pool.used_bytes.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

/// All pools of a node, shares of `memory.limit`.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// `memory.limit` in bytes.
    pub limit_bytes: u64,
    /// In-memory index buffers (`indices.memory.index_buffer_size`, default 10 %).
    pub indexing: Arc<Pool>,
    /// Term-index pages (`indices.segment_memory.off_heap.size`, default 10 %).
    pub segment_memory: Arc<Pool>,
    /// Filter cache (`indices.queries.cache.size`, default 10 %).
    pub queries_cache: Arc<Pool>,
    /// Request cache (`indices.requests.cache.size`, default 1 %).
    pub requests_cache: Arc<Pool>,
    /// Buckets, top-k heaps, sort keys, scroll contexts (`indices.breaker.request.limit`, default 60 %).
    pub request: Arc<Pool>,
    /// HTTP bodies (`network.breaker.inflight_requests.limit`, default 100 %).
    pub in_flight: Arc<Pool>,
}

impl Ledger {
    pub fn new(limit_bytes: u64) -> Ledger {
        let share = |name, percent: u64| Pool::new(name, limit_bytes / 100 * percent);
        Ledger {
            limit_bytes,
            indexing: share("indexing", 10),
            segment_memory: share("segment_memory", 10),
            queries_cache: share("queries.cache", 10),
            requests_cache: share("requests.cache", 1),
            request: share("request", 60),
            in_flight: share("in_flight_requests", 100),
        }
    }

    /// All pools in the order in which statistics list them.
    pub fn pools(&self) -> [&Arc<Pool>; 6] {
        [
            &self.indexing,
            &self.segment_memory,
            &self.queries_cache,
            &self.requests_cache,
            &self.request,
            &self.in_flight,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charge_is_refused_beyond_the_limit_and_given_back_on_drop() {
        let pool = Pool::new("request", 100);
        let mut first = pool.charge(60, "buckets").expect("fits");
        assert!(pool.charge(41, "buckets").is_err());
        assert_eq!((pool.used_bytes(), pool.tripped_count()), (60, 1));
        first.grow(40, "buckets").expect("fits");
        first.shrink_to(10);
        assert_eq!(pool.used_bytes(), 10);
        drop(first);
        assert_eq!(pool.used_bytes(), 0);
        assert!(pool.charge(u64::MAX, "overflow").is_err());
    }
}
