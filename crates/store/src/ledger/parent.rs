//! The limit of all pools together, reduced by the memory that no pool accounts for.
//!
//! Memory that the process holds beyond the pools (the allocator's free pages, stacks, and allocations
//! without a charge) is measured from outside and deducted from the pools' common limit. A measurement
//! becomes outdated, so one is made periodically (by the caller of [`Parent::measure`]) **and** by bytes:
//! only a small share of `memory.limit` is granted per measurement. Before a charge is refused, the
//! allocator releases its free memory and the process is measured once more.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::gauge::Gauge;

/// Share of `memory.limit` that is kept free for allocations between two measurements.
const MARGIN_PERCENT: u64 = 5;
/// Share of `memory.limit` that only upkeep may use, but at most a quarter of what there is.
const UPKEEP_PERCENT: u64 = 8;
/// What is kept from requests may always use this share of `memory.limit`.
const KEPT_PERCENT_MIN: u64 = 10;
/// After grants of `memory.limit` divided by this number, the process is measured again.
const GRANTS_PER_LIMIT: u64 = 64;
/// A charge may be older than its memory, so a measurement may show too little unexplained memory. The
/// previous figure therefore falls to a lower one only gradually, within this time.
const FORGET_WITHIN: Duration = Duration::from_secs(1);
/// Free memory is released for the sake of a refused charge at most once per this time.
const FREE_EVERY: Duration = Duration::from_millis(20);

/// How to measure this process, and how to shrink it.
#[derive(Debug, Clone, Copy)]
pub struct Process {
    /// Memory that the system cannot take back.
    pub held_bytes: fn() -> u64,
    /// Releases freed memory that the allocator keeps to the system.
    pub give_back: fn(),
}

