//! The pages of one field in one segment, as held by its reader.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::cache::TermIndexCache;
use super::memory::PageMemory;
use super::policy::Member;
use super::slot::{Condition, Slot};
use super::stats::FieldFigures;
use crate::Result;
use crate::random::mix;

/// Number of no entry in the policy.
pub(super) const NO_ENTRY: u32 = u32::MAX;

/// One page, whether it is in memory or not.
pub(super) struct PageSlot {
    pub slot: Slot<PageMemory>,
    /// Number in the policy of the shard; [`NO_ENTRY`] if the page is not in memory. Read and written under
    /// the shard's lock.
    pub entry: AtomicU32,
    pub len: u32,
}

/// The cache's data about a field.
pub(super) struct FieldSlots {
    /// Distinguishes two readers of one field, which exist for a moment if threads race to open it.
    pub serial: u64,
    pub segment_core: u64,
    pub field: u32,
    pub load_count: AtomicU64,
    pub eviction_count: AtomicU64,
    pub slots: Box<[PageSlot]>,
}

/// One page, as the policy refers to it.
#[derive(Clone)]
pub(super) struct CachedPage {
    pub field: Arc<FieldSlots>,
    pub number: u32,
}

impl CachedPage {
    /// Returns the page's slot.
    pub fn slot(&self) -> &PageSlot {
        &self.field.slots[self.number as usize]
    }
}

impl Member for CachedPage {
    fn hash(&self) -> u64 {
        self.field.hash(self.number)
    }

    fn drain_uses(&self) -> u64 {
        self.slot().slot.drain_uses()
    }

    fn is_pinned(&self) -> bool {
        self.slot().slot.is_pinned()
    }
}

impl FieldSlots {
    /// Creates slots for pages of `page_lens` bytes each, none of them in memory.
    pub fn new(
        serial: u64,
        segment_core: u64,
        field: u32,
        page_lens: impl Iterator<Item = u32>,
    ) -> FieldSlots {
        let slot = |len| PageSlot { slot: Slot::default(), entry: AtomicU32::new(NO_ENTRY), len };
        FieldSlots {
            serial,
            segment_core,
            field,
            load_count: AtomicU64::new(0),
            eviction_count: AtomicU64::new(0),
            slots: page_lens.map(slot).collect(),
        }
    }

    /// Returns the key of the field in the cache's list, which is ordered by segment core and field.
    pub fn key(&self) -> (u64, u32, u64) {
        (self.segment_core, self.field, self.serial)
    }

    /// Returns the key of a page in the policy's sketch.
    pub fn hash(&self, page: u32) -> u64 {
        mix(self.segment_core ^ mix((self.field as u64) << 32 | page as u64))
    }

    /// Returns the figures of the field for `_cat/segment_memory`.
    pub fn figures(&self) -> FieldFigures {
        let mut figures = FieldFigures {
            segment_core: self.segment_core,
            field: self.field,
            page_count: 0,
            page_bytes: 0,
            resident_count: 0,
            resident_bytes: 0,
            load_count: self.load_count.load(Ordering::Relaxed),
            eviction_count: self.eviction_count.load(Ordering::Relaxed),
        };
        for slot in self.slots.iter().filter(|slot| slot.len > 0) {
            figures.page_count += 1;
            figures.page_bytes += slot.len as u64;
            if matches!(slot.slot.condition(), Condition::Resident | Condition::Doomed) {
                figures.resident_count += 1;
                figures.resident_bytes += PageMemory::allocated_bytes(slot.len as usize) as u64;
            }
        }
        figures
    }
}

/// The pages of one field in one segment. Dropping it, when the segment closes, frees those in memory.
/// References to pages borrow it, so none can exist then.
///
/// ```compile_fail
/// let cache = limber_store::term_index::TermIndexCache::native();
/// let pages = cache.open_field(1, 0, [10].into_iter());
/// let page = pages.page(0, |bytes| Ok(bytes.fill(1))).unwrap();
/// drop(pages); // while it is in use: does not compile
/// drop(page);
/// ```
pub struct FieldPages {
    slots: Arc<FieldSlots>,
    cache: Arc<TermIndexCache>,
}

impl FieldPages {
    pub(super) fn new(slots: Arc<FieldSlots>, cache: Arc<TermIndexCache>) -> FieldPages {
        FieldPages { slots, cache }
    }

    /// Bytes per page that are taken here, whether the page is cached or not.
    pub const SLOT_BYTES: usize = size_of::<PageSlot>();

    /// Returns page `number`, pinned. If it is not in memory, `load` reads it from disk and verifies it.
    ///
    /// Returns `Ok(None)` if the budget is smaller than the page or all of it is in use; the caller then
    /// does without the page. Fails only if `load` fails. `load` must not request a page of this cache.
    #[inline]
    pub fn page(
        &self,
        number: usize,
        load: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<Option<PageRef<'_>>> {
        if self.slots.slots[number].slot.pin() {
            return Ok(Some(self.pinned(number)));
        }
        let is_pinned = self.page_after_failed_pin(number, load)?;
        Ok(is_pinned.then(|| self.pinned(number)))
    }

    #[cold]
    fn page_after_failed_pin(
        &self,
        number: usize,
        load: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<bool> {
        let page = CachedPage { field: self.slots.clone(), number: number as u32 };
        if page.slot().slot.unpin() {
            self.cache.release(&page);
        }
        self.cache.pin_or_load(page, load)
    }

    /// Returns a reference to the page, which the caller has pinned.
    #[inline]
    fn pinned(&self, number: usize) -> PageRef<'_> {
        // SAFETY: the pin is released when the value drops, and the bytes are borrowed from the value.
        let bytes: &[u8] = unsafe { self.slots.slots[number].slot.page() };
        PageRef { bytes, pages: self, number: number as u32 }
    }
}

impl Drop for FieldPages {
    fn drop(&mut self) {
        self.cache.close_field(&self.slots);
    }
}

/// A page in use; its bytes do not move while this lives. Hold it for one lookup.
pub struct PageRef<'f> {
    bytes: &'f [u8],
    pages: &'f FieldPages,
    number: u32,
}

impl Deref for PageRef<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

impl Drop for PageRef<'_> {
    #[inline]
    fn drop(&mut self) {
        let pages = self.pages;
        if pages.slots.slots[self.number as usize].slot.unpin() {
            pages.cache.release(&CachedPage { field: pages.slots.clone(), number: self.number });
        }
    }
}
