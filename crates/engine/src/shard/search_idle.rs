//! "Does anyone search this shard?" A shard that is not searched is not refreshed while documents stream in;
//! otherwise a segment per second would be written and merged for no reader. It is refreshed when the writing
//! pauses, when a search comes, and once in a while. It is also merged less, to leave the processors to
//! indexing.
//!
//! Source: Elasticsearch's `index.search.idle.after`. There a shard becomes idle some seconds after a search
//! or its creation. Here a shard that was never searched is idle from the start, and a pause in the writing
//! ends that.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The longest time for which a refresh is put off.
const PUT_OFF_AT_MOST_MS: u64 = 30_000;

/// Times are those of [`super::Shard::interval_millis`]; 0 means never.
#[derive(Debug, Default)]
pub(crate) struct SearchIdle {
    opened_millis: u64,
    last_search_millis: AtomicU64,
    /// When the refresh was due that was put off first.
    put_off_since_millis: AtomicU64,
    looked_millis: AtomicU64,
    /// The number of operations at the last check.
    looked_operations: AtomicU64,
    stream: Stream,
}

/// Whether documents stream in; checked once a second.
#[derive(Debug, Default)]
struct Stream {
    looked_millis: AtomicU64,
    looked_operations: AtomicU64,
    flows: AtomicBool,
}

impl Stream {
    const LOOK_EVERY_MS: u64 = 1_000;

    fn flows(&self, now_millis: u64, operations: u64) -> bool {
        let looked = self.looked_millis.load(Ordering::Relaxed);
        let is_due = now_millis.saturating_sub(looked) >= Stream::LOOK_EVERY_MS;
        // If several threads merge, only one of them checks.
        let ordering = Ordering::Relaxed;
        if is_due && self.looked_millis.compare_exchange(looked, now_millis, ordering, ordering).is_ok() {
            let before = self.looked_operations.swap(operations, Ordering::Relaxed);
            self.flows.store(before != operations, Ordering::Relaxed);
        }
        self.flows.load(Ordering::Relaxed)
    }
}

/// A shard whose refresh is due, and what the decision depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DueRefresh {
    pub now_millis: u64,
    pub interval_ms: u64,
    /// `index.search.idle.after`.
    pub idle_after_ms: u64,
    /// Operations since the shard was created.
    pub operations: u64,
}

impl SearchIdle {
    pub(crate) fn new(now_millis: u64) -> SearchIdle {
        SearchIdle { opened_millis: now_millis, ..SearchIdle::default() }
    }

    /// Notes a search. Returns whether it must wait for a refresh that was put off.
    pub(crate) fn note_search(&self, now_millis: u64) -> bool {
        self.last_search_millis.store(now_millis, Ordering::Relaxed);
        self.put_off_since_millis.load(Ordering::Acquire) != 0
    }

    /// Notes a refresh, after which no refresh is put off any more.
    pub(crate) fn note_refresh(&self) {
        self.put_off_since_millis.store(0, Ordering::Release);
    }

    /// Returns the milliseconds since the last search, or since the shard was opened.
    pub(crate) fn since_search_ms(&self, now_millis: u64) -> u64 {
        now_millis.saturating_sub(self.last_search_millis.load(Ordering::Relaxed).max(self.opened_millis))
    }

    pub(crate) fn is_idle(&self, now_millis: u64, idle_after_ms: u64) -> bool {
        self.last_search_millis.load(Ordering::Relaxed) == 0
            || self.since_search_ms(now_millis) >= idle_after_ms
    }

    /// Whether to put off merges that would only benefit searches: the shard is not searched, and documents
    /// stream in. `operations` counts those since the shard was created.
    pub(crate) fn puts_off_merges(&self, now_millis: u64, idle_after_ms: u64, operations: u64) -> bool {
        self.stream.flows(now_millis, operations) && self.is_idle(now_millis, idle_after_ms)
    }

    /// Whether to put off a due refresh of a shard with unrefreshed documents. Called only by the scheduler.
    pub(crate) fn puts_off(&self, due: DueRefresh) -> bool {
        let DueRefresh { now_millis, interval_ms, idle_after_ms, operations } = due;
        if !self.is_idle(now_millis, idle_after_ms) {
            return false;
        }
        let since = self.put_off_since_millis.load(Ordering::Relaxed);
        if since != 0 {
            if now_millis.saturating_sub(since) >= PUT_OFF_AT_MOST_MS {
                return false;
            }
            if now_millis.saturating_sub(self.looked_millis.load(Ordering::Relaxed)) < interval_ms {
                return true;
            }
        }
        self.looked_millis.store(now_millis, Ordering::Relaxed);
        if self.looked_operations.swap(operations, Ordering::Relaxed) == operations {
            return false;
        }
        if since == 0 {
            self.put_off_since_millis.store(now_millis, Ordering::Release);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000;

    fn due(second: u64, operations: u64) -> DueRefresh {
        DueRefresh {
            now_millis: second * SECOND,
            interval_ms: SECOND,
            idle_after_ms: 30 * SECOND,
            operations,
        }
    }

    #[test]
    fn a_shard_that_was_never_searched_waits_for_a_pause_in_the_writing() {
        let idle = SearchIdle::default();
        assert!(idle.puts_off(due(101, 10)));
        assert!(idle.puts_off(due(102, 20)));
        // Checked again before the interval has passed, so the result stays the same.
        assert!(idle.puts_off(DueRefresh { now_millis: 102_050, ..due(102, 20) }));
        assert!(!idle.puts_off(due(103, 20)));
    }

    #[test]
    fn it_does_not_wait_for_ever() {
        let idle = SearchIdle::default();
        assert!((101..131).all(|second| idle.puts_off(due(second, second))));
        assert!(!idle.puts_off(due(131, 131)));
        idle.note_refresh();
        assert!(idle.puts_off(due(132, 132)));
    }

    #[test]
    fn a_search_asks_for_what_was_put_off_and_keeps_the_shard_awake() {
        let idle = SearchIdle::default();
        assert!(!idle.note_search(100 * SECOND));
        assert!((101..130).all(|second| !idle.puts_off(due(second, second))));
        assert!(idle.puts_off(due(131, 131)));
        assert!(idle.note_search(131 * SECOND));
        assert!(!idle.puts_off(due(132, 132)));
        idle.note_refresh();
        assert!(!idle.note_search(132 * SECOND));
        assert_eq!(idle.since_search_ms(134 * SECOND), 2 * SECOND);
    }

    #[test]
    fn merges_wait_while_documents_stream_in_and_nobody_searches() {
        let idle = SearchIdle::default();
        let waits = |second: u64, operations| idle.puts_off_merges(second * SECOND, 30 * SECOND, operations);
        assert!(!waits(100, 0));
        assert!(waits(101, 10));
        assert!(waits(102, 20));
        // Checked again within the second, so the result stays the same.
        assert!(idle.puts_off_merges(102_500, 30 * SECOND, 20));
        assert!(!waits(103, 20));
        assert!(waits(104, 30));
        idle.note_search(105 * SECOND);
        assert!(!waits(105, 40));
        assert!(waits(136, 50));
    }
}
