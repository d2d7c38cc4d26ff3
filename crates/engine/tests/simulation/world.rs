//! What the threads of a simulation share: the node, its disk and clock, and what is expected of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use limber_engine::environment::Clock;
use limber_engine::{Node, NodeConfig, Result};
use limber_store::sync::{Manner, Schedule, Simulation};
use limber_store::{CrashDisk, sync};

use crate::actors;
use crate::common::{config, environment};
use crate::model::Model;
use crate::verify::verify;

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
    // More processors are threads that the simulation does not see: they help a search after some
    // microseconds of real time.
    Node::open_with(NodeConfig { search_processors: 1, ..config(Path::new("/crash")) }, environment)
}

/// Runs one thread, and those that the node starts for it, to their ends. Answers who panicked.
pub fn alone(clock: &Arc<SimulatedClock>, run: impl FnOnce() + Send + 'static) -> Vec<String> {
    let schedule = Schedule {
        seed: 1,
        manner: Manner::Uniform { switch_one_in: 1 },
        step_nanos_max: 50_000,
        wakes_without_reason: false,
    };
    let mut simulation = Simulation::new(schedule);
    simulation.set_begun_nanos(clock.outside_nanos.load(Ordering::Relaxed));
    simulation.thread("alone", run);
    match simulation.run() {
        Ok(end) => {
            clock.outside_nanos.store(end.now_nanos, Ordering::Relaxed);
            end.panics.into_iter().map(|(name, message)| format!("{name} panicked: {message}")).collect()
        }
        Err(failure) => vec![failure.report],
    }
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
    pub fn new(
        node: Arc<Node>,
        disk: &CrashDisk,
        clock: &Arc<SimulatedClock>,
        model: &Arc<Model>,
        has_faults: bool,
    ) -> World {
        World {
            node,
            disk: disk.clone(),
            clock: clock.clone(),
            model: model.clone(),
            has_faults,
            failures: Mutex::default(),
            writers: AtomicUsize::default(),
        }
    }

    /// The faults are over: the node must do everything again without a restart. Answers what it did not do.
    pub fn heal(&self) -> Vec<String> {
        self.disk.heal();
        let healed = Arc::new(World::new(self.node.clone(), &self.disk, &self.clock, &self.model, false));
        let world = healed.clone();
        let panics = alone(&self.clock, move || {
            for _ in 0..3 {
                // Failed shards are tried again more and more slowly.
                sync::sleep(Duration::from_secs(120));
                world.node.maintain();
            }
            verify(&world);
            actors::write_after(&world);
            verify(&world);
        });
        panics.into_iter().chain(healed.take_failures()).collect()
    }

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
