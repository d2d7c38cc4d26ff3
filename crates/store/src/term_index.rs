//! The cache of term-index pages: "give me this FST page, resident or not".
//!
//! A page is one FST (or a piece of one) of about 256 KiB over the block separators of one field in one segment. Readers
//! hold a [`PageRef`] for the length of a look-up and never keep it. This file has the interface and the *native* scheme
//! (every page resident from open); the budgeted cache takes its place behind the same interface.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Result;

/// Identity of a page: unique for the life of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageKey {
    /// From [`next_segment_core_id`]; never reused.
    pub segment_core: u64,
    pub field: u32,
    pub page: u32,
}

/// A fresh id for a segment that was just opened.
pub fn next_segment_core_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A page in use: its bytes stay where they are while this lives.
#[derive(Clone)]
pub struct PageRef(Arc<[u8]>);

impl Deref for PageRef {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Per-page slot that a field reader keeps; how it finds the page again without asking the cache.
#[derive(Default)]
pub struct PageSlot(std::sync::OnceLock<Arc<[u8]>>);

/// Numbers for `_nodes/stats`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct TermIndexStats {
    pub resident_bytes: u64,
    pub page_count: u64,
    pub load_count: u64,
}

/// Where term-index pages live.
pub trait TermIndexCache: Send + Sync {
    /// The page of `key`; `load` reads and verifies its bytes when it is not there.
    fn page(
        &self,
        key: PageKey,
        slot: &PageSlot,
        load: &mut dyn FnMut() -> Result<Vec<u8>>,
    ) -> Result<PageRef>;
    /// Whether segments load all pages when they open.
    fn loads_at_open(&self) -> bool;
    /// The segment closed: its pages can go.
    fn forget_segment(&self, segment_core: u64, resident_bytes: u64, page_count: u64);
    fn stats(&self) -> TermIndexStats;
}

/// The native scheme: pages are loaded at open and stay until the segment closes.
#[derive(Default)]
pub struct ResidentTermIndex {
    resident_bytes: AtomicU64,
    page_count: AtomicU64,
    load_count: AtomicU64,
}

impl TermIndexCache for ResidentTermIndex {
    fn page(
        &self,
        _key: PageKey,
        slot: &PageSlot,
        load: &mut dyn FnMut() -> Result<Vec<u8>>,
    ) -> Result<PageRef> {
        if let Some(page) = slot.0.get() {
            return Ok(PageRef(page.clone()));
        }
        let bytes: Arc<[u8]> = load()?.into();
        let len = bytes.len() as u64;
        let page = slot.0.get_or_init(|| {
            self.resident_bytes.fetch_add(len, Ordering::Relaxed);
            self.page_count.fetch_add(1, Ordering::Relaxed);
            self.load_count.fetch_add(1, Ordering::Relaxed);
            bytes
        });
        Ok(PageRef(page.clone()))
    }

    fn loads_at_open(&self) -> bool {
        true
    }

    fn forget_segment(&self, _segment_core: u64, resident_bytes: u64, page_count: u64) {
        self.resident_bytes.fetch_sub(resident_bytes, Ordering::Relaxed);
        self.page_count.fetch_sub(page_count, Ordering::Relaxed);
    }

    fn stats(&self) -> TermIndexStats {
        TermIndexStats {
            resident_bytes: self.resident_bytes.load(Ordering::Relaxed),
            page_count: self.page_count.load(Ordering::Relaxed),
            load_count: self.load_count.load(Ordering::Relaxed),
        }
    }
}
