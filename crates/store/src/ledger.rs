//! The one ledger of memory: "may I have this many bytes?"
//!
//! Every long-lived or request-sized allocation is charged to a pool **before** it is made, and the charge is
//! released when its [`Charge`] drops. A refused charge becomes Elasticsearch's `circuit_breaking_exception`.
//!
//! Each pool has its limit, and all pools together have one (the [`Parent`], Elasticsearch's parent
//! breaker). The limits of the pools add up to more than the memory, so that one kind of work may use what
//! the others leave.

mod gauge;
mod parent;

use std::sync::Arc;

use limber_work::{Account, MemoryLimitExceeded, Meter, note_charged};

use self::gauge::Gauge;
pub use self::parent::{Parent, Process};
use crate::Result;

/// One named budget. The charges granted by [`Pool::charge`] never exceed `limit`, not even for a moment.
#[derive(Debug)]
pub struct Pool {
    name: &'static str,
    parent: Option<Arc<Parent>>,
    place: Place,
    gauge: Gauge,
}

/// How a pool stands to the others below the same parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Leaves the room of [`Place::Upkeep`] free.
    Work,
    /// As [`Place::Work`], and at most half of what the pools may use together at present: what is kept must
    /// leave room for the requests that would delete it.
    Kept,
    /// May use all room, and has some that is left to it alone: if writing segments had to wait for requests,
    /// small segments would not be merged, and would take more and more memory.
    Upkeep,
    /// May use all room, because upkeep cannot end without it.
    OfUpkeep,
}

/// The limit that a charge exceeds.
enum Refusal {
    Own { used_bytes: u64, limit_bytes: u64 },
    Parent { used_bytes: u64, limit_bytes: u64 },
}

impl Pool {
    /// Creates a pool without a parent.
    pub fn new(name: &'static str, limit_bytes: u64) -> Arc<Pool> {
        Arc::new(Pool { name, parent: None, place: Place::Work, gauge: Gauge::new(limit_bytes) })
    }

    /// Returns the pool's name in `_nodes/stats` and in the message of a refused charge.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the pool's limit. The limit of all pools together may be lower: see [`Parent::limit_bytes`].
    pub fn limit_bytes(&self) -> u64 {
        self.gauge.limit()
    }

    /// Sets the limit. A lower one refuses new charges; existing charges stay until they drop.
    pub fn set_limit_bytes(&self, limit_bytes: u64) {
        self.gauge.set_limit(limit_bytes);
    }

    /// Returns the bytes currently charged.
    pub fn used_bytes(&self) -> u64 {
        self.gauge.used()
    }

    /// Returns how often a charge was refused.
    pub fn tripped_count(&self) -> u64 {
        self.gauge.tripped()
    }

    /// Reserves `bytes`; `label` says what they are for and appears in the error only.
    pub fn charge(self: &Arc<Self>, bytes: u64, label: &str) -> Result<Charge> {
        self.take(bytes, label)?;
        Ok(Charge { pool: self.clone(), bytes })
    }

    /// Returns a meter that charges this pool for the memory of a request's threads as it grows.
    pub fn meter(self: &Arc<Self>) -> Meter {
        Meter::new(Box::new(self.charge_always(0)))
    }

    /// Reserves as [`Pool::charge`] does, but does not count a refusal as a trip; for work that can wait.
    pub fn try_charge(self: &Arc<Self>, bytes: u64) -> Option<Charge> {
        self.try_take(bytes, self.limit_bytes()).then(|| Charge { pool: self.clone(), bytes })
    }

    /// Charges `bytes` that cannot be refused, because the node could not continue without them. The pool
    /// may then exceed its limit, which leaves less for others.
    pub fn charge_always(self: &Arc<Self>, bytes: u64) -> Charge {
        let mut charge = Charge { pool: self.clone(), bytes: 0 };
        charge.grow_always(bytes);
        charge
    }

    /// Reserves `bytes` if `used` stays within `limit_bytes`, which replaces the pool's own limit, and
    /// within the parent's. Does not count a refusal as a trip. For caches, which evict instead of failing.
    /// With `u64::MAX` there is no limit at all.
    pub(crate) fn try_take(&self, bytes: u64, limit_bytes: u64) -> bool {
        if limit_bytes == u64::MAX {
            self.take_always(bytes);
            return true;
        }
        self.add_within(bytes, limit_bytes).is_ok()
    }

    fn take_always(&self, bytes: u64) {
        note_charged(bytes as i64);
        self.gauge.add(bytes);
        if let Some(parent) = &self.parent {
            parent.add(bytes);
            self.note_upkeep(parent, bytes as i64);
        }
    }

    fn note_upkeep(&self, parent: &Parent, bytes: i64) {
        if self.place == Place::Upkeep {
            parent.note_upkeep(bytes);
        }
    }

