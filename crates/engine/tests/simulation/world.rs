//! What the threads of a simulation share: the node, its disk and clock, and the expectations.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use limber_engine::environment::Clock;
use limber_engine::{Node, NodeConfig, Result};
use limber_mapping::RequestError;
use limber_store::sync::{Schedule, Simulation, SwitchPolicy};
use limber_store::{CrashDisk, Disk, sync};

use crate::actors;
use crate::common::{config, environment};
use crate::model::Model;
use crate::subfolder::volumes;
use crate::verify::verify;

/// The time of the simulation, which stands still outside of one. Any thread may set the wall clock.
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
    open_on(Arc::new(disk.clone()), clock, seed)
}

/// Opens a node with three data folders.
pub fn open_spread(disk: &CrashDisk, clock: &Arc<SimulatedClock>, seed: u64) -> Result<Arc<Node>> {
    let volumes = volumes(disk, seed)
        .map_err(|error| RequestError::internal("i_o_exception", format!("no volumes: {error}")))?;
    open_on(Arc::new(volumes), clock, seed)
}

fn open_on(disk: Arc<dyn Disk>, clock: &Arc<SimulatedClock>, seed: u64) -> Result<Arc<Node>> {
    let environment = environment(clock.clone(), disk, seed);
    // With more processors the node would start threads that the simulation does not control: they help with
    // a search after some microseconds of real time.
    Node::open_with(NodeConfig { search_processors: 1, ..config(Path::new("/crash")) }, environment)
}

/// Runs one thread, and those that the node starts for it, until they end. Returns the names of those that
/// panicked.
pub fn alone(clock: &Arc<SimulatedClock>, run: impl FnOnce() + Send + 'static) -> Vec<String> {
    let schedule = Schedule {
        seed: 1,
        switch_policy: SwitchPolicy::Uniform { switch_one_in: 1 },
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
    /// Whether faults are possible in this life, so that requests may fail.
    pub has_faults: bool,
    pub failures: Mutex<Vec<String>>,
    /// Number of writers that have not ended.
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

    /// Ends the faults and checks that the node works again without a restart. Returns what does not work.
    pub fn heal(&self) -> Vec<String> {
        self.disk.heal();
        let healed = Arc::new(World::new(self.node.clone(), &self.disk, &self.clock, &self.model, false));
        let world = healed.clone();
        let panics = alone(&self.clock, move || {
            for _ in 0..3 {
                // Failed shards are tried at growing intervals.
                sync::sleep(Duration::from_secs(120));
                world.node.maintain();
            }
            verify(&world);
            actors::write_after(&world);
            verify(&world);
        });
        panics.into_iter().chain(healed.take_failures()).collect()
    }

    /// Calls the node as a connection does: a panic ends only the request.
    pub fn ask<T>(&self, request: impl FnOnce(&Node) -> Result<T>) -> Option<Result<T>> {
        catch_unwind(AssertUnwindSafe(|| request(&self.node))).ok()
    }

    /// Calls the node when the reason of a failure does not matter. A failure without a fault is reported.
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

    /// Whether threads that run only while others write should continue.
    pub fn goes_on(&self) -> bool {
        self.writers.load(Ordering::SeqCst) > 0 && !self.disk.is_off()
    }
}
