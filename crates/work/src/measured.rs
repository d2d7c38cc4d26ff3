//! Measures what the threads of a request have allocated beyond their explicit charges.
//!
//! The allocator counts allocations ([`count_allocations_by`]). Without its count, only explicit charges
//! and stated bytes are limited.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::memory_limit_exceeded::MemoryLimitExceeded;
use crate::stop::Stop;

/// Bytes that a request may hold before it is charged, and the step by which its charge grows and shrinks.
/// An ordinary search charges nothing here.
const STEP_BYTES: i64 = 256 << 10;

static ALLOCATED_BYTES: OnceLock<fn() -> i64> = OnceLock::new();

thread_local! {
    /// Bytes that this thread has charged to any pool and not released; negative if it released what
    /// another thread charged.
    static CHARGED_BYTES: Cell<i64> = const { Cell::new(0) };
}

/// Sets the function that returns the bytes which the calling thread has allocated, less those that it has
/// freed. Call it once, at the start of the process.
pub fn count_allocations_by(allocated_bytes: fn() -> i64) {
    // A second server in the same process counts in the same way.
    let _ = ALLOCATED_BYTES.set(allocated_bytes);
}

/// Records that this thread charged bytes to a budget (negative: released them), so that they are not
/// charged again.
pub fn note_charged(bytes: i64) {
    // A thread that ends drops its charges after its counters.
    let _ = CHARGED_BYTES.try_with(|charged| charged.set(charged.get().wrapping_add(bytes)));
}

/// Returns what this thread has allocated beyond its charges. Only differences of it are meaningful.
pub(crate) fn uncharged_bytes() -> i64 {
    let Some(allocated_bytes) = ALLOCATED_BYTES.get() else { return 0 };
    allocated_bytes().wrapping_sub(CHARGED_BYTES.get())
}

/// Returns the bytes that the calling thread has allocated, less those that it has freed; 0 if they are not
/// counted. Only differences of it are meaningful.
pub fn allocated_bytes() -> i64 {
    ALLOCATED_BYTES.get().map_or(0, |allocated_bytes| allocated_bytes())
}

/// Grants memory to a request, such as a charge of a ledger's pool does. Its bytes are released when it
/// drops. It must call [`note_charged`].
pub trait Account: fmt::Debug + Send + Sync {
    /// Returns the granted bytes.
    fn bytes(&self) -> u64;

    /// Reserves `bytes` more.
    ///
    /// # Errors
    /// Fails if they do not fit; nothing is reserved then.
    fn grow(&mut self, bytes: u64) -> Result<(), MemoryLimitExceeded>;

    /// Releases all but `bytes`.
    fn shrink_to(&mut self, bytes: u64);

    /// Returns an account of the same budget that holds nothing yet.
    fn empty(&self) -> Box<dyn Account>;
}

/// Counts what a request holds beyond its own charges, on all of its threads.
#[derive(Debug)]
pub struct Meter {
    held_bytes: AtomicI64,
    /// The same, including explicit charges.
    allocated_bytes: AtomicI64,
    account: Mutex<Box<dyn Account>>,
    /// The granted bytes of `account`, readable without the lock.
    charged_bytes: AtomicI64,
    /// The refusal to a thread that no longer works for the request.
    untold: Mutex<Option<Stop>>,
}

impl Meter {
    /// Creates a meter that holds nothing; what it will hold is charged to `account`, which must be empty.
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

    /// Deducts `bytes` that other threads have already charged for the request.
    #[must_use]
    pub fn prepaid(self, bytes: u64) -> Meter {
        self.note(-(bytes as i64));
        self
    }

    /// Returns the account with the bytes held, for code that keeps them after the request has ended. Call
    /// it on a thread of the request.
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

    /// Adds to the bytes held.
    pub(crate) fn note(&self, more_bytes: i64) {
        if more_bytes != 0 {
            self.held_bytes.fetch_add(more_bytes, Ordering::Relaxed);
        }
    }

    pub(crate) fn note_allocated(&self, more_bytes: i64) {
        self.allocated_bytes.fetch_add(more_bytes, Ordering::Relaxed);
    }

    /// Returns all bytes that its threads have allocated and not freed, whichever budget counts them: the
    /// request's share of the process's memory.
    pub fn allocated_bytes(&self) -> u64 {
        self.allocated_bytes.load(Ordering::Relaxed).max(0) as u64
    }

    /// Adds bytes that other threads hold on behalf of the request.
    pub fn blame(&self, bytes: i64) {
        self.note_allocated(bytes);
    }

    /// Adjusts the charge to the bytes held.
    pub(crate) fn settle(&self) -> Result<(), MemoryLimitExceeded> {
        let held_bytes = self.held_bytes.load(Ordering::Relaxed);
        let charged_bytes = self.charged_bytes.load(Ordering::Relaxed);
        let is_little = charged_bytes == 0 && held_bytes < STEP_BYTES;
        if is_little || (charged_bytes - 4 * STEP_BYTES..=charged_bytes).contains(&held_bytes) {
            return Ok(());
        }
        let mut account = self.lock();
        // The meter's own charge covers the bytes held, so it must not be subtracted from them.
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

    /// Reserves `bytes` that are not allocated yet; the next [`Meter::settle`] releases the part that was
    /// not allocated. If it only checked the limit, many requests could pass at once.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<(), MemoryLimitExceeded> {
        let mut account = self.lock();
        account.grow(bytes)?;
        note_charged(-(bytes as i64));
        self.charged_bytes.store(account.bytes() as i64, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        // Released with the account; see `Meter::settle`.
        note_charged(self.lock().bytes() as i64);
    }
}