    /// Releases what [`Pool::try_take`] reserved.
    pub(crate) fn give_back(&self, bytes: u64) {
        note_charged(-(bytes as i64));
        self.gauge.subtract(bytes);
        if let Some(parent) = &self.parent {
            parent.subtract(bytes);
            self.note_upkeep(parent, -(bytes as i64));
        }
    }

    fn add_within(&self, bytes: u64, limit_bytes: u64) -> std::result::Result<(), Refusal> {
        let limit_bytes = match &self.parent {
            Some(parent) if self.place == Place::Kept => limit_bytes.min(parent.kept_limit_bytes()),
            _ => limit_bytes,
        };
        self.gauge
            .add_within(bytes, limit_bytes)
            .map_err(|used_bytes| Refusal::Own { used_bytes, limit_bytes })?;
        let outcome = match &self.parent {
            None => Ok(()),
            Some(parent) => {
                let is_upkeep = matches!(self.place, Place::Upkeep | Place::OfUpkeep);
                let outcome = parent.add_within(bytes, is_upkeep);
                match &outcome {
                    Ok(()) => self.note_upkeep(parent, bytes as i64),
                    Err(_) => self.gauge.subtract(bytes),
                }
                outcome.map_err(|(used_bytes, limit_bytes)| Refusal::Parent { used_bytes, limit_bytes })
            }
        };
        if outcome.is_ok() {
            note_charged(bytes as i64);
        }
        outcome
    }

    fn take(&self, bytes: u64, label: &str) -> std::result::Result<(), MemoryLimitExceeded> {
        // An empty charge exists only to be grown.
        if bytes == 0 {
            return Ok(());
        }
        let Err(refusal) = self.add_within(bytes, self.limit_bytes()) else { return Ok(()) };
        self.gauge.trip();
        let (pool, used_bytes, limit_bytes) = match refusal {
            Refusal::Own { used_bytes, limit_bytes } => (self.name, used_bytes, limit_bytes),
            Refusal::Parent { used_bytes, limit_bytes } => {
                if let Some(parent) = &self.parent {
                    parent.trip();
                }
                ("parent", used_bytes, limit_bytes)
            }
        };
        Err(MemoryLimitExceeded {
            pool,
            label: label.to_owned(),
            wanted_bytes: used_bytes.saturating_add(bytes),
            limit_bytes,
        })
    }
}

/// Bytes reserved in a pool; released on drop.
#[derive(Debug)]
pub struct Charge {
    pool: Arc<Pool>,
    bytes: u64,
}

impl Charge {
    /// Returns the bytes currently reserved.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves `more_bytes` in addition; on error nothing changes.
    pub fn grow(&mut self, more_bytes: u64, label: &str) -> Result<()> {
        self.pool.take(more_bytes, label)?;
        self.bytes += more_bytes;
        Ok(())
    }

    /// Grows as [`Charge::grow`] does, but does not count a refusal as a trip; for work that can wait.
    pub fn try_grow(&mut self, more_bytes: u64) -> bool {
        let is_granted = self.pool.try_take(more_bytes, self.pool.limit_bytes());
        self.bytes += if is_granted { more_bytes } else { 0 };
        is_granted
    }

    /// Reserves `more_bytes` even above the limit, as [`Pool::charge_always`] does.
    pub fn grow_always(&mut self, more_bytes: u64) {
        self.pool.take_always(more_bytes);
        self.bytes += more_bytes;
    }

    /// Returns an empty charge of the same pool.
    pub(crate) fn empty(&self) -> Charge {
        Charge { pool: self.pool.clone(), bytes: 0 }
    }

    /// Releases all but `bytes` (which must not exceed the reserved bytes).
    pub fn shrink_to(&mut self, bytes: u64) {
        let back = self.bytes.saturating_sub(bytes);
        self.pool.give_back(back);
        self.bytes -= back;
    }
}

/// Label of the memory that the threads of a request hold beyond their explicit charges.
const REQUEST_LABEL: &str = "<memory of a request>";

impl Account for Charge {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn grow(&mut self, bytes: u64) -> std::result::Result<(), MemoryLimitExceeded> {
        self.pool.take(bytes, REQUEST_LABEL)?;
        self.bytes += bytes;
        Ok(())
    }

    fn shrink_to(&mut self, bytes: u64) {
        Charge::shrink_to(self, bytes);
    }

    fn empty(&self) -> Box<dyn Account> {
        Box::new(Charge::empty(self))
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.pool.give_back(self.bytes);
    }
}

