//! Freed memory that stays with the process: "how long may the allocator keep it?"
//!
//! Pages that were returned to the system must be faulted in again by the next bulk request. On a virtual
//! machine that costs microseconds per page (docs/decisions/007: 5 % of the docs/s of a server that indexes
//! now and then). While the process holds a small part of its limit, the allocator keeps freed pages for
//! minutes; while memory is tight, for seconds.
//!
//! Source: jemalloc's manual, `arena.<i>.dirty_decay_ms`.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tikv_jemalloc_ctl::{arenas, raw};

/// How long freed pages are kept while memory is tight. With one second instead, indexing nyc_taxis has a
/// third more page faults.
const KEEP_TIGHT: Duration = Duration::from_secs(4);
/// Percentages of `memory.limit`: memory is tight from when the process holds more than the first until it
/// holds less than the second. If a third of the limit is freed but kept, the pools may still use 62 %
/// together, hardly less than `indices.breaker.total.limit`.
const TIGHT_FROM_PERCENT: u64 = 33;
const TIGHT_UNTIL_PERCENT: u64 = 25;

/// A longer time means forever.
const KEEP_MAX: Duration = Duration::from_secs(365 * 24 * 3600);
const FOREVER: isize = -1;

/// The decay time last set in the allocator. Every function that sets it holds the lock, so that
/// [`give_back_freed`] does not restore an outdated value.
static DECAY_MS: Mutex<isize> = Mutex::new(FOREVER);

/// Above this percentage of `memory.limit`, freed memory is returned immediately and repeatedly.
const PURGE_FROM_PERCENT: u64 = 75;
/// Minimum interval between two such returns.
const PURGE_EVERY: Duration = Duration::from_millis(200);

/// Sets how long the allocator keeps freed pages, as the memory of the process grows and shrinks.
pub struct FreedMemory {
    limit_bytes: u64,
    keep: Duration,
    is_tight: bool,
    purged: Option<Instant>,
}

impl FreedMemory {
    /// `keep` is the time for which freed pages are kept while memory is not tight; zero means not at all. It
    /// overrides the value in `_RJEM_MALLOC_CONF`.
    pub fn new(limit_bytes: u64, keep: Duration) -> FreedMemory {
        set_decay(keep);
        FreedMemory { limit_bytes, keep, is_tight: false, purged: None }
    }

    /// Adjusts the decay time to `held_bytes`, the memory of the process as just measured. Returns whether
    /// all freed memory should be returned to the system now ([`give_back_freed`]).
    #[must_use]
    pub fn adjust_to(&mut self, held_bytes: u64) -> bool {
        if let Some(keep) = self.changed_keep(held_bytes) {
            set_decay(keep);
        }
        let is_nearly_full = held_bytes > self.limit_bytes / 100 * PURGE_FROM_PERCENT;
        let is_due = is_nearly_full && self.purged.is_none_or(|purged| purged.elapsed() >= PURGE_EVERY);
        if is_due {
            self.purged = Some(Instant::now());
        }
        is_due
    }

    /// Returns the new decay time if it has changed.
    fn changed_keep(&mut self, held_bytes: u64) -> Option<Duration> {
        let percent = if self.is_tight { TIGHT_UNTIL_PERCENT } else { TIGHT_FROM_PERCENT };
        let is_tight = held_bytes > self.limit_bytes / 100 * percent;
        let has_changed = is_tight != self.is_tight;
        self.is_tight = is_tight;
        has_changed.then(|| if is_tight { self.keep.min(KEEP_TIGHT) } else { self.keep })
    }
}

/// Returns all freed pages to the system. Takes milliseconds per 100 MB.
pub fn give_back_freed() {
    let decay_ms = DECAY_MS.lock();
    // A decay time of zero returns all freed pages at once.
    set_decay_ms(0);
    set_decay_ms(*decay_ms);
}

/// Sets the decay time of all present and future arenas. An arena that does not exist yet fails to set it,
/// and takes the default when it is created.
fn set_decay(keep: Duration) {
    let mut decay_ms = DECAY_MS.lock();
    *decay_ms = decay_ms_of(keep);
    set_decay_ms(*decay_ms);
}

fn decay_ms_of(keep: Duration) -> isize {
    if keep > KEEP_MAX { FOREVER } else { keep.as_millis() as isize }
}

fn set_decay_ms(decay_ms: isize) {
    let write = |name: &str| {
        // SAFETY: according to jemalloc's manual these names have the type `ssize_t`; the name is
        // NUL-terminated.
        unsafe { raw::write(name.as_bytes(), decay_ms) }
    };
    let _ = write("arenas.dirty_decay_ms\0");
    for arena in 0..arenas::narenas::read().unwrap_or(0) {
        let _ = write(&format!("arena.{arena}.dirty_decay_ms\0"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The allocator is shared by all tests of this program, which run in parallel, so this test checks the
    /// decision without setting it.
    #[test]
    fn freed_memory_is_kept_for_seconds_only_once_a_third_of_the_limit_is_held() {
        let minutes = Duration::from_secs(600);
        let mut freed = FreedMemory { limit_bytes: 1000, keep: minutes, is_tight: false, purged: None };
        for (held_bytes, expected) in [
            (10, None),
            (330, None),
            (331, Some(KEEP_TIGHT)),
            (260, None),
            (250, Some(minutes)),
            (330, None),
            (900, Some(KEEP_TIGHT)),
        ] {
            assert_eq!(freed.changed_keep(held_bytes), expected, "{held_bytes} bytes");
        }
        let mut freed =
            FreedMemory { limit_bytes: 1000, keep: Duration::ZERO, is_tight: false, purged: None };
        assert_eq!(freed.changed_keep(900), Some(Duration::ZERO));
        assert_eq!(decay_ms_of(Duration::MAX), FOREVER);
        assert_eq!(decay_ms_of(minutes), 600_000);
    }

    #[test]
    fn the_allocator_takes_every_time() {
        for keep in [Duration::ZERO, KEEP_TIGHT, Duration::MAX] {
            let decay_ms = DECAY_MS.lock();
            set_decay_ms(decay_ms_of(keep));
            // SAFETY: according to jemalloc's manual this name has the type `ssize_t`; the name is
            // NUL-terminated.
            let told: isize =
                unsafe { raw::read(b"arenas.dirty_decay_ms\0") }.expect("the allocator's own name");
            assert_eq!(told, decay_ms_of(keep));
            set_decay_ms(*decay_ms);
        }
    }
}
