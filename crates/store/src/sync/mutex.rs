//! Exclusive access to a value.

use parking_lot::MutexGuard;

use super::thread;

/// [`parking_lot::Mutex`], whose waiting a simulation can see.
#[derive(Debug, Default)]
pub struct Mutex<T: ?Sized>(parking_lot::Mutex<T>);

impl<T> Mutex<T> {
    /// A mutex around `value` that nobody holds.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(parking_lot::Mutex::new(value))
    }

    /// The value, which nobody else can reach any more.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until nobody else holds the value, and holds it until the guard drops. Not reentrant.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        // Builds for production have scheduling points only where a thread would block and at the simulated
        // disk and clock.
        if cfg!(debug_assertions) {
            thread::point();
        }
        match self.0.try_lock() {
            Some(guard) => guard,
            None => self.lock_contended(),
        }
    }

    #[cold]
    #[track_caller]
    fn lock_contended(&self) -> MutexGuard<'_, T> {
        match thread::current() {
            Some(current) => current.wait_until("a mutex", || self.0.try_lock()),
            None => self.0.lock(),
        }
    }

    /// Holds the value if nobody else does now; `None` otherwise.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock()
    }

    /// The value, without locking: the borrow proves that nobody else holds it.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}