/// The memory that all pools may use together.
#[derive(Debug)]
pub struct Parent {
    memory_limit_bytes: u64,
    gauge: Gauge,
    /// Bytes that upkeep uses.
    upkeep_bytes: AtomicU64,
    unexplained_bytes: AtomicU64,
    /// Memory of the process before anything was charged.
    base_bytes: AtomicU64,
    /// Bytes granted since the last measurement.
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
            upkeep_bytes: AtomicU64::new(0),
            unexplained_bytes: AtomicU64::new(0),
            base_bytes: AtomicU64::new(0),
            granted_bytes: AtomicU64::new(0),
            process: OnceLock::new(),
            times: Mutex::default(),
        })
    }

    /// Sets `process` as the way to measure the process after many grants. Call it once, before anything is
    /// charged.
    pub fn measure_by(&self, process: Process) {
        self.base_bytes.store((process.held_bytes)().saturating_sub(self.used_bytes()), Ordering::Relaxed);
        // A second server in the same process is measured in the same way.
        let _ = self.process.set(process);
    }

    /// Returns the bytes that the pools may use together at present.
    pub fn limit_bytes(&self) -> u64 {
        let margin = self.memory_limit_bytes / 100 * MARGIN_PERCENT;
        let left = self.memory_limit_bytes.saturating_sub(margin + self.unexplained_bytes());
        left.min(self.gauge.limit())
    }

    /// Returns how much may be kept from requests at present.
    pub(super) fn kept_limit_bytes(&self) -> u64 {
        (self.limit_bytes() / 2).max(self.memory_limit_bytes / 100 * KEPT_PERCENT_MIN)
    }

    /// Returns the limit for upkeep, or for all others, who leave room for it.
    fn limit_bytes_of(&self, is_upkeep: bool) -> u64 {
        let limit_bytes = self.limit_bytes();
        if is_upkeep {
            return limit_bytes;
        }
        let reserved_bytes = (self.memory_limit_bytes / 100 * UPKEEP_PERCENT).min(limit_bytes / 4);
        let upkeep_bytes = self.upkeep_bytes.load(Ordering::Relaxed);
        limit_bytes.saturating_sub(reserved_bytes.saturating_sub(upkeep_bytes))
    }

    /// Notes that upkeep uses `bytes` more, or less if negative.
    pub(super) fn note_upkeep(&self, bytes: i64) {
        self.upkeep_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Sets `indices.breaker.total.limit`.
    pub fn set_limit_bytes(&self, limit_bytes: u64) {
        self.gauge.set_limit(limit_bytes);
    }

    /// Returns the bytes charged in all pools together.
    pub fn used_bytes(&self) -> u64 {
        self.gauge.used()
    }

    /// Returns how often a charge was refused that its own pool would have allowed.
    pub fn tripped_count(&self) -> u64 {
        self.gauge.tripped()
    }

    /// Returns the measured memory that belongs to no pool.
    pub fn unexplained_bytes(&self) -> u64 {
        self.unexplained_bytes.load(Ordering::Relaxed)
    }

    /// Records a measurement made now: `process_bytes` is the memory of the process that the system cannot
    /// take back.
    pub fn measure(&self, process_bytes: u64) {
        self.note(process_bytes, FORGET_WITHIN);
    }

    /// Reserves `bytes`; otherwise returns the used bytes and the limit as `Err`.
    pub(super) fn add_within(&self, bytes: u64, is_upkeep: bool) -> std::result::Result<(), (u64, u64)> {
        let granted_bytes = self.granted_bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if granted_bytes > self.memory_limit_bytes / GRANTS_PER_LIMIT
            && let Some(process) = self.process.get()
        {
            self.note((process.held_bytes)(), FORGET_WITHIN);
        }
        let limit_bytes = self.limit_bytes_of(is_upkeep);
        let Err(used_bytes) = self.gauge.add_within(bytes, limit_bytes) else { return Ok(()) };
        if !self.is_freed_for(used_bytes.saturating_add(bytes)) {
            return Err((used_bytes, limit_bytes));
        }
        let limit_bytes = self.limit_bytes_of(is_upkeep);
        self.gauge.add_within(bytes, limit_bytes).map_err(|used_bytes| (used_bytes, limit_bytes))
    }

    /// Releases freed memory and measures again if that may make `wanted_bytes` fit; returns whether it did
    /// so.
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
        self.give_back();
        self.note((process.held_bytes)(), FORGET_WITHIN);
        true
    }

    /// Releases freed memory that the allocator keeps to the system. What the process no longer holds then
    /// belonged to no pool.
    ///
    /// The memory without a pool is not computed anew from the charges: some of them are for memory that is
    /// reserved and not touched yet, so as much of the other memory would be overlooked.
    pub fn give_back(&self) {
        let Some(process) = self.process.get() else { return };
        let before_bytes = (process.held_bytes)();
        (process.give_back)();
        let freed_bytes = before_bytes.saturating_sub((process.held_bytes)());
        let base_bytes = self.base_bytes.load(Ordering::Relaxed);
        let _times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let unexplained_bytes = self.unexplained_bytes();
        let left_bytes = unexplained_bytes.saturating_sub(freed_bytes).max(base_bytes.min(unexplained_bytes));
        self.unexplained_bytes.store(left_bytes, Ordering::Relaxed);
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

    /// The process's memory as the tests set it, and the part of it that releasing frees.
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

    /// One test, because the figures are global to the process.
    #[test]
    fn memory_that_nobody_charged_takes_its_place() {
        HELD.store(100, Ordering::Relaxed);
        let parent = parent();
        // More than a 64th is requested, so the process is measured first, without a timer.
        HELD.store(400, Ordering::Relaxed);
        assert_eq!(parent.add_within(600, true).expect_err("400 of 950 are taken"), (0, 550));
        assert!(parent.add_within(500, true).is_ok());
        HELD.store(900, Ordering::Relaxed);
        parent.measure(900);
        assert_eq!(parent.unexplained_bytes(), 400);
        // Charged memory that is not touched yet hides neither the memory that was there before nor the
        // memory that was just measured.
        parent.measure(500);
        assert!(parent.unexplained_bytes() > 300, "{}", parent.unexplained_bytes());
        std::thread::sleep(FORGET_WITHIN);
        parent.measure(500);
        assert_eq!(parent.unexplained_bytes(), 100, "what the process held at first is never forgotten");
        // Freed memory is released before a charge is refused.
        parent.subtract(500);
        std::thread::sleep(FREE_EVERY);
        HELD.store(800, Ordering::Relaxed);
        FREED.store(700, Ordering::Relaxed);
        parent.measure(800);
        assert!(parent.add_within(800, true).is_ok(), "{} of {}", parent.used_bytes(), parent.limit_bytes());
        // Memory that is reserved but not touched yet does not make room for more when memory is freed.
        parent.subtract(800);
        HELD.store(400, Ordering::Relaxed);
        parent.measure(400);
        assert!(parent.add_within(300, true).is_ok());
        std::thread::sleep(FREE_EVERY);
        assert!(parent.add_within(400, true).is_err(), "{} of {}", parent.used_bytes(), parent.limit_bytes());
    }
}
