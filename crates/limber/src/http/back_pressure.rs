//! Searches under way, and what they hold: "which one has to go, so that the others can go on?"
//!
//! Where memory is short, whoever asks next would be refused, and the one search that holds most of it would
//! go on. So the search that holds most is ended instead, once memory is short at several looks in a row; the
//! others are let be.
//!
//! Source: OpenSearch's search backpressure (`SearchBackpressureService`), whose setting
//! `search_backpressure.mode` this obeys.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use limber_mapping::{ErrorClass, RequestError};
use limber_work::Meter;
use parking_lot::Mutex;

/// Shares of `memory.limit`: above the first memory is short; a search that holds less than the second is
/// never ended.
const SHORT_PERCENT: u64 = 85;
const LARGE_PERCENT: u64 = 10;
/// Looks in a row at which memory must be short.
const LOOKS: u32 = 3;
/// Between two searches that are ended: what the first one held must be seen to go.
const PAUSE: Duration = Duration::from_millis(250);

/// What is done with the search that holds most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is ended.
    Enforced,
    /// It is told in the log.
    MonitorOnly,
    Disabled,
}

impl Mode {
    /// By the value of `search_backpressure.mode`, which was checked.
    pub fn of(text: &str) -> Mode {
        match text {
            "enforced" => Mode::Enforced,
            "monitor_only" => Mode::MonitorOnly,
            _ => Mode::Disabled,
        }
    }
}

/// The searches under way.
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

/// A search; it is under way as long as somebody has this.
#[derive(Debug)]
pub struct RunningSearch {
    meter: Arc<Meter>,
    cancelled: Arc<AtomicBool>,
    /// What it held when it was ended; 0: it was not.
    ended_at_bytes: AtomicU64,
}

impl RunningSearch {
    /// Why it was ended, in place of "cancelled".
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
    /// Notes a search that begins, so that it can be ended when memory is short.
    pub fn begin(&self, meter: Arc<Meter>, cancelled: Arc<AtomicBool>) -> Arc<RunningSearch> {
        let search = Arc::new(RunningSearch { meter, cancelled, ended_at_bytes: AtomicU64::new(0) });
        let mut searches = self.searches.lock();
        searches.retain(|search| search.strong_count() > 0);
        searches.push(Arc::downgrade(&search));
        search
    }

    /// How many were ended since the start.
    pub fn ended_count(&self) -> u64 {
        self.ended_count.load(Ordering::Relaxed)
    }

    /// A look at the memory of the process, of which `limit_bytes` may be held.
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

    /// A search whose threads hold as many bytes.
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
