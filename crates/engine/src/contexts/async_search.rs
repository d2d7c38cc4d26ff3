//! Async searches, which continue after their request was answered: "is it done, and what has it found?"
//!
//! Each search has its own thread. Its response is kept, and its memory stays charged, until it expires or is
//! deleted.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use limber_mapping::{ErrorClass, RequestError};
use limber_search::SearchResponse;
use limber_store::sync::{Condvar, Mutex};

use crate::api::Result;
use crate::contexts::is_own;
use crate::environment::{Clock, Environment};
use crate::tasks::waiting::wait_until;

/// One async search, running or done.
pub struct AsyncSearch {
    /// The id in `_async_search/{id}`.
    pub id: String,
    /// When it started by the wall clock, for display.
    pub start_millis: u64,
    /// When it started by the monotonic clock.
    started_at_ms: u64,
    /// Shards that are searched.
    pub shard_count: u32,
    pub(crate) cancelled: Arc<AtomicBool>,
    /// The user who started it; `None` when requests are not authenticated.
    owner: Option<String>,
    expiry: Mutex<Expiry>,
    end: Mutex<Option<Arc<AsyncSearchEnd>>>,
    ended: Condvar,
}

/// When a search expires: by the wall clock for display, and by the monotonic clock, which decides.
#[derive(Debug, Clone, Copy)]
struct Expiry {
    wall_millis: u64,
    monotonic_millis: u64,
}

impl Expiry {
    fn after(clock: &dyn Clock, keep_alive_ms: u64) -> Expiry {
        Expiry {
            wall_millis: clock.now_millis().saturating_add(keep_alive_ms),
            monotonic_millis: clock.monotonic_millis().saturating_add(keep_alive_ms),
        }
    }
}

/// How a search ended.
#[derive(Debug)]
pub struct AsyncSearchEnd {
    /// When it ended, in milliseconds since 1970: its start plus the time it took, so that setting the clock
    /// meanwhile cannot put the end before the start.
    pub millis: u64,
    /// What it found, or why it failed.
    pub outcome: limber_search::Result<SearchResponse>,
}

impl AsyncSearch {
    /// Returns how the search ended; `None` while it runs.
    pub fn end(&self) -> Option<Arc<AsyncSearchEnd>> {
        self.end.lock().clone()
    }

    /// Waits up to `wait_ms` for the search to end.
    ///
    /// # Errors
    /// Fails when nobody waits for the response any more, or when too many requests wait.
    pub(crate) fn wait(&self, wait_ms: u64) -> Result<()> {
        let deadline = Instant::now() + Duration::from_millis(wait_ms.min(WAIT_MAX_MS));
        let came = wait_until(deadline, |step| {
            let mut end = self.end.lock();
            if end.is_none() && !step.is_zero() {
                self.ended.wait_for(&mut end, step);
            }
            Ok(end.is_some().then_some(()))
        });
        came.map(|_| ())
    }

    /// Returns when the search expires, by the wall clock.
    pub fn expires_millis(&self) -> u64 {
        self.expiry.lock().wall_millis
    }

    pub(crate) fn finish(&self, clock: &dyn Clock, outcome: limber_search::Result<SearchResponse>) {
        let took_ms = clock.monotonic_millis().saturating_sub(self.started_at_ms);
        let end = AsyncSearchEnd { millis: self.start_millis.saturating_add(took_ms), outcome };
        *self.end.lock() = Some(Arc::new(end));
        self.ended.notify_all();
    }

    fn is_alive(&self, monotonic_millis: u64) -> bool {
        self.expiry.lock().monotonic_millis > monotonic_millis
    }

    fn is_running(&self) -> bool {
        self.end.lock().is_none()
    }
}

/// Longest time a request waits.
const WAIT_MAX_MS: u64 = 3_600_000;
/// Threads that may run at a time, and searches that may be kept. Elasticsearch has no such limits; it bounds
/// the size of a response instead.
const RUNNING_MAX: usize = 64;
const KEPT_MAX: usize = 1_000;
/// Source: `SubmitAsyncSearchRequest#MIN_KEEP_ALIVE`.
const KEEP_ALIVE_MIN_MS: u64 = 1_000;
const ID_BYTES: usize = 32;

