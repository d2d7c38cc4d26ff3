//! What all pools may use together: "how much of the process's memory does nobody know of?"
//!
//! What the process holds beyond the pools (the allocator's free pages, stacks, and whatever nobody charged)
//! is measured from outside, and takes its place from them. Between two measurements the answer grows old, so
//! that one is made by time (whoever calls [`Parent::measure`]) **and** by bytes: no more than a small share
//! of `memory.limit` is granted on one measurement. Before a charge is refused, the allocator gives back what
//! is free, and the process is measured once more.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::gauge::Gauge;

/// Share of `memory.limit` that stays free for what may be allocated between two measurements.
const MARGIN_PERCENT: u64 = 5;
/// One measurement is good for this part of `memory.limit`: after grants of that many bytes the process is
/// measured again.
const GRANTS_PER_LIMIT: u64 = 64;
/// A charge may be older than the memory that it stands for, so that less seems unexplained than is. What was
/// unexplained is forgotten within this time only.
const FORGET_WITHIN: Duration = Duration::from_secs(1);
/// Free pages are given back at most this often because a charge does not fit.
const FREE_EVERY: Duration = Duration::from_millis(20);

/// How this process is measured, and made smaller.
#[derive(Debug, Clone, Copy)]
pub struct Process {
    /// Memory that the system cannot take back.
    pub held_bytes: fn() -> u64,
    /// Gives freed memory that the allocator keeps back to the system.
    pub give_back: fn(),
}

/// What all pools may use together.
#[derive(Debug)]
pub struct Parent {
    memory_limit_bytes: u64,
    gauge: Gauge,
    unexplained_bytes: AtomicU64,
    /// What the process held before anything was charged.
    base_bytes: AtomicU64,
    /// Granted since the last measurement.
    granted_bytes: AtomicU64,
    process: OnceLock<Process>,
    times: Mutex<Times>,
}

#[derive(Debug, Default)]
struct Times {
    measured: Option<Instant>,
    freed: Option<Instant>,
}

impl Parent {
    pub(super) fn new(memory_limit_bytes: u64, limit_bytes: u64) -> Arc<Parent> {
        Arc::new(Parent {
            memory_limit_bytes,
            gauge: Gauge::new(limit_bytes),
            unexplained_bytes: AtomicU64::new(0),
            base_bytes: AtomicU64::new(0),
            granted_bytes: AtomicU64::new(0),
            process: OnceLock::new(),
            times: Mutex::default(),
        })
    }

    /// From now on the process is measured by `process` whenever much was granted. Called once, before
    /// anything is charged.
    pub fn measure_by(&self, process: Process) {
        self.base_bytes.store((process.held_bytes)().saturating_sub(self.used_bytes()), Ordering::Relaxed);
        // A second server of the same process is measured in the same way.
        let _ = self.process.set(process);
    }

    /// What the pools may use together now.
    pub fn limit_bytes(&self) -> u64 {
        let margin = self.memory_limit_bytes / 100 * MARGIN_PERCENT;
        let left = self.memory_limit_bytes.saturating_sub(margin + self.unexplained_bytes());
        left.min(self.gauge.limit())
    }

    /// `indices.breaker.total.limit`.
    pub fn set_limit_bytes(&self, limit_bytes: u64) {
        self.gauge.set_limit(limit_bytes);
    }

    /// Bytes that are charged in all pools together.
    pub fn used_bytes(&self) -> u64 {
        self.gauge.used()
    }

    /// How often a charge was refused that its own pool had room for.
    pub fn tripped_count(&self) -> u64 {
        self.gauge.tripped()
    }

    /// Measured memory that is in no pool.
    pub fn unexplained_bytes(&self) -> u64 {
        self.unexplained_bytes.load(Ordering::Relaxed)
    }

    /// Takes in a measurement of now: `process_bytes` is the memory of the process that the system cannot
    /// take back.
    pub fn measure(&self, process_bytes: u64) {
        self.note(process_bytes, FORGET_WITHIN);
    }

