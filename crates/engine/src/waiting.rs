//! "This thread waits for the disk": told to the owner of the thread, so that it lets another job run meanwhile.
//!
//! A bulk's thread spends a third of its time in the translog's fsync; with one thread a core, cores would stand still.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Who hands jobs to a thread, such as a bounded pool.
pub trait ThreadOwner: Send + Sync {
    /// The job on this thread waits, using no processor.
    fn begin_wait(&self);
    /// It goes on.
    fn end_wait(&self);
}

thread_local! {
    static OWNER: RefCell<Option<Arc<dyn ThreadOwner>>> = const { RefCell::new(None) };
    static HAS_GIVEN_UP: Cell<bool> = const { Cell::new(false) };
}

/// A turn that a job gave up: it goes on beside the others, whose owner counts it again when this drops, at the job's end.
pub struct GivenUp(Arc<dyn ThreadOwner>);

/// Lets another job run beside this one, which takes long: others need not wait for it, and the system shares the processors out.
/// `None`: the thread has no owner.
pub fn give_up_turn() -> Option<GivenUp> {
    let owner = OWNER.with_borrow(|owner| owner.clone()).filter(|_| !HAS_GIVEN_UP.get())?;
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

/// Names the owner of the current thread.
pub fn set_thread_owner(owner: Arc<dyn ThreadOwner>) {
    OWNER.set(Some(owner));
}

/// Runs `wait`, during which the owner of the thread may let another job run.
pub(crate) fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    struct Resume(Arc<dyn ThreadOwner>);
    impl Drop for Resume {
        fn drop(&mut self) {
            self.0.end_wait();
        }
    }
    let owner = OWNER.with_borrow(|owner| owner.clone()).filter(|_| !HAS_GIVEN_UP.get());
    let _resume = owner.map(|owner| {
        owner.begin_wait();
        Resume(owner)
    });
    wait()
}
