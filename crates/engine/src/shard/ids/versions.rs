//! What was written since the last refresh: "what is the newest version of this id, and where is it stored?"
//!
//! There are two maps: writes go to `current`; a refresh turns it into `old` while buffers become segments,
//! and drops `old` when the segments are searchable. The maps are striped by id. The lock of a stripe also
//! locks its ids, so that two writes to one document never overlap.
//!
//! While a shard only appends documents with generated ids, no entries are kept ("unsafe"). The first call
//! that needs entries refreshes first and has them kept from then on (like the append-only optimisation in
//! Elasticsearch's `LiveVersionMap`).

use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use foldhash::fast::{FixedState, RandomState};
use hashbrown::HashMap;
use limber_segment::{DocId, WriteIdentity};
use limber_store::sync::{Mutex, MutexGuard, OnceLock};

use crate::translog::Location;

/// The position of an appended batch. Known after the append; `None` if that failed.
pub(crate) type BatchPlace = OnceLock<Option<(u64, u64)>>;

/// The position of a record in a batch that may not be appended yet.
#[derive(Debug, Clone)]
pub(crate) struct RecordPlace {
    pub batch: Arc<BatchPlace>,
    pub offset: u32,
    pub len: u32,
}

impl RecordPlace {
    /// Waits until the batch is appended, which its writer is doing now. Returns `None` if that failed.
    pub(crate) fn location(&self) -> Option<Location> {
        let (generation, base) = (*self.batch.wait())?;
        Some(Location { generation, offset: base + u64::from(self.offset), len: self.len })
    }
}

/// The position of a document in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BufferPlace {
    /// Number of the buffer, never reused.
    pub buffer: u64,
    pub doc: DocId,
}

#[derive(Debug, Clone)]
pub(crate) struct VersionEntry {
    pub identity: WriteIdentity,
    /// `None` when the document is deleted.
    pub place: Option<BufferPlace>,
    /// `None` for operations that were replayed during recovery.
    pub record: Option<RecordPlace>,
    /// When it was deleted, for `index.gc_deletes`. See [`super::Shard::interval_millis`].
    pub deleted_millis: u64,
}

type Map = HashMap<Box<[u8]>, VersionEntry, RandomState>;

#[derive(Default)]
pub(crate) struct Stripe {
    current: Map,
    old: Map,
    /// Deletes, which are kept for `index.gc_deletes` even after a refresh.
    tombstones: Map,
}

impl Stripe {
    pub(crate) fn get(&self, id: &[u8]) -> Option<&VersionEntry> {
        self.current.get(id).or_else(|| self.old.get(id)).or_else(|| self.tombstones.get(id))
    }

    pub(crate) fn put(&mut self, id: &[u8], entry: VersionEntry, bytes: &AtomicUsize) {
        if !self.tombstones.is_empty() && self.tombstones.remove(id).is_some() {
            bytes.fetch_sub(entry_bytes(id), Ordering::Relaxed);
        }
        match self.current.get_mut(id) {
            Some(existing) => *existing = entry,
            None => {
                bytes.fetch_add(entry_bytes(id), Ordering::Relaxed);
                self.current.insert(id.into(), entry);
            }
        }
    }
}

/// Estimates the memory of one entry: the id with the allocator's rounding, and the entry with its share of
/// unused slots (a quarter to four sevenths of a table are empty, and a table that grows exists twice for a
/// moment).
fn entry_bytes(id: &[u8]) -> usize {
    id.len().next_multiple_of(16) + (size_of::<VersionEntry>() + size_of::<Box<[u8]>>() + 1) * 2
}

/// A stripe's map with up to this capacity is reused; a larger one is freed. All stripes together keep about
/// 1 MiB per shard.
const KEPT_CAPACITY: usize = 32;

const STRIPES: usize = 256;

