//! What the threads of a simulation share: the node, its disk and clock, and what is expected of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use limber_engine::environment::{Clock, Environment, SeededRandomness};
use limber_engine::{Node, Result};
use limber_store::{CrashDisk, sync};

use crate::common::config;
use crate::model::Model;

/// Time of the simulation; outside of one it stands still. The wall clock is set by whoever likes.
#[derive(Default)]
pub struct SimulatedClock {
    pub outside_nanos: AtomicU64,
    pub wall_shift_ms: AtomicI64,
}

impl Clock for SimulatedClock {
    fn now_millis(&self) -> u64 {
        let since = self.monotonic_nanos() / 1_000_000;
        (1_700_000_000_000 + since).saturating_add_signed(self.wall_shift_ms.load(Ordering::Relaxed))
    }

    fn monotonic_nanos(&self) -> u64 {
        sync::point();
        sync::now_nanos().unwrap_or_else(|| self.outside_nanos.load(Ordering::Relaxed))
    }
}

/// Numbers drawn from a seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

pub fn open(disk: &CrashDisk, clock: &Arc<SimulatedClock>, seed: u64) -> Result<Arc<Node>> {
    let environment = Environment {
        clock: clock.clone(),
        randomness: Arc::new(SeededRandomness::new(seed)),
        disk: Arc::new(disk.clone()),
    };
    Node::open_with(config(Path::new("/crash")), environment)
}

pub struct World {
    pub node: Arc<Node>,
    pub disk: CrashDisk,
    pub clock: Arc<SimulatedClock>,
    pub model: Arc<Model>,
    /// Faults are possible in this life: a request may fail.
    pub has_faults: bool,
    pub failures: Mutex<Vec<String>>,
    /// Writers that have not ended.
    pub writers: AtomicUsize,
}

impl World {
    /// Asks the node as a connection does: a panic ends the request alone.
    pub fn ask<T>(&self, request: impl FnOnce(&Node) -> Result<T>) -> Option<Result<T>> {
        catch_unwind(AssertUnwindSafe(|| request(&self.node))).ok()
    }

    /// The same, when it is of no interest why it failed; a failure without a fault is one of the node.
    pub fn want<T>(&self, what: &str, request: impl FnOnce(&Node) -> Result<T>) -> Option<T> {
        match self.ask(request) {
            Some(Ok(answer)) => Some(answer),
            Some(Err(error)) => {
                self.check(self.may_fail(), || format!("{what} failed without a fault: {error}"));
                None
            }
            None => {
                self.check(self.may_fail(), || format!("{what} panicked"));
                None
            }
        }
    }

    pub fn may_fail(&self) -> bool {
        self.has_faults || self.disk.is_off()
    }

    pub fn check(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            let what = what();
            sync::note(|| format!("FAILURE: {what}"));
            self.failures.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(what);
        }
    }

    pub fn take_failures(&self) -> Vec<String> {
        std::mem::take(&mut *self.failures.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// Whether there is still something to do for those who go on while others write.
    pub fn goes_on(&self) -> bool {
        self.writers.load(Ordering::SeqCst) > 0 && !self.disk.is_off()
    }
}
