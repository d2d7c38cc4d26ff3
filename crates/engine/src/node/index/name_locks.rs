//! Locks by name, for creations and rollovers of a name, and for opening, closing and removing the shards of
//! an index.

use std::collections::HashSet;
use std::sync::Arc;

use limber_store::sync::{Condvar, Mutex};

/// The names that are locked.
#[derive(Default)]
pub(in crate::node) struct NameLocks {
    held: Mutex<HashSet<Arc<str>>>,
    released: Condvar,
}

/// Releases its name when dropped.
pub(in crate::node) struct NameLock<'l> {
    locks: &'l NameLocks,
    name: Arc<str>,
}

impl NameLocks {
    /// Waits until `name` is free and locks it. A thread that holds one name must not lock another.
    pub(in crate::node) fn lock(&self, name: &str) -> NameLock<'_> {
        let name: Arc<str> = name.into();
        let mut held = self.held.lock();
        while !held.insert(name.clone()) {
            self.released.wait(&mut held);
        }
        NameLock { locks: self, name }
    }

    /// Locks `name` if it is free.
    pub(in crate::node) fn try_lock(&self, name: &str) -> Option<NameLock<'_>> {
        let name: Arc<str> = name.into();
        let is_free = self.held.lock().insert(name.clone());
        is_free.then(|| NameLock { locks: self, name })
    }
}

impl Drop for NameLock<'_> {
    fn drop(&mut self) {
        self.locks.held.lock().remove(&self.name);
        self.locks.released.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_name_is_held_once_and_others_do_not_wait() {
        let (locks, inside) = (NameLocks::default(), AtomicU32::new(0));
        let _other = locks.lock("other");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _one = locks.lock("one");
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
    }
}