pub(crate) struct VersionMap {
    stripes: Box<[Mutex<Stripe>]>,
    /// Chooses the stripe of an id. It need not be secret: a client that makes ids collide only makes its own
    /// writes wait for each other.
    hasher: FixedState,
    bytes: AtomicUsize,
    /// Whether entries are kept, because they were needed since the last refresh or the one before.
    keeps_entries: AtomicBool,
    /// Whether entries were needed since the last refresh.
    was_needed: AtomicBool,
    /// Whether documents without entry were appended since the last refresh began. `was_unsafe` is the same
    /// for the time before it, while the refresh is running.
    is_unsafe: AtomicBool,
    was_unsafe: AtomicBool,
}

impl Default for VersionMap {
    fn default() -> Self {
        VersionMap {
            stripes: (0..STRIPES).map(|_| Mutex::default()).collect(),
            hasher: FixedState::default(),
            bytes: AtomicUsize::new(0),
            keeps_entries: AtomicBool::new(false),
            was_needed: AtomicBool::new(false),
            is_unsafe: AtomicBool::new(false),
            was_unsafe: AtomicBool::new(false),
        }
    }
}

impl VersionMap {
    #[inline]
    pub(crate) fn stripe(&self, id: &[u8]) -> MutexGuard<'_, Stripe> {
        self.stripes[self.hasher.hash_one(id) as usize % STRIPES].lock()
    }

    pub(crate) fn bytes(&self) -> &AtomicUsize {
        &self.bytes
    }

    /// Has entries kept from now on. Returns `false` if documents were appended without one, in which case
    /// the caller must refresh first. Called inside the gate, so that no refresh begins before the caller is
    /// done.
    pub(crate) fn require_entries(&self) -> bool {
        self.was_needed.store(true, Ordering::Relaxed);
        self.keeps_entries.store(true, Ordering::SeqCst);
        !self.is_unsafe.load(Ordering::SeqCst) && !self.was_unsafe.load(Ordering::SeqCst)
    }

    /// Whether an append with a generated id needs an entry. If not, notes that it has none. Called inside
    /// the gate.
    pub(crate) fn append_needs_entry(&self) -> bool {
        if self.keeps_entries.load(Ordering::SeqCst) {
            return true;
        }
        // Storing each time would take the cache line away from the other writers.
        if !self.is_unsafe.load(Ordering::SeqCst) {
            self.is_unsafe.store(true, Ordering::SeqCst);
        }
        // Another thread may have asked for entries between the two checks. It has then seen "safe" and must
        // find this document.
        self.keeps_entries.load(Ordering::SeqCst)
    }

    /// Turns `current` into `old`. Called while no writer is active.
    pub(crate) fn begin_refresh(&self) {
        for stripe in &self.stripes {
            let stripe = &mut *stripe.lock();
            debug_assert!(stripe.old.is_empty(), "refreshes do not overlap");
            std::mem::swap(&mut stripe.current, &mut stripe.old);
        }
        let needed = self.was_needed.swap(false, Ordering::SeqCst);
        self.keeps_entries.store(needed, Ordering::SeqCst);
        self.was_unsafe.store(self.is_unsafe.swap(false, Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Drops `old`, whose content is in segments now. Deletes younger than `gc_deletes_ms` stay as
    /// tombstones. Called while no writer is active.
    pub(crate) fn end_refresh(&self, now_millis: u64, gc_deletes_ms: u64) {
        for stripe in &self.stripes {
            let stripe = &mut *stripe.lock();
            let is_young =
                |entry: &VersionEntry| now_millis.saturating_sub(entry.deleted_millis) < gc_deletes_ms;
            let mut freed = 0;
            stripe.tombstones.retain(|id, entry| {
                let stays = is_young(entry);
                freed += if stays { 0 } else { entry_bytes(id) };
                stays
            });
            for (id, entry) in stripe.old.drain() {
                if entry.place.is_none() && is_young(&entry) && !stripe.current.contains_key(&id) {
                    stripe.tombstones.insert(id, entry);
                } else {
                    freed += entry_bytes(&id);
                }
            }
            if stripe.old.capacity() > KEPT_CAPACITY {
                stripe.old = Map::default();
            }
            self.bytes.fetch_sub(freed, Ordering::Relaxed);
        }
        self.was_unsafe.store(false, Ordering::SeqCst);
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}