    /// Reserves `bytes`. `Err` has what is used, and the limit.
    pub(super) fn add_within(&self, bytes: u64) -> std::result::Result<(), (u64, u64)> {
        let granted_bytes = self.granted_bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if granted_bytes > self.memory_limit_bytes / GRANTS_PER_LIMIT
            && let Some(process) = self.process.get()
        {
            self.note((process.held_bytes)(), FORGET_WITHIN);
        }
        let limit_bytes = self.limit_bytes();
        let Err(used_bytes) = self.gauge.add_within(bytes, limit_bytes) else { return Ok(()) };
        if !self.is_freed_for(used_bytes.saturating_add(bytes)) {
            return Err((used_bytes, limit_bytes));
        }
        let limit_bytes = self.limit_bytes();
        self.gauge.add_within(bytes, limit_bytes).map_err(|used_bytes| (used_bytes, limit_bytes))
    }

    /// Gives freed memory back and measures anew, where that may make room for `wanted_bytes`.
    fn is_freed_for(&self, wanted_bytes: u64) -> bool {
        let Some(process) = self.process.get().filter(|_| wanted_bytes <= self.gauge.limit()) else {
            return false;
        };
        {
            let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
            if times.freed.is_some_and(|freed| freed.elapsed() < FREE_EVERY) {
                return false;
            }
            times.freed = Some(Instant::now());
        }
        (process.give_back)();
        self.note((process.held_bytes)(), Duration::ZERO);
        true
    }

    fn note(&self, process_bytes: u64, forget_within: Duration) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let since = times.measured.replace(now).map_or(Duration::MAX, |measured| now - measured);
        self.granted_bytes.store(0, Ordering::Relaxed);
        let base_bytes = self.base_bytes.load(Ordering::Relaxed).min(process_bytes);
        let seen_bytes = process_bytes.saturating_sub(self.used_bytes()).max(base_bytes);
        let before_bytes = self.unexplained_bytes();
        let is_forgotten = since >= forget_within || before_bytes <= seen_bytes;
        let unexplained_bytes = match is_forgotten {
            true => seen_bytes,
            false => {
                let share = since.as_secs_f64() / forget_within.as_secs_f64();
                before_bytes - ((before_bytes - seen_bytes) as f64 * share) as u64
            }
        };
        self.unexplained_bytes.store(unexplained_bytes, Ordering::Relaxed);
    }

    pub(super) fn add(&self, bytes: u64) {
        self.gauge.add(bytes);
    }

    pub(super) fn subtract(&self, bytes: u64) {
        self.gauge.subtract(bytes);
    }

    pub(super) fn trip(&self) {
        self.gauge.trip();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    /// What the process holds, as the tests say; freed memory goes when it is asked for.
    static HELD: AtomicU64 = AtomicU64::new(0);
    static FREED: AtomicU64 = AtomicU64::new(0);

    fn parent() -> Arc<Parent> {
        let parent = Parent::new(1000, 900);
        parent.measure_by(Process {
            held_bytes: || HELD.load(Ordering::Relaxed),
            give_back: || {
                HELD.fetch_sub(FREED.swap(0, Ordering::Relaxed), Ordering::Relaxed);
            },
        });
        parent
    }

    /// One test, as the numbers are the process's.
    #[test]
    fn memory_that_nobody_charged_takes_its_place() {
        HELD.store(100, Ordering::Relaxed);
        let parent = parent();
        // More than a 64th is asked for: it is measured first, without a timer.
        HELD.store(400, Ordering::Relaxed);
        assert_eq!(parent.add_within(600).expect_err("400 of 950 are taken"), (0, 550));
        assert!(parent.add_within(500).is_ok());
        HELD.store(900, Ordering::Relaxed);
        parent.measure(900);
        assert_eq!(parent.unexplained_bytes(), 400);
        // What is charged and not yet touched hides nothing: neither what was there before, nor what was seen
        // just now.
        parent.measure(500);
        assert!(parent.unexplained_bytes() > 300, "{}", parent.unexplained_bytes());
        std::thread::sleep(FORGET_WITHIN);
        parent.measure(500);
        assert_eq!(parent.unexplained_bytes(), 100, "what the process held at first is never forgotten");
        // What was freed is given back before anything is refused.
        parent.subtract(500);
        std::thread::sleep(FREE_EVERY);
        HELD.store(800, Ordering::Relaxed);
        FREED.store(700, Ordering::Relaxed);
        parent.measure(800);
        assert!(parent.add_within(800).is_ok(), "{} of {}", parent.used_bytes(), parent.limit_bytes());
    }
}
