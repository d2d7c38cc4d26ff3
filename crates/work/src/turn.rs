//! Whose turn it is: "this job waits or takes long; may another one run beside it?"
//!
//! A pool runs as many jobs as there are processors. A bulk's thread spends a third of its time in the
//! translog's fsync, so with one thread per core, cores would be idle; and a job that waits for another one,
//! or computes for long, would keep short ones from running.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Runs jobs on threads, such as a bounded thread pool.
pub trait ThreadOwner: Send + Sync {
    /// Called when the job on this thread begins to wait without using a processor.
    fn begin_wait(&self);
    /// Called when it continues.
    fn end_wait(&self);
}

thread_local! {
    static OWNER: RefCell<Option<Arc<dyn ThreadOwner>>> = const { RefCell::new(None) };
    static HAS_GIVEN_UP: Cell<bool> = const { Cell::new(false) };
}

/// The released slot of a long job, which continues beside the other jobs. When this is dropped at the job's
/// end, the owner counts the thread again.
#[must_use = "the slot is taken again when this drops"]
pub struct GivenUp(Arc<dyn ThreadOwner>);

impl std::fmt::Debug for GivenUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GivenUp")
    }
}

/// Lets another job run beside this one, which takes long. Other jobs need not wait for it, and the system
/// divides the processors among them. Returns `None` if the thread has no owner or its slot is already
/// released.
pub fn give_up_turn() -> Option<GivenUp> {
    // A thread that ends may still wait for locks.
    let owner = OWNER.try_with(|owner| owner.borrow().clone()).ok().flatten();
    let owner = owner.filter(|_| !HAS_GIVEN_UP.get())?;
    HAS_GIVEN_UP.set(true);
    owner.begin_wait();
    Some(GivenUp(owner))
}

impl Drop for GivenUp {
    fn drop(&mut self) {
        HAS_GIVEN_UP.set(false);
        self.0.end_wait();
    }
}

/// Sets the owner of the current thread.
pub fn set_thread_owner(owner: Arc<dyn ThreadOwner>) {
    OWNER.set(Some(owner));
}

/// Runs `wait`, during which the thread needs no processor. The owner of the thread may run another job
/// meanwhile.
pub fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    // While it waits, the slot counts as released, so that a long job does not release it again.
    let _released = give_up_turn();
    wait()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, Ordering};

    #[derive(Default)]
    struct Counting(AtomicI64);

    impl ThreadOwner for Counting {
        fn begin_wait(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn end_wait(&self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_slot_is_released_once_and_taken_again() {
        assert!(give_up_turn().is_none(), "a thread without an owner");
        let owner = Arc::new(Counting::default());
        set_thread_owner(owner.clone());
        let released = || owner.0.load(Ordering::Relaxed);
        assert_eq!(waiting(released), 1);
        let given_up = give_up_turn();
        assert_eq!((waiting(released), give_up_turn().is_none()), (1, true));
        drop(given_up);
        assert_eq!(released(), 0);
        assert_eq!(waiting(released), 1);
    }
}
