//! The memory of a page that is being loaded: "are its bytes charged, and are they released if the load
//! fails?"

use std::sync::atomic::{Ordering, fence};

use super::memory::PageMemory;
use crate::Pool;

/// A page that was evicted while its bytes are still charged.
pub(super) struct Evicted {
    pub memory: PageMemory,
    pub weight: u64,
}

/// Bytes charged for a page that is being loaded; they are released unless the page is published.
pub(super) struct Reservation<'c> {
    pool: &'c Pool,
    /// The charge that the page needs, and (`len`) its length.
    pub weight: u64,
    len: u32,
    /// The charge so far.
    charged: u64,
    /// Memory of the page, or that of an evicted page to be reused.
    memory: Option<PageMemory>,
}

impl<'c> Reservation<'c> {
    /// Begins with no bytes, for a page of `len` bytes that needs a charge of `weight`.
    pub(super) fn new(pool: &'c Pool, weight: u64, len: u32) -> Reservation<'c> {
        Reservation { pool, weight, len, charged: 0, memory: None }
    }

    /// Charges the missing bytes; returns `false` if they do not fit.
    pub(super) fn take_what_lacks(&mut self, limit_bytes: impl Fn() -> u64) -> bool {
        let lacking = self.weight.saturating_sub(self.charged);
        if lacking == 0 {
            return true;
        }
        if !self.pool.try_take(lacking, limit_bytes()) {
            return false;
        }
        // Either this thread sees a limit that was lowered since, or the thread that lowers it
        // (`evict_down`) sees this charge.
        fence(Ordering::SeqCst);
        if self.pool.used_bytes() > limit_bytes() {
            self.pool.give_back(lacking);
            return false;
        }
        self.charged += lacking;
        true
    }

    /// Keeps the evicted page's memory with its charge if the new page can use it; otherwise frees it.
    pub(super) fn reuse(&mut self, evicted: Evicted) {
        if self.memory.is_none() && evicted.memory.suits(self.len) {
            self.charged += evicted.weight;
            self.memory = Some(evicted.memory);
        } else {
            drop(evicted.memory);
            self.pool.give_back(evicted.weight);
        }
    }

    /// Allocates memory of the page's size and charges it exactly; `None` if the system has none.
    pub(super) fn into_memory(mut self) -> Option<Self> {
        self.memory = Some(match self.memory.take() {
            Some(memory) => memory.resize(self.len)?,
            None => PageMemory::allocate(self.len)?,
        });
        self.pool.give_back(self.charged - self.weight);
        self.charged = self.weight;
        Some(self)
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.memory.as_mut().expect("memory was allocated").bytes_mut()
    }

    /// Returns the memory; the caller releases its charge.
    pub(super) fn into_page(mut self) -> PageMemory {
        self.charged = 0;
        self.memory.take().expect("memory was allocated")
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        drop(self.memory.take());
        self.pool.give_back(self.charged);
    }
}
