//! Progress of a request by query: how far it is, how fast it may go, and whether it must stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use limber_store::sync::{self, Condvar, Mutex};
use serde_json::{Map, Value, json};

/// How many threads of a request write, however many slices it has: as many as `slices=auto` may have.
const WRITERS_MAX: usize = 20;

/// Which counters a request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// The counters of `_delete_by_query`.
    Deletes,
    /// The counters of `_update_by_query`.
    Updates,
    /// The counters of `_reindex`.
    Copies,
}

/// The state of a running request by query: written by its threads, read by `GET _tasks`, changed by
/// `_rethrottle` and `_cancel`.
///
/// Source: `org.elasticsearch.index.reindex.BulkByScrollTask`.
#[derive(Debug)]
pub struct Progress {
    counted: Counted,
    /// Set when the task is cancelled.
    cancelled: Arc<AtomicBool>,
    /// Operations per second allowed for all slices together, as the bits of an `f32`; infinite for no limit.
    requests_per_second: AtomicU32,
    total: AtomicU64,
    /// The slices, at least one.
    slices: Box<[Slice]>,
    wake: (Mutex<()>, Condvar),
    /// The slice's number, if the client divided its work into several requests.
    slice_id: Option<u32>,
}

/// Counters of one slice.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    /// Documents that the slice received.
    pub given: AtomicU64,
    pub updated: AtomicU64,
    pub created: AtomicU64,
    pub deleted: AtomicU64,
    pub noops: AtomicU64,
    pub batches: AtomicU64,
    pub version_conflicts: AtomicU64,
    pub bulk_retries: AtomicU64,
    pub search_retries: AtomicU64,
    throttled_ms: AtomicU64,
    /// When its current pause began and when it will end.
    paused: Mutex<Option<(Instant, Instant)>>,
}

/// Longest sleep in a pause before it checks for cancellation.
const PAUSE_STEP: Duration = Duration::from_millis(50);

impl Progress {
    pub(crate) fn new(
        counted: Counted,
        slices: usize,
        requests_per_second: f32,
        cancelled: Arc<AtomicBool>,
    ) -> Progress {
        Progress {
            counted,
            cancelled,
            requests_per_second: AtomicU32::new(requests_per_second.to_bits()),
            total: AtomicU64::new(0),
            slices: (0..slices.max(1)).map(|_| Slice::default()).collect(),
            wake: Default::default(),
            slice_id: None,
        }
    }

    pub(crate) fn of_slice(self, slice_id: Option<u32>) -> Progress {
        Progress { slice_id, ..self }
    }

    pub(crate) fn set_total(&self, total: u64) {
        self.total.store(total, Relaxed);
    }

    pub(crate) fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// Returns how many documents the slices received.
    pub(crate) fn given(&self) -> u64 {
        self.slices.iter().map(|slice| slice.given.load(Relaxed)).sum()
    }

    pub(crate) fn slice(&self, number: usize) -> &Slice {
        &self.slices[number]
    }

    pub(crate) fn slice_count(&self) -> usize {
        self.slices.len()
    }

    /// Returns how many threads write for the slices.
    pub(crate) fn writer_count(&self) -> usize {
        self.slices.len().min(WRITERS_MAX)
    }

    /// Returns the flag that cancels the request.
    pub fn cancelled_flag(&self) -> Arc<AtomicBool> {
        self.cancelled.clone()
    }

    /// Whether the request must stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }

    /// Counts that reading was rejected and is tried again.
    pub fn note_search_retry(&self) {
        self.slices[0].search_retries.fetch_add(1, Relaxed);
    }

    /// Waits, unless the request is cancelled first.
    pub fn pause(&self, pause: Duration) {
        let mut left = pause;
        while !left.is_zero() && !self.is_cancelled() {
            let step = left.min(PAUSE_STEP);
            sync::sleep(step);
            left -= step;
        }
    }

    /// Returns the allowed operations per second; infinite for no limit.
    pub fn requests_per_second(&self) -> f32 {
        f32::from_bits(self.requests_per_second.load(Relaxed))
    }

    /// Changes the speed. A current pause becomes shorter or longer accordingly.
    pub fn rethrottle(&self, requests_per_second: f32) {
        self.requests_per_second.store(requests_per_second.to_bits(), Relaxed);
        let _guard = self.wake.0.lock();
        self.wake.1.notify_all();
    }