/// All pools of a node; their limits are shares of `memory.limit`.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// `memory.limit` in bytes.
    pub limit_bytes: u64,
    /// Limit of all pools together (`indices.breaker.total.limit`). The default is 70 %, as in
    /// Elasticsearch without real memory usage.
    pub parent: Arc<Parent>,
    /// In-memory index buffers, version map, translog buffers (`indices.memory.index_buffer_size`, default 20
    /// %).
    pub indexing: Arc<Pool>,
    /// Memory for writing a segment, in addition to the buffer or the segments that it is made from:
    /// refreshes and merges (30 %, of which others leave 8 % free). Merges that do not fit wait or take fewer
    /// segments.
    pub segment_writes: Arc<Pool>,
    /// Directories of open segments and their live documents, which are resident even if nothing is searched.
    pub segments: Arc<Pool>,
    /// What the node keeps from requests until a request deletes it: templates, pipelines, scripts,
    /// settings, and the mappings, aliases and settings of indices, their fields and open shards (40 %, and
    /// at most half of what all pools may use at present).
    pub metadata: Arc<Pool>,
    /// Term-index pages (`indices.segment_memory.off_heap.size`, default 10 %).
    pub segment_memory: Arc<Pool>,
    /// Filter cache (`indices.queries.cache.size`, default 10 %).
    pub queries_cache: Arc<Pool>,
    /// Request cache (`indices.requests.cache.size`, default 1 %).
    pub requests_cache: Arc<Pool>,
    /// Decompressed blocks of stored documents (`indices.stored_blocks.cache.size`, default 1 %).
    pub stored_blocks: Arc<Pool>,
    /// Buckets, top-k heaps, sort keys, scroll contexts (`indices.breaker.request.limit`, default 60 %).
    pub request: Arc<Pool>,
    /// HTTP bodies (`network.breaker.inflight_requests.limit`, default 100 %).
    pub in_flight: Arc<Pool>,
}

impl Ledger {
    /// Creates the pools with the default shares of `limit_bytes`, which is `memory.limit`.
    pub fn new(limit_bytes: u64) -> Ledger {
        let parent = Parent::new(limit_bytes, limit_bytes / 100 * 70);
        let below = |place, name, percent: u64| {
            let gauge = Gauge::new(limit_bytes / 100 * percent);
            Arc::new(Pool { name, parent: Some(parent.clone()), place, gauge })
        };
        let share = |name, percent| below(Place::Work, name, percent);
        Ledger {
            limit_bytes,
            indexing: share("indexing", 20),
            segment_writes: below(Place::Upkeep, "segment_writes", 30),
            segments: below(Place::OfUpkeep, "segments", 100),
            metadata: below(Place::Kept, "metadata", 40),
            segment_memory: share("segment_memory", 10),
            queries_cache: share("queries.cache", 10),
            requests_cache: share("requests.cache", 1),
            stored_blocks: share("stored_blocks.cache", 1),
            request: share("request", 60),
            in_flight: share("in_flight_requests", 100),
            parent: parent.clone(),
        }
    }

    /// Returns all pools in the order in which statistics list them.
    pub fn pools(&self) -> [&Arc<Pool>; 10] {
        [
            &self.indexing,
            &self.segment_writes,
            &self.segments,
            &self.metadata,
            &self.segment_memory,
            &self.queries_cache,
            &self.requests_cache,
            &self.stored_blocks,
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

    #[test]
    fn all_pools_together_stay_within_the_parent() {
        let ledger = Ledger::new(1000);
        let request = ledger.request.charge(500, "buckets").expect("fits");
        let refused = ledger.in_flight.charge(121, "body").expect_err("501 to 620 are left");
        assert!(matches!(
            refused,
            crate::Error::LimitExceeded(MemoryLimitExceeded {
                pool: "parent",
                wanted_bytes: 621,
                limit_bytes: 620,
                ..
            })
        ));
        assert_eq!((ledger.in_flight.used_bytes(), ledger.parent.used_bytes()), (0, 500));
        assert_eq!((ledger.in_flight.tripped_count(), ledger.parent.tripped_count()), (1, 1));
        let body = ledger.in_flight.charge(120, "body").expect("fits");
        // What others leave is for the writing of segments.
        let merge = ledger.segment_writes.try_charge(80).expect("fits");
        assert!(ledger.segment_writes.try_charge(1).is_none());
        drop(merge);
        let mut segment = ledger.segments.charge_always(900);
        assert_eq!(ledger.parent.used_bytes(), 1520);
        segment.shrink_to(1);
        drop((request, body, segment));
        assert_eq!(ledger.parent.used_bytes(), 0);
    }

    #[test]
    fn what_nobody_charged_leaves_less_for_the_pools() {
        let ledger = Ledger::new(1000);
        let _body = ledger.in_flight.charge(100, "body").expect("fits");
        ledger.parent.measure(300);
        assert_eq!((ledger.parent.unexplained_bytes(), ledger.parent.limit_bytes()), (200, 700));
        ledger.parent.measure(600);
        assert_eq!((ledger.parent.unexplained_bytes(), ledger.parent.limit_bytes()), (500, 450));
        assert!(ledger.in_flight.charge(271, "body").is_err());
        // At most half of it is kept, although metadata alone may use 400.
        assert!(ledger.metadata.charge(226, "template").is_err());
        assert!(ledger.metadata.charge(225, "template").is_ok());
        ledger.parent.measure(5000);
        assert!(ledger.in_flight.charge(1, "body").is_err());
        assert!(ledger.in_flight.charge(0, "body").is_ok());
    }
}
