//! The events in a JVM's heap, independent of the log's format.

/// Why the application was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PauseKind {
    /// A collection of the young generation.
    Young,
    /// The young generation and some old regions (G1), or a partial collection (OpenJ9's balanced policy).
    Mixed,
    /// The whole heap, while the application is stopped. Includes Shenandoah's degenerated cycles.
    Full,
    /// A short pause of a concurrent collection: mark start, remark, cleanup, relocate start.
    Phase,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pause {
    pub millis: f64,
    pub kind: PauseKind,
}

/// Bytes of the heap in use around a collection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HeapChange {
    pub before_bytes: u64,
    pub after_bytes: u64,
    pub capacity_bytes: Option<u64>,
}

/// What the logs of one JVM say, in the order they were written.
#[derive(Debug, Default)]
pub(crate) struct GcEvents {
    pub format: &'static str,
    /// `G1`, `Parallel`, `The Z Garbage Collector`, `gencon`, ...; `None` when rotation has removed the log's
    /// head.
    pub collector: Option<String>,
    pub pauses: Vec<Pause>,
    /// Bytes in use after each collection. Phases of a concurrent cycle do not count.
    pub after_bytes: Vec<u64>,
    /// The largest heap that was seen or announced.
    pub capacity_bytes: u64,
    pub allocated_bytes: u64,
    /// `None` until a line mentions the old generation.
    pub promoted_bytes: Option<u64>,
    /// Evacuations that ran out of memory: to-space exhausted, evacuation failure, copy failed.
    pub evacuation_failures: u64,
    /// Threads that had to wait for memory while the collector ran concurrently.
    pub stall_count: u64,
    pub stall_millis: f64,
    /// All safepoints, for garbage collection or not, if the log records them.
    pub safepoint_count: u64,
    pub safepoint_millis: f64,
    /// Longest time until all threads had stopped.
    pub reaching_millis_max: f64,
    pub has_compressed_oops: Option<bool>,
    pub line_count: u64,
    /// Lines that are not in the log's format.
    pub unrecognized_line_count: u64,
    span: Span,
    last_after_bytes: Option<u64>,
    /// Whether the current JVM has collected since it started.
    has_collected: bool,
}

/// The time that a log covers. The log's clock may start again within it.
#[derive(Debug, Default)]
struct Span {
    ended_s: f64,
    current: Option<(f64, f64)>,
}

impl GcEvents {
    /// Notes that a line was written at `stamp_s`, on a clock that starts again with each JVM.
    pub(crate) fn at(&mut self, stamp_s: f64) {
        // Threads write their lines slightly out of order; a restarted JVM sets the clock back by more than
        // that.
        const DISORDER_S: f64 = 1.0;
        match &mut self.span.current {
            Some((_, last)) if stamp_s >= *last - DISORDER_S => *last = last.max(stamp_s),
            _ => {
                self.close_run();
                self.span.current = Some((stamp_s, stamp_s));
            }
        }
    }

    /// Notes that another JVM has started: its first collection must not be compared with the last one of the
    /// previous JVM. Calls before the new JVM's first collection have no further effect.
    pub(crate) fn begin_run(&mut self) {
        if std::mem::take(&mut self.has_collected) {
            self.close_run();
        }
    }

    fn close_run(&mut self) {
        if let Some((first, last)) = self.span.current.take() {
            self.span.ended_s += last - first;
        }
        self.last_after_bytes = None;
    }

    /// Returns when the first line was written.
    pub(crate) fn first_s(&self) -> Option<f64> {
        self.span.current.map(|(first, _)| first)
    }

    /// Returns the seconds that the log covers. The time between two JVMs does not count.
    pub(crate) fn span_s(&self) -> f64 {
        self.span.ended_s + self.span.current.map_or(0.0, |(first, last)| last - first)
    }

    /// Adds a pause. Durations that no collection can have (garbage in the log) are left out.
    pub(crate) fn pause(&mut self, millis: f64, kind: PauseKind) {
        const MILLIS_MAX: f64 = 24.0 * 3600.0 * 1000.0;
        self.has_collected = true;
        if (0.0..=MILLIS_MAX).contains(&millis) {
            self.pauses.push(Pause { millis, kind });
        }
    }

    /// Adds a heap change. `is_collection`: garbage was freed, so that the bytes left say something about the
    /// live data.
    pub(crate) fn heap(&mut self, change: HeapChange, is_collection: bool) {
        self.has_collected = true;
        self.capacity(change.capacity_bytes.unwrap_or(0));
        if let Some(last) = self.last_after_bytes {
            self.allocate(change.before_bytes.saturating_sub(last));
        }
        self.last_after_bytes = Some(change.after_bytes);
        if is_collection {
            self.after_bytes.push(change.after_bytes);
        }
    }

    /// Replaces the last heap change by a later one of the same cycle, which is more exact.
    pub(crate) fn heap_again(&mut self, change: HeapChange) {
        self.after_bytes.pop();
        self.heap(change, true);
    }

    pub(crate) fn allocate(&mut self, bytes: u64) {
        self.allocated_bytes = self.allocated_bytes.saturating_add(bytes);
    }

    pub(crate) fn promote(&mut self, bytes: u64) {
        self.promoted_bytes = Some(self.promoted_bytes.unwrap_or(0).saturating_add(bytes));
    }

    pub(crate) fn capacity(&mut self, bytes: u64) {
        self.capacity_bytes = self.capacity_bytes.max(bytes);
    }
}
