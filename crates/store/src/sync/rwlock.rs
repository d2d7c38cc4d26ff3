//! Shared or exclusive access to a value.

use parking_lot::{RwLockReadGuard, RwLockWriteGuard};

use super::{SHORT_WAIT, thread};

/// [`parking_lot::RwLock`], whose waits a simulation can see. As there, a waiting writer keeps new readers
/// out.
#[derive(Debug, Default)]
pub struct RwLock<T: ?Sized>(parking_lot::RwLock<T>);

impl<T> RwLock<T> {
    /// Creates an unlocked lock around `value`.
    pub const fn new(value: T) -> RwLock<T> {
        RwLock(parking_lot::RwLock::new(value))
    }

    /// Returns the value; nobody else can access it any more.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until nobody writes or waits to write, then locks for reading until the guard drops.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        if cfg!(debug_assertions) {
            thread::point();
            if thread::does_writer_wait(self.address()) {
                return self.read_contended();
            }
        }
        match self.0.try_read() {
            Some(guard) => guard,
            None => self.read_contended(),
        }
    }

    /// Waits until nobody else reads or writes, then locks exclusively until the guard drops.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        if cfg!(debug_assertions) {
            thread::point();
        }
        match self.0.try_write() {
            Some(guard) => guard,
            None => self.write_contended(),
        }
    }

    #[cold]
    #[track_caller]
    fn read_contended(&self) -> RwLockReadGuard<'_, T> {
        let Some(current) = thread::current() else {
            let soon = self.0.try_read_for(SHORT_WAIT);
            return soon.unwrap_or_else(|| limber_work::waiting(|| self.0.read()));
        };
        let address = self.address();
        current.wait_until("a lock, to read", || {
            if current.does_writer_wait(address) { None } else { self.0.try_read() }
        })
    }

    #[cold]
    #[track_caller]
    fn write_contended(&self) -> RwLockWriteGuard<'_, T> {
        let Some(current) = thread::current() else {
            let soon = self.0.try_write_for(SHORT_WAIT);
            return soon.unwrap_or_else(|| limber_work::waiting(|| self.0.write()));
        };
        let _waits = current.announce_writer(self.address());
        current.wait_until("a lock, to write", || self.0.try_write())
    }

    /// Returns the value without locking: the borrow proves that nobody else holds it.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(&self.0).cast::<()>() as usize
    }
}
