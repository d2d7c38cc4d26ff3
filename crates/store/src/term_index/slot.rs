//! The weak handle of a page: "is my page in memory, and may I read it now?"
//!
//! A slot is the only reference to its page. One 64-bit word holds the number of its readers, its flags and
//! its uses; the page is stored beside it.
//!
//! ```text
//! bits  0..20  pins: readers now
//!  bit   20     RESIDENT: there is a page, and pins succeed
//!  bit   21     DOOMED: the page is freed with its last pin; new pins are refused
//!  bit   22     LOADING: one thread loads the page
//!  bits 24..64  uses since they were drained; overflow is lost
//! ```
//!
//! Pinning is one `fetch_add` of a pin and a use. If the flags of the old value say that there is no page
//! to read, the pin has failed and is released like any other. Until then it only makes the slot look busy,
//! and a slot that looks busy is merely not evicted.
//!
//! Flags change only under the lock of the slot's shard (below: "under the lock"); pins and uses change at
//! any time.
//!
//! **Invariant**: the page is written or taken only while no pin that saw it RESIDENT exists. `claim`
//! clears RESIDENT in the same atomic step that proves the pins to be zero. For DOOMED, either the last pin
//! sees it on release and then has to free the page, or `doom` sees that there are no pins.
//! `tests/slot_model.rs` checks this file with loom.

use super::sync::{AtomicU64, Ordering, UnsafeCell};

const PIN: u64 = 1;
const PINS: u64 = (1 << 20) - 1;
/// More pins than there can be threads; further pins are refused so that they cannot overflow into the flags.
const PINS_MANY: u64 = 1 << 19;
const RESIDENT: u64 = 1 << 20;
const DOOMED: u64 = 1 << 21;
const LOADING: u64 = 1 << 22;
const USE: u64 = 1 << 24;
const USES_SHIFT: u32 = 24;

/// The slot of one page: its readers, its uses, and the page itself while it is in memory.
pub struct Slot<T> {
    state: AtomicU64,
    page: UnsafeCell<Option<T>>,
}

/// State of a slot, as the holder of its shard's lock sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// There is no page, and nobody loads it.
    Empty,
    /// One thread loads the page.
    Loading,
    /// The page is in memory and can be pinned.
    Resident,
    /// The page is freed with its last pin and takes no new ones.
    Doomed,
}

// SAFETY: many threads access the page by shared reference (this needs `T: Sync`) and any one of them takes
// it out (this needs `T: Send`); the invariant above keeps the two apart.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot { state: AtomicU64::new(0), page: UnsafeCell::new(None) }
    }
}

impl<T> Slot<T> {
    /// Counts a use and pins the page. Returns `false` if there is none to read; the caller must call
    /// [`Slot::unpin`] even then.
    #[inline]
    pub fn pin(&self) -> bool {
        // Acquire: makes the loading thread's writes before `publish` visible.
        let before = self.state.fetch_add(PIN | USE, Ordering::Acquire);
        before & (RESIDENT | DOOMED | PINS_MANY) == RESIDENT
    }

    /// Releases a pin. Returns `true` if the page is doomed and this was the last pin; the caller then
    /// takes the lock and claims the page.
    #[inline]
    #[must_use]
    pub fn unpin(&self) -> bool {
        // Release: reads of the page happen before it is claimed.
        let before = self.state.fetch_sub(PIN, Ordering::Release);
        before & (DOOMED | PINS) == DOOMED | PIN
    }

    /// Returns the page.
    ///
    /// # Safety
    /// The caller must hold a successful pin while it uses the reference.
    #[inline]
    pub unsafe fn page(&self) -> &T {
        self.page.with(|page| {
            // SAFETY: the caller's pin keeps writers away, by this module's invariant.
            let page = unsafe { &*page };
            page.as_ref().expect("a resident slot has a page")
        })
    }

