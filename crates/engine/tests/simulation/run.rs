//! Runs one seed: several lives of a node on one disk, each of which ends with a crash.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_engine::{Node, Result};
use limber_store::crash::{CallKind, When};
use limber_store::sync::{Schedule, Simulation};
use limber_store::{CrashDisk, Fault, FaultRule};

use crate::actors;
use crate::model::Model;
use crate::verify::verify;
use crate::world::{SimulatedClock, World, open, open_spread};
use limber_store::random::SplitMix64;

/// The result of a seed.
#[derive(Debug, Default)]
pub struct Outcome {
    pub failures: Vec<String>,
    pub crashes: u64,
    pub faults: u64,
    pub steps: u64,
    pub acknowledged: u64,
    pub snapshots: u64,
    pub restores: u64,
    /// The hash of each life's trace.
    pub hashes: Vec<u64>,
}

struct Run {
    seed: u64,
    random: SplitMix64,
    disk: CrashDisk,
    clock: Arc<SimulatedClock>,
    model: Arc<Model>,
    is_traced: bool,
    outcome: Outcome,
}

/// Runs a seed. Deterministic: two runs of one seed are the same.
pub fn run(seed: u64, is_traced: bool) -> Outcome {
    quiet_simulated_panics();
    let mut run = Run {
        seed,
        random: SplitMix64::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x51),
        disk: CrashDisk::new(seed),
        clock: Arc::default(),
        model: Arc::default(),
        is_traced,
        outcome: Outcome::default(),
    };
    run.lives();
    run.model.with(|known| {
        run.outcome.acknowledged = known.acknowledged;
        run.outcome.snapshots = known.snapshots_taken;
        run.outcome.restores = known.restores_done;
    });
    run.outcome.faults = run.disk.fault_count();
    run.outcome
}

impl Run {
    fn lives(&mut self) {
        let node = match self.open(self.seed) {
            Ok(node) => node,
            Err(error) => return self.fail(format!("the first node does not open: {error}")),
        };
        if let Err(error) = actors::set_up(&node) {
            return self.fail(format!("set-up: {error}"));
        }
        self.model.with(|known| known.alias = vec!["x-a".to_owned()]);
        let mut node = Some(node);
        for life in 0..2 + self.random.below(3) {
            let Some(current) = node.take() else { return };
            self.live(current, life);
            if !self.outcome.failures.is_empty() {
                return;
            }
            node = self.reopen();
        }
    }

    /// Opens the node; in a quarter of the runs it has three data folders.
    fn open(&self, seed: u64) -> Result<Arc<Node>> {
        match self.seed % 4 {
            3 => open_spread(&self.disk, &self.clock, seed),
            _ => open(&self.disk, &self.clock, seed),
        }
    }

    fn fail(&mut self, why: String) {
        self.outcome.failures.push(why);
    }

    fn world(&self, node: Arc<Node>, has_faults: bool) -> World {
        World::new(node, &self.disk, &self.clock, &self.model, has_faults)
    }

    /// Runs all threads at once, until the power is cut or all have ended.
    fn live(&mut self, node: Arc<Node>, life: u64) {
        let faults = self.draw_faults();
        let has_faults = !faults.is_empty();
        let world = Arc::new(self.world(node, has_faults));
        self.disk.set_faults(faults);
        self.model.forget_acknowledgements(actors::ASYNC);
        if !self.random.one_in(4) {
            let calls = [40, 400, 4000][self.random.below(3) as usize];
            self.disk.power_off_at(self.random.below(calls));
        }
        let seed = self.random.draw();
        let mut simulation = Simulation::new(Schedule::from_seed(seed));
        simulation.set_begun_nanos(self.clock.outside_nanos.load(Ordering::Relaxed));
        if self.is_traced {
            simulation.trace();
        }
        actors::cast(&mut simulation, &world, seed);
        let end = match simulation.run() {
            Ok(end) => end,
            Err(failure) => return self.fail(format!("life {life}: {}", failure.report)),
        };
        self.outcome.steps += end.steps;
        self.outcome.hashes.push(end.hash);
        self.clock.outside_nanos.store(end.now_nanos, Ordering::Relaxed);
        end.panics
            .iter()
            .for_each(|(name, message)| self.fail(format!("life {life}: {name} panicked: {message}")));
        self.collect(world.take_failures(), &format!("life {life}"));
        if self.is_traced {
            println!("life {life}\n{}", end.trace.join("\n"));
        }
        if !self.disk.is_off() && self.outcome.failures.is_empty() {
            let wrong = world.heal();
            self.collect(wrong, &format!("life {life}, healed in place"));
        }
    }

    /// Opens the node after the power returns; the power may be cut again meanwhile. Checks that nothing
    /// acknowledged is missing.
    fn reopen(&mut self) -> Option<Arc<Node>> {
        self.disk.power_off();
        self.disk.crash();
        self.outcome.crashes += 1;
        while self.random.one_in(3) {
            let call = self.random.below(300);
            self.disk.power_off_at(call);
            let seed = self.random.draw();
            let node = self.open(seed);
            if !self.disk.is_off()
                && let Err(error) = &node
            {
                self.fail(format!("does not open: {error}"));
            }
            drop(node);
            self.disk.power_off();
            self.disk.crash();
            self.outcome.crashes += 1;
        }
        let seed = self.random.draw();
        match self.open(seed) {
            Ok(node) => {
                let world = self.world(node.clone(), false);
                verify(&world);
                self.collect(world.take_failures(), &format!("after crash {}", self.outcome.crashes));
                Some(node)
            }
            Err(error) => {
                self.fail(format!("does not open after crash {}: {error}", self.outcome.crashes));
                None
            }
        }
    }

    fn collect(&mut self, found: Vec<String>, when: &str) {
        self.outcome.failures.extend(found.into_iter().take(8).map(|what| format!("{when}: {what}")));
    }

    fn draw_faults(&mut self) -> Vec<FaultRule> {
        let random = &mut self.random;
        let kinds = [Fault::Io, Fault::NoSpace, Fault::SyncLost, Fault::NoDescriptors, Fault::NoMemory];
        let fault = kinds[random.below(5) as usize];
        match random.below(10) {
            0 | 1 => {
                let millionths = [1_000, 10_000, 60_000][random.below(3) as usize];
                vec![FaultRule::new(fault, When::Often { millionths })]
            }
            2 => {
                let from = random.below(500);
                vec![FaultRule::new(fault, When::Window(from, from + 1 + random.below(60)))]
            }
            3 => vec![FaultRule::new(fault, When::Window(random.below(600), u64::MAX)).at_path("indices/")],
            4 => (0..5).map(|_| FaultRule::new(fault, When::At(random.below(800)))).collect(),
            5 => {
                let often = FaultRule::new(Fault::Panic, When::Often { millionths: 1_500 });
                vec![often, FaultRule::new(Fault::Delay { ms: 700 }, When::Often { millionths: 20_000 })]
            }
            6 => {
                let delay = FaultRule::new(Fault::Delay { ms: 300 }, When::Often { millionths: 50_000 });
                vec![delay.only([CallKind::Sync, CallKind::SyncFile, CallKind::Rename])]
            }
            _ => Vec::new(),
        }
    }
}

/// Suppresses the output of panics that the disk was told to raise.
fn quiet_simulated_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_simulated = panic
                .payload()
                .downcast_ref::<String>()
                .is_some_and(|text| text.starts_with("a simulated panic"));
            if !is_simulated {
                usual(panic);
            }
        }));
    });
}
