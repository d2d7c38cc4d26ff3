//! What the threads of a request have allocated: "how much does it hold that nobody charged?"
//!
//! Allocations are counted by the allocator ([`count_allocations_by`]); without such a count only charges
//! made by hand, and what is stated, hold.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::no_room::NoRoom;
use crate::stop::Stop;

/// Memory that a request may hold before it is charged, and by which its charge grows and shrinks: an
/// ordinary search charges nothing here.
const STEP_BYTES: i64 = 256 << 10;

static ALLOCATED_BYTES: OnceLock<fn() -> i64> = OnceLock::new();

thread_local! {
    /// What this thread has charged to any pool and not given back; negative where it gave back what another
    /// thread charged.
    static CHARGED_BYTES: Cell<i64> = const { Cell::new(0) };
}

/// Names the count of bytes that the calling thread has allocated, less those that it has freed. Called once,
/// at the start of a process.
pub fn count_allocations_by(allocated_bytes: fn() -> i64) {
    // A second server of the same process counts in the same way.
    let _ = ALLOCATED_BYTES.set(allocated_bytes);
}

/// Tells that this thread charged bytes to a budget, or gave them back: they are not charged again.
pub fn note_charged(bytes: i64) {
    // A thread that ends drops its charges after its counters.
    let _ = CHARGED_BYTES.try_with(|charged| charged.set(charged.get().wrapping_add(bytes)));
}

/// What this thread has allocated beyond its charges. Only differences mean something.
pub(crate) fn uncharged_bytes() -> i64 {
    let Some(allocated_bytes) = ALLOCATED_BYTES.get() else { return 0 };
    allocated_bytes().wrapping_sub(CHARGED_BYTES.get())
}

/// Bytes that the calling thread has allocated, less those that it has freed: for what is measured by the
/// difference. 0 where nobody counts.
pub fn allocated_bytes() -> i64 {
    ALLOCATED_BYTES.get().map_or(0, |allocated_bytes| allocated_bytes())
}

/// Who grants memory to a request, such as a charge of a ledger's pool. What it has is given back when it
/// drops. It tells [`note_charged`].
pub trait Account: fmt::Debug + Send + Sync {
    /// What it has been granted.
    fn bytes(&self) -> u64;

    /// Reserves `bytes` more.
    ///
    /// # Errors
    /// Where there is no room; nothing is reserved then.
    fn grow(&mut self, bytes: u64) -> Result<(), NoRoom>;

    /// Gives back all but `bytes`.
    fn shrink_to(&mut self, bytes: u64);

    /// Another one of the same budget that has nothing yet.
    fn empty(&self) -> Box<dyn Account>;
}

/// What a request holds beyond its own charges, whichever of its threads made it.
#[derive(Debug)]
pub struct Meter {
    held_bytes: AtomicI64,
    /// The same with what is charged by hand.
    allocated_bytes: AtomicI64,
    account: Mutex<Box<dyn Account>>,
    /// What `account` has, read without the lock.
    charged_bytes: AtomicI64,
    /// What was refused to a thread that works no longer for the request.
    untold: Mutex<Option<Stop>>,
}

impl Meter {
    /// Nothing is held yet; what will be is charged to `account`, which is empty.
    pub fn new(account: Box<dyn Account>) -> Meter {
        Meter {
            held_bytes: AtomicI64::new(0),
            allocated_bytes: AtomicI64::new(0),
            account: Mutex::new(account),
            charged_bytes: AtomicI64::new(0),
            untold: Mutex::new(None),
        }
    }

    pub(crate) fn keep_untold(&self, refusal: Stop) {
        self.untold.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(refusal);
    }

    pub(crate) fn take_untold(&self) -> Option<Stop> {
        self.untold.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// As much of what the request will hold was charged for it already, by other threads.
    #[must_use]
    pub fn prepaid(self, bytes: u64) -> Meter {
        self.note(-(bytes as i64));
        self
    }

    /// The account with what is held, for whoever keeps it when the request has ended. Called by a thread of
    /// the request.
    pub fn take_account(&self) -> Box<dyn Account> {
        let mut account = self.lock();
        let rest = account.empty();
        self.charged_bytes.store(0, Ordering::Relaxed);
        note_charged(account.bytes() as i64);
        std::mem::replace(&mut *account, rest)
    }

    fn lock(&self) -> MutexGuard<'_, Box<dyn Account>> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// So much more is held.
    pub(crate) fn note(&self, more_bytes: i64) {
        if more_bytes != 0 {
            self.held_bytes.fetch_add(more_bytes, Ordering::Relaxed);
        }
    }

    pub(crate) fn note_allocated(&self, more_bytes: i64) {
        self.allocated_bytes.fetch_add(more_bytes, Ordering::Relaxed);
    }

    /// All that its threads have allocated and not freed, whoever counts it: how much of the process's memory
    /// it is to blame for.
    pub fn allocated_bytes(&self) -> u64 {
        self.allocated_bytes.load(Ordering::Relaxed).max(0) as u64
    }

    /// So much more is held for it by threads that do not work for it.
    pub fn blame(&self, bytes: i64) {
        self.note_allocated(bytes);
    }

    /// Charges what is held.
    pub(crate) fn settle(&self) -> Result<(), NoRoom> {
        let held_bytes = self.held_bytes.load(Ordering::Relaxed);
        let charged_bytes = self.charged_bytes.load(Ordering::Relaxed);
        let is_little = charged_bytes == 0 && held_bytes < STEP_BYTES;
        if is_little || (charged_bytes - 4 * STEP_BYTES..=charged_bytes).contains(&held_bytes) {
            return Ok(());
        }
        let mut account = self.lock();
        // What the meter charges stands for what is held: it is not subtracted from it.
        let charged_bytes = account.bytes() as i64;
        let wanted_bytes = held_bytes.max(0).saturating_add(STEP_BYTES);
        if wanted_bytes > charged_bytes {
            account.grow((wanted_bytes - charged_bytes) as u64)?;
        } else {
            account.shrink_to(wanted_bytes as u64);
        }
        note_charged(charged_bytes - wanted_bytes);
        self.charged_bytes.store(wanted_bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Reserves room for `bytes` more, which are not held yet; the next [`Meter::settle`] gives back what did
    /// not become memory. What only looked whether there is room would let many requests in at once.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<(), NoRoom> {
        let mut account = self.lock();
        account.grow(bytes)?;
        note_charged(-(bytes as i64));
        self.charged_bytes.store(account.bytes() as i64, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        // Given back with the account; see `Meter::settle`.
        note_charged(self.lock().bytes() as i64);
    }
}
