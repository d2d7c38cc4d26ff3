//! Waits for something that a client wants to wait for, such as a refresh or the end of a task.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use limber_mapping::{ErrorClass, RequestError};
use limber_work as work;

use crate::api::Result;

/// How many requests of the process may wait for something to happen at the same time. Each of them holds a
/// thread, of which a pool has no more for them. A client may have as many as are left for others.
const WAITING_REQUESTS_MAX: usize = 256;
/// Time between two checks whether the client still waits for the response.
const LOOK: Duration = Duration::from_millis(50);

static WAITING_REQUESTS: Mutex<Waiting> = Mutex::new(Waiting { count: 0, clients: BTreeMap::new() });

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

/// The requests that wait.
#[derive(Debug)]
struct Waiting {
    count: usize,
    /// How many of them each client has.
    clients: BTreeMap<u64, usize>,
}

impl Waiting {
    fn locked() -> MutexGuard<'static, Waiting> {
        WAITING_REQUESTS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request, unless there are too many, or too many of its client. Work of the node itself has no
    /// client (0).
    fn add(&mut self, client: u64) -> bool {
        let left = WAITING_REQUESTS_MAX.saturating_sub(self.count);
        let own = self.clients.get(&client).copied().unwrap_or(0);
        let has_place = left > 0 && (client == 0 || own == 0 || own < left);
        if has_place {
            self.count += 1;
            self.clients.insert(client, own + 1);
        }
        has_place
    }

    fn remove(&mut self, client: u64) {
        self.count -= 1;
        let left = self.clients.get(&client).map_or(0, |own| own - 1);
        if left == 0 {
            self.clients.remove(&client);
        } else {
            self.clients.insert(client, left);
        }
    }
}

/// One waiting request of a client.
struct WaitingRequest(u64);

impl WaitingRequest {
    fn enter() -> Result<WaitingRequest> {
        let client = work::Work::current().map_or(0, |work| work.client);
        if Waiting::locked().add(client) {
            return Ok(WaitingRequest(client));
        }
        let reason = "rejected execution of request: too many requests wait, or too many of this client";
        Err(RequestError::new(ErrorClass::TooManyRequests, "es_rejected_execution_exception", reason))
    }
}

impl Drop for WaitingRequest {
    fn drop(&mut self) {
        Waiting::locked().remove(self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn clients_leave_places_to_others() {
        let mut waiting = Waiting { count: 0, clients: BTreeMap::new() };
        let all = |waiting: &mut Waiting, client| (0..1_000).filter(|_| waiting.add(client)).count();
        assert_eq!(all(&mut waiting, 1), WAITING_REQUESTS_MAX / 2);
        assert_eq!(all(&mut waiting, 2), WAITING_REQUESTS_MAX / 4);
        assert_eq!(all(&mut waiting, 0), WAITING_REQUESTS_MAX / 4);
        assert!(!waiting.add(3));
        waiting.remove(2);
        assert!(waiting.add(3));
        assert_eq!((waiting.count, waiting.clients.len()), (WAITING_REQUESTS_MAX, 4));
        (0..WAITING_REQUESTS_MAX / 2).for_each(|_| waiting.remove(1));
        assert_eq!((waiting.count, waiting.clients.len()), (WAITING_REQUESTS_MAX / 2, 3));
    }

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
        let cancelled = Arc::new(AtomicBool::new(true));
        let request = work::Work { cancelled, ..work::Work::default() };
        let _entered = request.enter();
        assert!(wait_until(far, never).is_err());
    }
}