    /// Returns the state. Under the lock, or for statistics.
    pub fn condition(&self) -> Condition {
        let state = self.state.load(Ordering::Relaxed);
        match state {
            _ if state & LOADING != 0 => Condition::Loading,
            _ if state & DOOMED != 0 => Condition::Doomed,
            _ if state & RESIDENT != 0 => Condition::Resident,
            _ => Condition::Empty,
        }
    }

    /// Whether there are pins, failed ones included.
    pub fn is_pinned(&self) -> bool {
        self.state.load(Ordering::Relaxed) & PINS != 0
    }

    /// Returns the uses since [`Slot::drain_uses`] was last called.
    pub fn uses(&self) -> u64 {
        self.state.load(Ordering::Relaxed) >> USES_SHIFT
    }

    /// Returns the uses since the last call.
    pub fn drain_uses(&self) -> u64 {
        if self.uses() == 0 {
            return 0;
        }
        self.state.fetch_and(USE - 1, Ordering::Relaxed) >> USES_SHIFT
    }

    /// Announces that the caller loads the page. Under the lock, in state [`Condition::Empty`].
    pub fn begin_load(&self) {
        self.state.fetch_or(LOADING, Ordering::Relaxed);
    }

    /// Cancels a load. Under the lock, by the thread that began it.
    pub fn cancel_load(&self) {
        self.state.fetch_and(!LOADING, Ordering::Relaxed);
    }

    /// Stores `page`, pinned once for the caller. If `doomed`, only threads that hold a pin by now can read
    /// it. Under the lock, by the thread that began the load.
    pub fn publish(&self, page: T, doomed: bool) {
        self.page.with_mut(|place| {
            // SAFETY: the slot is not RESIDENT, so no pin succeeds, and LOADING makes this thread the only
            // writer.
            unsafe { *place = Some(page) };
        });
        let flags = if doomed { RESIDENT | DOOMED } else { RESIDENT };
        // LOADING is set and the others are not, so adding and subtracting bits sets and clears them.
        self.state.fetch_add((flags | PIN).wrapping_sub(LOADING), Ordering::Release);
    }

    /// Pins the page, which cannot fail. Under the lock, in state [`Condition::Resident`].
    pub fn pin_resident(&self) {
        let before = self.state.fetch_add(PIN, Ordering::Acquire);
        assert!(before & PINS_MANY == 0, "pins of a page leaked");
    }

    /// Takes the page out if nobody reads it. Under the lock.
    pub fn claim(&self) -> Option<T> {
        let claimed = self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, |state| {
            (state & RESIDENT != 0 && state & PINS == 0).then_some(state & !(RESIDENT | DOOMED))
        });
        claimed.ok()?;
        self.take_page()
    }

    /// Refuses new pins. Returns `true` if there are none, and the caller claims the page; otherwise the
    /// last [`Slot::unpin`] returns `true`. Under the lock, in state [`Condition::Resident`].
    pub fn doom(&self) -> bool {
        self.state.fetch_or(DOOMED, Ordering::Relaxed) & PINS == 0
    }

    /// Accepts pins again. Under the lock, in state [`Condition::Doomed`].
    pub fn revive(&self) {
        self.state.fetch_and(!DOOMED, Ordering::Relaxed);
    }

    /// Takes the page out regardless of its pins. Under the lock.
    ///
    /// # Safety
    /// No reference to the page may be in use; remaining pins must have been leaked.
    pub unsafe fn take(&self) -> Option<T> {
        let before = self.state.fetch_and(!(RESIDENT | DOOMED), Ordering::Acquire);
        if before & RESIDENT == 0 { None } else { self.take_page() }
    }

    /// Takes the page after this thread has cleared RESIDENT under the lock.
    fn take_page(&self) -> Option<T> {
        self.page.with_mut(|page| {
            // SAFETY: this thread cleared RESIDENT while nobody read, so later pins fail; the lock keeps
            // loaders away.
            unsafe { (*page).take() }
        })
    }
}
