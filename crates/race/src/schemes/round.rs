//! The measurements of a round, and of one budget of the sweep.

use std::fmt;

use super::figures::{Figures, Memory, TaskFigures};

/// The figures of both schemes in one round.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Round {
    pub native: Figures,
    pub cached: Figures,
}

impl fmt::Display for Round {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (native, cached) = (&self.native, &self.cached);
        write!(
            formatter,
            "write {:.0} docs/s native, {:.0} cached; query {:.0} ops/s native, {:.0} cached",
            native.write.per_s, cached.write.per_s, native.query.per_s, cached.query.per_s
        )
    }
}

/// Queries with one budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SweepRow {
    /// Budget in percent of the working set.
    pub percent: f64,
    pub budget_bytes: u64,
    pub before: Memory,
    pub after: Memory,
    pub query: TaskFigures,
}

impl SweepRow {
    pub(super) fn lookups(&self) -> u64 {
        self.misses() + (self.after.hit_count - self.before.hit_count)
    }

    pub(super) fn misses(&self) -> u64 {
        self.after.miss_count - self.before.miss_count
    }

    pub(super) fn miss_percent(&self) -> f64 {
        self.misses() as f64 * 100.0 / self.lookups().max(1) as f64
    }

    /// Returns the mean time of a load in microseconds.
    pub(super) fn load_us(&self) -> f64 {
        let loads = self.after.load_count - self.before.load_count;
        (self.after.load_nanos - self.before.load_nanos) as f64 / 1_000.0 / loads.max(1) as f64
    }
}
