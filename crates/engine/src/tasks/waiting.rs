//! "This thread waits for the disk": told to the owner of the thread, so that it lets another job run
//! meanwhile.
//!
//! A bulk's thread spends a third of its time in the translog's fsync; with one thread a core, cores would
//! stand still.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use limber_mapping::{ErrorClass, RequestError};
use limber_work as work;

use crate::api::Result;

/// Requests of the process that may wait at a time for something to happen: each holds a thread, and the
/// pools have no more for them.
const PATIENT_MAX: usize = 192;
/// Between two looks at whether somebody still waits for the answer.
const LOOK: Duration = Duration::from_millis(50);

static PATIENT: AtomicUsize = AtomicUsize::new(0);

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

/// A turn that a job gave up: it goes on beside the others, whose owner counts it again when this drops, at
/// the job's end.
pub struct GivenUp(Arc<dyn ThreadOwner>);

/// Lets another job run beside this one, which takes long: others need not wait for it, and the system shares
/// the processors out. `None`: the thread has no owner.
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
            HAS_GIVEN_UP.set(false);
            self.0.end_wait();
        }
    }
    let owner = OWNER.with_borrow(|owner| owner.clone()).filter(|_| !HAS_GIVEN_UP.get());
    let _resume = owner.map(|owner| {
        // A job that takes long meanwhile has given its turn up already.
        HAS_GIVEN_UP.set(true);
        owner.begin_wait();
        Resume(owner)
    });
    wait()
}

/// Waits for what a client asked to wait for. `look` may wait as long as it is told, and is called again
/// until it finds something, until `deadline` (`None`), or until nobody waits for the answer any more. The
/// owner of the thread lets another job run meanwhile.
///
/// # Errors
/// Those of `look`; the request was cancelled; `TooManyRequests` where as many requests wait as may.
pub fn patiently<T>(
    deadline: Instant,
    mut look: impl FnMut(Duration) -> Result<Option<T>>,
) -> Result<Option<T>> {
    if let Some(found) = look(Duration::ZERO)? {
        return Ok(Some(found));
    }
    if Instant::now() >= deadline {
        return Ok(None);
    }
    let _one = Patient::enter()?;
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

/// One of the requests that wait.
struct Patient;

impl Patient {
    fn enter() -> Result<Patient> {
        let one = Patient;
        if PATIENT.fetch_add(1, Ordering::Relaxed) < PATIENT_MAX {
            return Ok(one);
        }
        let reason = format!("rejected execution of request: {PATIENT_MAX} requests wait already");
        Err(RequestError::new(ErrorClass::TooManyRequests, "es_rejected_execution_exception", reason))
    }
}

impl Drop for Patient {
    fn drop(&mut self) {
        PATIENT.fetch_sub(1, Ordering::Relaxed);
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
        let found = patiently(far, |_| {
            looks += 1;
            Ok((looks == 3).then_some(looks))
        });
        assert_eq!(found.expect("found"), Some(3));
        let never = |step| {
            std::thread::sleep(step);
            Ok(None::<()>)
        };
        assert_eq!(patiently(soon(), never).expect("late"), None);
        let request = work::Work::default();
        request.cancelled.store(true, Ordering::Relaxed);
        let _entered = request.enter();
        assert!(patiently(far, never).is_err());
    }
}
