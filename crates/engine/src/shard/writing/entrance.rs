//! How many requests write to a shard at a time.
//!
//! A request that writes has a buffer to itself, and each buffer becomes a segment at the next refresh. If
//! all requests of an overloaded node wrote at the same time, every refresh would leave dozens of tiny
//! segments. An id is searched in each of them, so that writes would take longer, and still more of them
//! would run at the same time. So as many write as there are processors, in the order in which they came.

use std::time::Duration;

use limber_store::sync::{Condvar, Mutex};

/// A request enters after this time in any case, so that documents that take seconds each delay nobody for
/// longer.
const WAIT_MAX: Duration = Duration::from_millis(250);

/// Lets a bounded number of writers in.
#[derive(Debug)]
pub(in crate::shard) struct Entrance {
    most: usize,
    state: Mutex<State>,
    /// Notified when the place of a writer is passed on.
    passed_on: Condvar,
}

#[derive(Debug, Default)]
struct State {
    inside: usize,
    waiting: usize,
    /// Places of writers that have left, each for one of those that wait. They count as inside.
    passed_on: usize,
}

/// Guard: while it lives, its writer is inside.
#[derive(Debug)]
pub(in crate::shard) struct Inside<'e>(&'e Entrance);

impl Entrance {
    /// Lets in as many writers at a time as there are processors, and at least two.
    pub(in crate::shard) fn of_this_machine() -> Entrance {
        Entrance::new(std::thread::available_parallelism().map_or(2, |processors| processors.get().max(2)))
    }

    fn new(most: usize) -> Entrance {
        Entrance { most, state: Mutex::default(), passed_on: Condvar::new() }
    }

    /// Waits until there is a place, at most [`WAIT_MAX`].
    pub(in crate::shard) fn enter(&self) -> Inside<'_> {
        let mut state = self.state.lock();
        if state.inside < self.most && state.waiting == 0 {
            state.inside += 1;
            return Inside(self);
        }
        state.waiting += 1;
        let mut is_late = false;
        while state.passed_on == 0 && !is_late {
            is_late = self.passed_on.wait_for(&mut state, WAIT_MAX).timed_out();
        }
        state.waiting -= 1;
        match state.passed_on {
            0 => state.inside += 1,
            _ => state.passed_on -= 1,
        }
        Inside(self)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        // While there are more writers inside than places, because some entered late, nobody follows one that
        // leaves.
        if state.inside <= self.0.most && state.waiting > state.passed_on {
            state.passed_on += 1;
            drop(state);
            self.0.passed_on.notify_one();
        } else {
            state.inside -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn as_many_are_inside_as_there_are_places_and_all_get_in() {
        let entrance = Entrance::new(2);
        let (inside, most, done) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _inside = entrance.enter();
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), 1_600);
        // On a stalled machine somebody may have entered late.
        assert!(most.into_inner() <= 8);
        let state = entrance.state.lock();
        assert_eq!((state.inside, state.waiting, state.passed_on), (0, 0, 0));
    }

    #[test]
    fn nobody_waits_for_long_documents_for_ever() {
        let entrance = Entrance::new(1);
        let long = entrance.enter();
        let late = entrance.enter();
        assert_eq!(entrance.state.lock().inside, 2);
        drop(long);
        drop(late);
        assert_eq!(entrance.state.lock().inside, 0);
    }
}
