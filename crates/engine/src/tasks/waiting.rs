//! Tells the owner of a thread that the thread is waiting for the disk, so that the owner can run another job
//! meanwhile.
//!
//! A bulk's thread spends a third of its time in the translog's fsync. With one thread per core, cores would
//! be idle during that time.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use limber_mapping::{ErrorClass, RequestError};
use limber_work as work;

use crate::api::Result;

/// How many requests of the process may wait for something to happen at the same time. Each of them holds a
/// thread, and the thread pools have no more for them.
const WAITING_REQUESTS_MAX: usize = 192;
/// Time between two checks whether the client still waits for the response.
const LOOK: Duration = Duration::from_millis(50);

static WAITING_REQUESTS: AtomicUsize = AtomicUsize::new(0);

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
pub struct GivenUp(Arc<dyn ThreadOwner>);

/// Lets another job run beside this one, which takes long. Other jobs need not wait for it, and the system
/// divides the processors among them. Returns `None` if the thread has no owner or its slot is already
/// released.
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

/// Sets the owner of the current thread.
pub fn set_thread_owner(owner: Arc<dyn ThreadOwner>) {
    OWNER.set(Some(owner));
}

/// Runs `wait`. The owner of the thread may run another job meanwhile.
pub(crate) fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    struct Resume(Arc<dyn ThreadOwner>);
    impl Drop for Resume {
        fn drop(&mut self) {
            HAS_GIVEN_UP.set(false);
            self.0.end_wait();
        }
    }
    let owner = OWNER.with_borrow(|owner| owner.clone()).filter(|_| !HAS_GIVEN_UP.get());
    let _resume = owner.map(|owner| {
        // While it waits, the slot counts as released, so that a long job does not release it again.
        HAS_GIVEN_UP.set(true);
        owner.begin_wait();
        Resume(owner)
    });
    wait()
}

/// Waits for something that a client wants to wait for. `look` may block for the given duration. It is called
/// repeatedly until it finds something, until `deadline` (which returns `None`), or until nobody waits for
/// the response any more. The owner of the thread may run another job meanwhile.
///
/// # Errors
/// Fails with the errors of `look`, when the request is cancelled, and with `TooManyRequests` when too many
/// requests are waiting.
pub fn wait_until<T>(
    deadline: Instant,
    mut look: impl FnMut(Duration) -> Result<Option<T>>,
) -> Result<Option<T>> {
    if let Some(found) = look(Duration::ZERO)? {
        return Ok(Some(found));
    }
    if Instant::now() >= deadline {
        return Ok(None);
    }
    let _one = WaitingRequest::enter()?;
    waiting(|| {
        loop {
            work::check_beyond_deadline()?;
            let left = deadline.saturating_duration_since(Instant::now());
            let found = look(left.min(LOOK))?;
            if found.is_some() || left.is_zero() {
                return Ok(found);
            }
        }
    })
}

/// One waiting request.
struct WaitingRequest;

impl WaitingRequest {
    fn enter() -> Result<WaitingRequest> {
        let one = WaitingRequest;
        if WAITING_REQUESTS.fetch_add(1, Ordering::Relaxed) < WAITING_REQUESTS_MAX {
            return Ok(one);
        }
        let reason = format!("rejected execution of request: {WAITING_REQUESTS_MAX} requests wait already");
        Err(RequestError::new(ErrorClass::TooManyRequests, "es_rejected_execution_exception", reason))
    }
}

impl Drop for WaitingRequest {
    fn drop(&mut self) {
        WAITING_REQUESTS.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_until_found_or_late_or_cancelled() {
        let soon = || Instant::now() + Duration::from_millis(5);
        let far = Instant::now() + Duration::from_secs(3600);
        let mut looks = 0;
        let found = wait_until(far, |_| {
            looks += 1;
            Ok((looks == 3).then_some(looks))
        });
        assert_eq!(found.expect("found"), Some(3));
        let never = |step| {
            std::thread::sleep(step);
            Ok(None::<()>)
        };
        assert_eq!(wait_until(soon(), never).expect("late"), None);
        let request = work::Work::default();
        request.cancelled.store(true, Ordering::Relaxed);
        let _entered = request.enter();
        assert!(wait_until(far, never).is_err());
    }
}
