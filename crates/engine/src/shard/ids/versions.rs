//! What happened to documents since the last refresh: "which version of this id counts, and where does it
//! lie?"
//!
//! Two maps: `current` takes what is written; a refresh makes it `old` while buffers become segments, and
//! drops `old` when the segments can be searched. Striped by id; the lock of a stripe is also the lock of its
//! ids, so that two writes to one document never overlap.
//!
//! A shard that only appends documents with generated ids keeps no entries ("unsafe"); the first call that
//! needs them refreshes first and keeps entries from then on (Elasticsearch's `LiveVersionMap`, append-only
//! optimisation).

use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use foldhash::fast::{FixedState, RandomState};
use hashbrown::HashMap;
use limber_segment::{DocId, WriteIdentity};
use limber_store::sync::{Mutex, MutexGuard, OnceLock};

use crate::translog::Location;

/// Where an appended batch landed; known once it was appended, `None` when that failed.
pub(crate) type BatchPlace = OnceLock<Option<(u64, u64)>>;

/// A record in a batch that may not be appended yet.
#[derive(Debug, Clone)]
pub(crate) struct RecordPlace {
    pub batch: Arc<BatchPlace>,
    pub offset: u32,
    pub len: u32,
}

impl RecordPlace {
    /// Waits until the batch was appended (its writer is in the middle of that); `None` when appending
    /// failed.
    pub(crate) fn location(&self) -> Option<Location> {
        let (generation, base) = (*self.batch.wait())?;
        Some(Location { generation, offset: base + u64::from(self.offset), len: self.len })
    }
}

/// The document in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BufferPlace {
    /// Number of the buffer, never reused.
    pub buffer: u64,
    pub doc: DocId,
}

#[derive(Debug, Clone)]
pub(crate) struct VersionEntry {
    pub identity: WriteIdentity,
    /// `None`: deleted.
    pub place: Option<BufferPlace>,
    /// `None` for operations replayed at recovery.
    pub record: Option<RecordPlace>,
    /// When it was deleted, for `index.gc_deletes`; see [`crate::shard::Shard::interval_millis`].
    pub deleted_millis: u64,
}

type Map = HashMap<Box<[u8]>, VersionEntry, RandomState>;

#[derive(Default)]
pub(crate) struct Stripe {
    current: Map,
    old: Map,
    /// Deletes outlive refreshes by `index.gc_deletes`.
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

/// Memory of one entry: the id as the allocator rounds it, and the entry with the room that its map has for
/// others (a quarter to four sevenths of a table are empty, and a table that doubles is there twice).
fn entry_bytes(id: &[u8]) -> usize {
    id.len().next_multiple_of(16) + (size_of::<VersionEntry>() + size_of::<Box<[u8]>>() + 1) * 2
}

/// A stripe's map of up to this many entries is used again, larger ones go: what all stripes keep is about 1
/// MiB a shard.
const KEPT_CAPACITY: usize = 32;

const STRIPES: usize = 256;

pub(crate) struct VersionMap {
    stripes: Box<[Mutex<Stripe>]>,
    /// Chooses stripes. Not a secret: whoever makes ids collide only makes their own writes wait for each
    /// other.
    hasher: FixedState,
    bytes: AtomicUsize,
    /// Entries are kept since the last refresh or the one before.
    keeps_entries: AtomicBool,
    /// Someone needed them since the last refresh.
    was_needed: AtomicBool,
    /// Documents were appended that have no entry: since the last refresh began, and before it while it is
    /// under way.
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

    /// Says that entries are needed from now on. False: documents were appended without one, refresh first.
    /// Called inside the gate, so that no refresh begins before the caller is through.
    pub(crate) fn require_entries(&self) -> bool {
        self.was_needed.store(true, Ordering::Relaxed);
        self.keeps_entries.store(true, Ordering::SeqCst);
        !self.is_unsafe.load(Ordering::SeqCst) && !self.was_unsafe.load(Ordering::SeqCst)
    }

    /// Whether an append with a generated id must leave an entry; if not, that is noted. Called inside the
    /// gate.
    pub(crate) fn append_needs_entry(&self) -> bool {
        if self.keeps_entries.load(Ordering::SeqCst) {
            return true;
        }
        // A store would take the line from the other writers each time.
        if !self.is_unsafe.load(Ordering::SeqCst) {
            self.is_unsafe.store(true, Ordering::SeqCst);
        }
        // Someone may have asked between the two lines: then it has seen "safe" and must find this document.
        self.keeps_entries.load(Ordering::SeqCst)
    }

    /// `current` becomes `old`. No writer is active.
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

    /// `old` goes: what it held is in segments. Deletes younger than `gc_deletes_ms` stay as tombstones. No
    /// writer is active.
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
