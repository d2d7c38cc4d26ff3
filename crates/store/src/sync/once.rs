//! A cell whose value is set once.

use super::thread;

/// [`std::sync::OnceLock`], whose waits a simulation can see.
#[derive(Debug)]
pub struct OnceLock<T>(std::sync::OnceLock<T>);

impl<T> OnceLock<T> {
    /// Creates a cell without a value.
    pub const fn new() -> OnceLock<T> {
        OnceLock(std::sync::OnceLock::new())
    }

    /// Returns the value if it is set.
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// Sets the value and wakes the threads that wait for it.
    ///
    /// # Errors
    /// Returns `value` if one is set already.
    pub fn set(&self, value: T) -> Result<(), T> {
        self.0.set(value)
    }

    /// Waits until another thread has set the value.
    #[track_caller]
    pub fn wait(&self) -> &T {
        if let Some(value) = self.0.get() {
            return value;
        }
        match thread::current() {
            Some(current) => current.wait_until("a value", || self.0.get()),
            None => self.0.wait(),
        }
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}