pub(crate) struct AsyncSearches {
    environment: Environment,
    kept: Mutex<HashMap<String, Arc<AsyncSearch>>>,
}

impl AsyncSearches {
    pub(crate) fn new(environment: &Environment) -> AsyncSearches {
        AsyncSearches { environment: environment.clone(), kept: Mutex::default() }
    }

    /// Registers a search that is about to run. Fails with `TooManyRequests` when there are too many.
    pub(crate) fn add(
        &self,
        keep_alive_ms: u64,
        shard_count: u32,
        cancelled: Arc<AtomicBool>,
    ) -> Result<Arc<AsyncSearch>> {
        if keep_alive_ms < KEEP_ALIVE_MIN_MS {
            return Err(RequestError::validation([format!(
                "[keep_alive] must be greater or equals than 1 second, got:{keep_alive_ms}ms"
            )]));
        }
        self.expire();
        let mut bytes = [0u8; ID_BYTES];
        self.environment.randomness.fill(&mut bytes);
        let clock = &*self.environment.clock;
        let search = Arc::new(AsyncSearch {
            id: URL_SAFE_NO_PAD.encode(bytes),
            start_millis: clock.now_millis(),
            started_at_ms: clock.monotonic_millis(),
            shard_count,
            cancelled,
            owner: crate::contexts::owner(),
            expiry: Mutex::new(Expiry::after(clock, keep_alive_ms)),
            end: Mutex::new(None),
            ended: Condvar::new(),
        });
        let mut kept = self.kept.lock();
        let running = kept.values().filter(|search| search.is_running()).count();
        if running >= RUNNING_MAX || kept.len() >= KEPT_MAX {
            return Err(RequestError::new(
                ErrorClass::TooManyRequests,
                "es_rejected_execution_exception",
                format!(
                    "[{running}] async searches run and [{}] are kept, of at most [{RUNNING_MAX}] and [{KEPT_MAX}]",
                    kept.len()
                ),
            ));
        }
        kept.insert(search.id.clone(), search.clone());
        Ok(search)
    }

    /// Returns a search. Fails with `resource_not_found_exception` (`NotFound`) when it is unknown or has
    /// expired.
    pub(crate) fn get(&self, id: &str, keep_alive_ms: Option<u64>) -> Result<Arc<AsyncSearch>> {
        let clock = &*self.environment.clock;
        let found = self.kept.lock().get(id).cloned();
        let found = found
            .filter(|search| search.is_alive(clock.monotonic_millis()) && is_own(search.owner.as_deref()));
        let found = found.ok_or_else(|| missing(id))?;
        if let Some(keep_alive_ms) = keep_alive_ms {
            *found.expiry.lock() = Expiry::after(clock, keep_alive_ms);
        }
        Ok(found)
    }

    /// Removes a search, and stops it if it runs.
    pub(crate) fn remove(&self, id: &str) -> Result<()> {
        let mut kept = self.kept.lock();
        if !kept.get(id).is_some_and(|search| is_own(search.owner.as_deref())) {
            return Err(missing(id));
        }
        let search = kept.remove(id).ok_or_else(|| missing(id))?;
        drop(kept);
        search.cancelled.store(true, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn clear(&self) {
        for (_, search) in self.kept.lock().drain() {
            search.cancelled.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn expire(&self) {
        let now_ms = self.environment.clock.monotonic_millis();
        self.kept.lock().retain(|_, search| {
            let stays = search.is_alive(now_ms);
            if !stays {
                search.cancelled.store(true, Ordering::Relaxed);
            }
            stays
        });
    }
}

fn missing(id: &str) -> RequestError {
    let shown: String = id.chars().take(64).collect();
    RequestError::not_found("resource_not_found_exception", shown)
}
