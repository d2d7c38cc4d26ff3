//! Freed memory that stays with the process: "how long may the allocator keep it?"
//!
//! What was given back has to be faulted in again by the next bulk; on a machine whose memory is another's
//! guest that costs microseconds a page (docs/decisions/007: 5 % of the docs/s of a server that indexes now
//! and then). While the process holds little of what it may, the allocator keeps freed pages for minutes;
//! where memory is tight, for seconds.
//!
//! Source: jemalloc's manual, `arena.<i>.dirty_decay_ms`.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tikv_jemalloc_ctl::{arenas, raw};

/// While memory is tight. Within one second there are a third more page faults while nyc_taxis is indexed
/// than within four.
const KEEP_TIGHT: Duration = Duration::from_secs(4);
/// Shares of `memory.limit`: above the first memory is tight, until the process holds less than the second.
/// With a third of it freed but kept, pools may still use 62 % together, hardly less than
/// `indices.breaker.total.limit`.
const TIGHT_FROM_PERCENT: u64 = 33;
const TIGHT_UNTIL_PERCENT: u64 = 25;

/// Longer is for ever.
const KEEP_MAX: Duration = Duration::from_secs(365 * 24 * 3600);
const FOREVER: isize = -1;

/// What the allocator was told last. Whoever tells it something holds the lock, so that nobody takes back
/// what another has just told it.
static DECAY_MS: Mutex<isize> = Mutex::new(FOREVER);

/// Above this share of `memory.limit` what is freed goes back at once, again and again.
const PURGE_FROM_PERCENT: u64 = 75;
/// Between two times.
const PURGE_EVERY: Duration = Duration::from_millis(200);

/// Tells the allocator how long to keep what is freed, as the memory of the process grows and shrinks.
pub struct FreedMemory {
    limit_bytes: u64,
    keep: Duration,
    is_tight: bool,
    purged: Option<Instant>,
}

impl FreedMemory {
    /// `keep`: how long while memory is not tight; zero: not at all. What `_RJEM_MALLOC_CONF` says of it no
    /// longer holds then.
    pub fn new(limit_bytes: u64, keep: Duration) -> FreedMemory {
        set_decay(keep);
        FreedMemory { limit_bytes, keep, is_tight: false, purged: None }
    }

    /// `held_bytes`: memory of the process, just measured.
    pub fn adjust_to(&mut self, held_bytes: u64) {
        if let Some(keep) = self.changed_keep(held_bytes) {
            set_decay(keep);
        }
        let is_nearly_full = held_bytes > self.limit_bytes / 100 * PURGE_FROM_PERCENT;
        if is_nearly_full && self.purged.is_none_or(|purged| purged.elapsed() >= PURGE_EVERY) {
            self.purged = Some(Instant::now());
            give_back_freed();
        }
    }

    /// How long the allocator keeps what is freed from now on, if that is another time than before.
    fn changed_keep(&mut self, held_bytes: u64) -> Option<Duration> {
        let percent = if self.is_tight { TIGHT_UNTIL_PERCENT } else { TIGHT_FROM_PERCENT };
        let is_tight = held_bytes > self.limit_bytes / 100 * percent;
        let has_changed = is_tight != self.is_tight;
        self.is_tight = is_tight;
        has_changed.then(|| if is_tight { self.keep.min(KEEP_TIGHT) } else { self.keep })
    }
}

/// Gives back all that is free now. Milliseconds for 100 MB.
pub fn give_back_freed() {
    let decay_ms = DECAY_MS.lock();
    // No time at all gives back what is free now.
    set_decay_ms(0);
    set_decay_ms(*decay_ms);
}

/// For all arenas, and those still to come. An arena that does not exist yet refuses, and takes the default
/// when it comes.
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
        // SAFETY: jemalloc's manual gives these names the type `ssize_t`; the name ends with a zero.
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

    /// The allocator belongs to all tests of this program, which run side by side: what it is told is decided
    /// without it.
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
            // SAFETY: jemalloc's manual gives this name the type `ssize_t`; the name ends with a zero.
            let told: isize =
                unsafe { raw::read(b"arenas.dirty_decay_ms\0") }.expect("the allocator's own name");
            assert_eq!(told, decay_ms_of(keep));
            set_decay_ms(*decay_ms);
        }
    }
}
