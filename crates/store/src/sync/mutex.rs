//! Exclusive access to a value.

use parking_lot::MutexGuard;

use super::{SHORT_WAIT, thread};

/// [`parking_lot::Mutex`], whose waits a simulation can see.
#[derive(Debug, Default)]
pub struct Mutex<T: ?Sized>(parking_lot::Mutex<T>);

impl<T> Mutex<T> {
    /// Creates an unlocked mutex around `value`.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(parking_lot::Mutex::new(value))
    }

    /// Returns the value; nobody else can access it any more.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until the mutex is free and locks it until the guard drops. Not reentrant.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        // Production builds have scheduling points only where a thread would block, and at the simulated
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
            None => self.0.try_lock_for(SHORT_WAIT).unwrap_or_else(|| limber_work::waiting(|| self.0.lock())),
        }
    }

    /// Locks the mutex if it is free; returns `None` otherwise.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock()
    }

    /// Returns the value without locking: the borrow proves that nobody else holds it.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}