    /// Pauses a slice until a batch of `count` operations, begun at `start`, has taken as long as the speed
    /// requires.
    pub(crate) fn throttle(&self, number: usize, start: Instant, count: u64) {
        let slice = &self.slices[number];
        let paused_at = Instant::now();
        let mut guard = self.wake.0.lock();
        loop {
            let seconds = count as f64 * self.writer_count() as f64 / f64::from(self.requests_per_second());
            // At an extremely low speed, a pause of one day is long enough; the slice can be cancelled or
            // sped up meanwhile.
            let until = start + Duration::from_secs_f64(seconds.min(86_400.0));
            let now = Instant::now();
            if until <= now || self.is_cancelled() {
                break;
            }
            *slice.paused.lock() = Some((paused_at, until));
            self.wake.1.wait_for(&mut guard, PAUSE_STEP.min(until - now));
        }
        drop(guard);
        if slice.paused.lock().take().is_some() {
            slice.throttled_ms.fetch_add(paused_at.elapsed().as_millis() as u64, Relaxed);
        }
    }

    /// Renders the counters as `GET _tasks` and the response show them, with `slices` if there are several.
    pub fn to_json(&self) -> Value {
        let all: Vec<&Slice> = self.slices.iter().collect();
        let mut status = Map::new();
        status.extend(self.slice_id.map(|id| ("slice_id".to_owned(), id.into())));
        status.extend(self.counters(&all, self.total(), 1.0));
        if self.slices.len() > 1 {
            let share = 1.0 / self.slices.len() as f32;
            let one = |(number, slice): (usize, &Slice)| {
                let mut object = Map::from_iter([("slice_id".to_owned(), number.into())]);
                object.extend(self.counters(&[slice], slice.given.load(Relaxed), share));
                Value::Object(object)
            };
            status.insert("slices".to_owned(), self.slices.iter().enumerate().map(one).collect());
        }
        Value::Object(status)
    }

    fn counters(&self, slices: &[&Slice], total: u64, share: f32) -> Map<String, Value> {
        let sum = |field: fn(&Slice) -> &AtomicU64| -> Value {
            slices.iter().map(|slice| field(slice).load(Relaxed)).sum::<u64>().into()
        };
        let pause = slices.iter().filter_map(|slice| *slice.paused.lock()).map(|(_, until)| until).max();
        let until =
            pause.map_or(0, |until| until.saturating_duration_since(Instant::now()).as_millis() as u64);
        let speed = self.requests_per_second() * share;
        let mut out = Map::new();
        let mut put = |name: &str, value: Value| drop(out.insert(name.to_owned(), value));
        put("total", total.into());
        if self.counted != Counted::Deletes {
            put("updated", sum(|slice| &slice.updated));
        }
        if self.counted == Counted::Copies {
            put("created", sum(|slice| &slice.created));
        }
        put("deleted", sum(|slice| &slice.deleted));
        put("batches", sum(|slice| &slice.batches));
        put("version_conflicts", sum(|slice| &slice.version_conflicts));
        put("noops", sum(|slice| &slice.noops));
        put(
            "retries",
            json!({"bulk": sum(|slice| &slice.bulk_retries), "search": sum(|slice| &slice.search_retries)}),
        );
        put("throttled_millis", sum(|slice| &slice.throttled_ms));
        put(
            "requests_per_second",
            limber_search::score::float_to_json(if speed.is_finite() { speed } else { -1.0 }),
        );
        if self.is_cancelled() {
            put("canceled", "by user request".into());
        }
        put("throttled_until_millis", until.into());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_when_the_speed_is_raised_or_the_task_cancelled() {
        let cancelled = Arc::new(AtomicBool::new(false));
        let progress = Progress::new(Counted::Copies, 1, 0.001, cancelled.clone());
        std::thread::scope(|scope| {
            let slow = scope.spawn(|| progress.throttle(0, Instant::now(), 100));
            while progress.slice(0).paused.lock().is_none() {
                std::thread::yield_now();
            }
            assert!(progress.to_json()["throttled_until_millis"].as_u64().is_some_and(|ms| ms > 1_000_000));
            progress.rethrottle(f32::INFINITY);
            slow.join().expect("no panic");
        });
        assert_eq!(progress.to_json()["requests_per_second"], json!(-1.0));
        progress.rethrottle(0.001);
        cancelled.store(true, Relaxed);
        progress.throttle(0, Instant::now(), 100);
        assert_eq!(progress.to_json()["canceled"], "by user request");
    }

    #[test]
    fn slices_add_up() {
        let progress = Progress::new(Counted::Deletes, 2, f32::INFINITY, Arc::default());
        progress.set_total(5);
        for (number, count) in [(0, 2), (1, 3)] {
            progress.slice(number).given.store(count, Relaxed);
            progress.slice(number).deleted.store(count, Relaxed);
        }
        let status = progress.to_json();
        assert_eq!((&status["total"], &status["deleted"]), (&json!(5), &json!(5)));
        assert_eq!(status["slices"][1]["deleted"], json!(3));
        assert!(status.get("created").is_none() && status.get("updated").is_none());
    }
}
