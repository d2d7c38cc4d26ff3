//! Running searches and the memory they hold: "which one must end so that the others can go on?"
//!
//! When memory is short, new requests would be refused while the one search that holds most of the memory
//! goes on. So that search is cancelled instead, once memory has been short at several checks in a row. The
//! others continue.
//!
//! Source: OpenSearch's search backpressure (`SearchBackpressureService`), whose setting
//! `search_backpressure.mode` applies here.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use limber_mapping::{ErrorClass, RequestError};
use limber_work::Meter;
use parking_lot::Mutex;

/// Percentages of `memory.limit`: memory is short above the first; a search that holds less than the second
/// is never cancelled.
const SHORT_PERCENT: u64 = 85;
const LARGE_PERCENT: u64 = 10;
/// Number of consecutive checks at which memory must be short.
const LOOKS: u32 = 3;
/// Minimum time between two cancellations: the memory of the first search must have time to be freed.
const PAUSE: Duration = Duration::from_millis(250);

/// What happens to the search that holds most memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is cancelled.
    Enforced,
    /// It is logged.
    MonitorOnly,
    Disabled,
}

impl Mode {
    /// Parses the value of `search_backpressure.mode`, which has been validated.
    pub fn of(text: &str) -> Mode {
        match text {
            "enforced" => Mode::Enforced,
            "monitor_only" => Mode::MonitorOnly,
            _ => Mode::Disabled,
        }
    }
}

/// The running searches.
#[derive(Debug, Default)]
pub struct BackPressure {
    searches: Mutex<Vec<Weak<RunningSearch>>>,
    ended_count: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    short_looks: u32,
    ended: Option<Instant>,
}

/// A search. It counts as running until this is dropped.
#[derive(Debug)]
pub struct RunningSearch {
    meter: Arc<Meter>,
    cancelled: Arc<AtomicBool>,
    /// Bytes that it held when it was cancelled; 0 if it was not.
    ended_at_bytes: AtomicU64,
}

impl RunningSearch {
    /// Returns why it was cancelled, to be reported instead of "cancelled".
    pub fn refusal(&self) -> Option<RequestError> {
        let bytes = self.ended_at_bytes.load(Ordering::Relaxed);
        (bytes > 0).then(|| {
            let reason = format!(
                "rejected execution of search: memory was short, and of all searches it held the most [{bytes}b]"
            );
            RequestError::new(ErrorClass::TooManyRequests, "es_rejected_execution_exception", reason)
        })
    }
}

impl BackPressure {
    /// Registers a search that begins, so that it can be cancelled when memory is short.
    pub fn begin(&self, meter: Arc<Meter>, cancelled: Arc<AtomicBool>) -> Arc<RunningSearch> {
        let search = Arc::new(RunningSearch { meter, cancelled, ended_at_bytes: AtomicU64::new(0) });
        let mut searches = self.searches.lock();
        searches.retain(|search| search.strong_count() > 0);
        searches.push(Arc::downgrade(&search));
        search
    }

    /// Returns how many searches have been cancelled since the start.
    pub fn ended_count(&self) -> u64 {
        self.ended_count.load(Ordering::Relaxed)
    }

    /// Checks the memory of the process against `limit_bytes`, and cancels a search if memory has been short
    /// for several checks.
    pub fn look(&self, held_bytes: u64, limit_bytes: u64, mode: impl FnOnce() -> Mode) {
        let mut state = self.state.lock();
        if held_bytes <= limit_bytes / 100 * SHORT_PERCENT {
            state.short_looks = 0;
            return;
        }
        state.short_looks += 1;
        if state.short_looks < LOOKS || state.ended.is_some_and(|ended| ended.elapsed() < PAUSE) {
            return;
        }
        let searches: Vec<Arc<RunningSearch>> =
            self.searches.lock().iter().filter_map(Weak::upgrade).collect();
        let under_way = searches.iter().filter(|search| !search.cancelled.load(Ordering::Relaxed));
        let Some(largest) = under_way.max_by_key(|search| search.meter.allocated_bytes()) else { return };
        let bytes = largest.meter.allocated_bytes();
        let mode = mode();
        if bytes < limit_bytes / 100 * LARGE_PERCENT || mode == Mode::Disabled {
            return;
        }
        state.ended = Some(Instant::now());
        tracing::warn!(
            held_bytes,
            search_bytes = bytes,
            ?mode,
            "memory is short: the search that holds most"
        );
        if mode == Mode::Enforced {
            largest.ended_at_bytes.store(bytes, Ordering::Relaxed);
            largest.cancelled.store(true, Ordering::Relaxed);
            self.ended_count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use limber_store::Pool;

    use super::*;

    /// Registers a search whose threads hold this many bytes.
    fn search(pressure: &BackPressure, bytes: u64) -> Arc<RunningSearch> {
        let meter = Arc::new(Pool::new("request", u64::MAX / 2).meter());
        meter.blame(bytes as i64);
        pressure.begin(meter, Arc::default())
    }

    #[test]
    fn the_largest_search_goes_when_memory_stays_short() {
        let pressure = BackPressure::default();
        let (small, large) = (search(&pressure, 50), search(&pressure, 400));
        let middle = search(&pressure, 300);
        for _ in 0..LOOKS - 1 {
            pressure.look(900, 1000, || Mode::Enforced);
        }
        assert!(large.refusal().is_none(), "not at once");
        pressure.look(900, 1000, || Mode::Enforced);
        assert_eq!(large.refusal().map(|error| error.class), Some(ErrorClass::TooManyRequests));
        assert!(
            large.cancelled.load(Ordering::Relaxed)
                && small.refusal().is_none()
                && middle.refusal().is_none()
        );
        pressure.look(900, 1000, || Mode::Enforced);
        assert!(middle.refusal().is_none(), "the first one needs time to go");
        assert_eq!(pressure.ended_count(), 1);
    }

    #[test]
    fn small_ones_and_others_modes_are_let_be() {
        for (bytes, mode) in [(99, Mode::Enforced), (500, Mode::Disabled), (500, Mode::MonitorOnly)] {
            let pressure = BackPressure::default();
            let search = search(&pressure, bytes);
            (0..9).for_each(|_| pressure.look(990, 1000, || mode));
            assert!(search.refusal().is_none(), "{bytes} {mode:?}");
        }
        let pressure = BackPressure::default();
        let search = search(&pressure, 500);
        (0..9).for_each(|look| pressure.look(if look % 2 == 0 { 990 } else { 100 }, 1000, || Mode::Enforced));
        assert!(search.refusal().is_none(), "never short for long");
    }
}
