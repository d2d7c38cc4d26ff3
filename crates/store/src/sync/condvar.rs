//! Waiting for a notification.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::MutexGuard;

use super::thread::{self, Current};

/// [`parking_lot::Condvar`], whose waits a simulation can see. A simulated thread wakes when it is notified
/// or its timeout expires, and in some schedules spuriously, so a caller must wait in a loop.
#[derive(Debug, Default)]
pub struct Condvar {
    real: parking_lot::Condvar,
    /// Number of simulated threads that wait here.
    simulated_count: AtomicUsize,
}

/// Whether a wait ended because of its timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the timeout expired before a notification.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Creates a condition variable.
    pub const fn new() -> Condvar {
        Condvar { real: parking_lot::Condvar::new(), simulated_count: AtomicUsize::new(0) }
    }

    /// Releases the mutex, waits for a notification, and acquires the mutex again.
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        match thread::current() {
            Some(current) => drop(self.wait_simulated(&current, guard, None)),
            None => self.real.wait(guard),
        }
    }

    /// Waits as [`Condvar::wait`] does, for at most `timeout`; for a simulated thread this is measured on
    /// the simulation's clock.
    #[track_caller]
    pub fn wait_for<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, timeout: Duration) -> WaitTimeoutResult {
        match thread::current() {
            Some(current) => self.wait_simulated(&current, guard, Some(timeout)),
            None => WaitTimeoutResult(self.real.wait_for(guard, timeout).timed_out()),
        }
    }

    /// Waits as [`Condvar::wait_for`] does, until `deadline`.
    #[track_caller]
    pub fn wait_until<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        deadline: Instant,
    ) -> WaitTimeoutResult {
        match thread::current() {
            Some(current) => {
                let timeout = deadline.saturating_duration_since(Instant::now());
                self.wait_simulated(&current, guard, Some(timeout))
            }
            None => WaitTimeoutResult(self.real.wait_until(guard, deadline).timed_out()),
        }
    }

    #[track_caller]
    fn wait_simulated<T: ?Sized>(
        &self,
        current: &Current,
        guard: &mut MutexGuard<'_, T>,
        timeout: Option<Duration>,
    ) -> WaitTimeoutResult {
        let mutex = MutexGuard::mutex(guard);
        let location = std::panic::Location::caller();
        self.simulated_count.fetch_add(1, Ordering::Relaxed);
        let was_notified = MutexGuard::unlocked(guard, || {
            let was_notified = current.wait_notified(self.address(), timeout, location);
            // The guard acquires its mutex right after this. No other simulated thread runs meanwhile, so
            // it need not block.
            if mutex.is_locked() {
                current.wait_until("a mutex", || (!mutex.is_locked()).then_some(()));
            }
            was_notified
        });
        self.simulated_count.fetch_sub(1, Ordering::Relaxed);
        WaitTimeoutResult(!was_notified)
    }

    /// Wakes one waiting thread, a simulated one first. Returns whether there was one.
    #[inline]
    pub fn notify_one(&self) -> bool {
        if self.simulated_count.load(Ordering::Relaxed) > 0 && thread::notify(self.address(), false) {
            return true;
        }
        self.real.notify_one()
    }

    /// Wakes all waiting threads. Returns their number, without simulated threads.
    #[inline]
    pub fn notify_all(&self) -> usize {
        if self.simulated_count.load(Ordering::Relaxed) > 0 {
            thread::notify(self.address(), true);
        }
        self.real.notify_all()
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}
