//! What the threads of a simulation share: the node, its disk and clock, and what is expected of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use limber_engine::environment::Clock;
use limber_engine::{Node, Result};
use limber_store::{CrashDisk, sync};

use crate::common::{config, environment};
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

pub fn open(disk: &CrashDisk, clock: &Arc<SimulatedClock>, seed: u64) -> Result<Arc<Node>> {
    let environment = environment(clock.clone(), Arc::new(disk.clone()), seed);
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
