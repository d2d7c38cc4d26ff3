//! Measures how long the steps of a query or an aggregation took, and how often each ran (`profile`).
//!
//! Source: Elasticsearch's `AbstractProfileBreakdown`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::{Map, Value};

#[derive(Debug, Default)]
struct Timer {
    nanos: AtomicU64,
    count: AtomicU64,
}

/// One timer per step; threads that work on one search share the timers.
#[derive(Debug)]
pub(crate) struct Timers<const N: usize>([Timer; N]);

impl<const N: usize> Default for Timers<N> {
    fn default() -> Timers<N> {
        Timers(std::array::from_fn(|_| Timer::default()))
    }
}

impl<const N: usize> Timers<N> {
    /// Adds the time since `started` to a step that ran `count` times.
    pub fn add(&self, step: usize, started: Instant, count: u64) {
        self.add_nanos(step, started.elapsed().as_nanos() as u64, count);
    }

    /// Adds a known time, like [`Timers::add`].
    pub fn add_nanos(&self, step: usize, nanos: u64, count: u64) {
        self.0[step].nanos.fetch_add(nanos, Ordering::Relaxed);
        self.0[step].count.fetch_add(count, Ordering::Relaxed);
    }

    /// Measures a step that runs `count` times.
    pub fn measure<T>(&self, step: usize, count: u64, body: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = body();
        self.add(step, started, count);
        result
    }

    /// Returns the time of one step.
    pub fn nanos_of(&self, step: usize) -> u64 {
        self.0[step].nanos.load(Ordering::Relaxed)
    }

    /// Returns the time of all steps.
    pub fn nanos(&self) -> u64 {
        (0..N).map(|step| self.nanos_of(step)).sum()
    }

    /// Returns the times as Elasticsearch shows them; `absent` is a step of Elasticsearch that does not
    /// exist here.
    pub fn breakdown(&self, names: &[&str; N], absent: &str) -> Map<String, Value> {
        let mut breakdown = Map::new();
        for (name, timer) in names.iter().zip(&self.0) {
            breakdown.insert((*name).to_owned(), timer.nanos.load(Ordering::Relaxed).into());
            breakdown.insert(format!("{name}_count"), timer.count.load(Ordering::Relaxed).into());
        }
        breakdown.insert(absent.to_owned(), 0.into());
        breakdown.insert(format!("{absent}_count"), 0.into());
        breakdown
    }
}
