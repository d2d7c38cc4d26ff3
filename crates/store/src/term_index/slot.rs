//! The weak handle: "is my page in memory, and may I read it now?"
//!
//! A slot is the page's only address. One 64-bit word holds who uses it and how often it was used; beside it
//! lies the page.
//!
//! ```text
//! bits  0..20  pins: readers now
//! bit   20     RESIDENT: there is a page and pins are good
//! bit   21     DOOMED: the page goes with its last pin; new pins are refused
//! bit   22     LOADING: one thread brings the page
//! bits 24..64  uses since they were drained; overflow falls off the top
//! ```
//!
//! Pinning is one `fetch_add` of a pin and a use. When the flags of the old value say that there is no page
//! to read, the pin was in vain and is taken back like any other; until then it only makes the slot look
//! busy, and a slot that looks busy is merely not evicted.
//!
//! Flags change only under the lock of the slot's shard ("locked" below); pins and uses change at any time.
//!
//! **Invariant**: the page is written or taken only while no pin that saw it RESIDENT exists. `claim` takes
//! RESIDENT away in the same atomic step that proves the pins zero; DOOMED is either seen by the last pin to
//! go, which then has to release the page, or `doom` sees that there are no pins. `tests/slot_model.rs`
//! checks this file with loom.

use super::sync::{AtomicU64, Ordering, UnsafeCell};

const PIN: u64 = 1;
const PINS: u64 = (1 << 20) - 1;
/// More pins than threads could hold; pins beyond it are refused so that they cannot spill into the flags.
const PINS_MANY: u64 = 1 << 19;
const RESIDENT: u64 = 1 << 20;
const DOOMED: u64 = 1 << 21;
const LOADING: u64 = 1 << 22;
const USE: u64 = 1 << 24;
const USES_SHIFT: u32 = 24;

/// The place of one page: its users, its uses, and the page itself while it is in memory.
pub struct Slot<T> {
    state: AtomicU64,
    page: UnsafeCell<Option<T>>,
}

/// What a slot is, as its shard's lock holder sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// There is no page, and nobody loads it.
    Empty,
    /// One thread loads the page.
    Loading,
    /// The page is in memory and can be pinned.
    Resident,
    /// The page goes with its last pin and takes no new ones.
    Doomed,
}

// SAFETY: the page is reached by shared reference from many threads (needs `T: Sync`) and taken out by any
// one of them (needs `T: Send`); the invariant above keeps the two apart.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot { state: AtomicU64::new(0), page: UnsafeCell::new(None) }
    }
}

impl<T> Slot<T> {
    /// Counts a use and pins the page. `false`: there is none to read, and the caller calls [`Slot::unpin`]
    /// all the same.
    #[inline]
    pub fn pin(&self) -> bool {
        // Acquire: what the loading thread wrote before `publish` is seen.
        let before = self.state.fetch_add(PIN | USE, Ordering::Acquire);
        before & (RESIDENT | DOOMED | PINS_MANY) == RESIDENT
    }

    /// Lets go of a pin. `true`: the page is doomed and this was the last pin; the caller takes the lock and
    /// claims it.
    #[inline]
    #[must_use]
    pub fn unpin(&self) -> bool {
        // Release: reads of the page happen before whoever claims it.
        let before = self.state.fetch_sub(PIN, Ordering::Release);
        before & (DOOMED | PINS) == DOOMED | PIN
    }

    /// The page.
    ///
    /// # Safety
    /// The caller holds a successful pin for as long as it uses the reference.
    #[inline]
    pub unsafe fn page(&self) -> &T {
        self.page.with(|page| {
            // SAFETY: the caller's pin keeps writers away, by this module's invariant.
            let page = unsafe { &*page };
            page.as_ref().expect("a resident slot has a page")
        })
    }

    /// Locked, or for statistics.
    pub fn condition(&self) -> Condition {
        let state = self.state.load(Ordering::Relaxed);
        match state {
            _ if state & LOADING != 0 => Condition::Loading,
            _ if state & DOOMED != 0 => Condition::Doomed,
            _ if state & RESIDENT != 0 => Condition::Resident,
            _ => Condition::Empty,
        }
    }

    /// Whether there are pins, those in vain included.
    pub fn is_pinned(&self) -> bool {
        self.state.load(Ordering::Relaxed) & PINS != 0
    }

    /// Uses since [`Slot::drain_uses`] was called last.
    pub fn uses(&self) -> u64 {
        self.state.load(Ordering::Relaxed) >> USES_SHIFT
    }

    /// Uses since this was called last.
    pub fn drain_uses(&self) -> u64 {
        if self.uses() == 0 {
            return 0;
        }
        self.state.fetch_and(USE - 1, Ordering::Relaxed) >> USES_SHIFT
    }

    /// Locked, [`Condition::Empty`]: announces that the caller loads the page.
    pub fn begin_load(&self) {
        self.state.fetch_or(LOADING, Ordering::Relaxed);
    }

    /// Locked, by who began the load.
    pub fn cancel_load(&self) {
        self.state.fetch_and(!LOADING, Ordering::Relaxed);
    }

    /// Locked, by who began the load: `page` is there, pinned once for the caller. `doomed`: for who has a
    /// pin by now only.
    pub fn publish(&self, page: T, doomed: bool) {
        self.page.with_mut(|place| {
            // SAFETY: the slot is not RESIDENT, so no pin succeeds, and LOADING makes this thread the only
            // writer.
            unsafe { *place = Some(page) };
        });
        let flags = if doomed { RESIDENT | DOOMED } else { RESIDENT };
        // LOADING is set and the others are not, so adding and subtracting bits is setting and clearing them.
        self.state.fetch_add((flags | PIN).wrapping_sub(LOADING), Ordering::Release);
    }

    /// Locked, [`Condition::Resident`]: a pin that cannot fail.
    pub fn pin_resident(&self) {
        let before = self.state.fetch_add(PIN, Ordering::Acquire);
        assert!(before & PINS_MANY == 0, "pins of a page leaked");
    }

    /// Locked: takes the page out if nobody reads it.
    pub fn claim(&self) -> Option<T> {
        let claimed = self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, |state| {
            (state & RESIDENT != 0 && state & PINS == 0).then_some(state & !(RESIDENT | DOOMED))
        });
        claimed.ok()?;
        self.take_page()
    }

    /// Locked, [`Condition::Resident`]: refuses new pins. `true`: there are none, the caller claims the page;
    /// else the last [`Slot::unpin`] says so.
    pub fn doom(&self) -> bool {
        self.state.fetch_or(DOOMED, Ordering::Relaxed) & PINS == 0
    }

    /// Locked, [`Condition::Doomed`]: takes pins again.
    pub fn revive(&self) {
        self.state.fetch_and(!DOOMED, Ordering::Relaxed);
    }

    /// Locked: takes the page out whatever its pins say.
    ///
    /// # Safety
    /// No reference to the page is in use; pins that are left were leaked.
    pub unsafe fn take(&self) -> Option<T> {
        let before = self.state.fetch_and(!(RESIDENT | DOOMED), Ordering::Acquire);
        if before & RESIDENT == 0 { None } else { self.take_page() }
    }

    /// After RESIDENT was taken away by this thread, under the lock.
    fn take_page(&self) -> Option<T> {
        self.page.with_mut(|page| {
            // SAFETY: this thread took RESIDENT away while nobody read, so later pins fail; the lock keeps
            // loaders away.
            unsafe { (*page).take() }
        })
    }
}
