//! Waits for something that a client wants to wait for, such as a refresh or the end of a task.

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
    work::waiting(|| {
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
