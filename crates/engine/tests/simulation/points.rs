//! Runs one scenario that is interrupted or disturbed at each of its calls in turn.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use limber_engine::{Node, Round};
use limber_store::crash::{Sites, When};
use limber_store::{CrashDisk, Fault, FaultRule, sync};

use crate::copies::copy_once;
use crate::model::Model;
use crate::verify::verify;
use crate::world::{SimulatedClock, World, alone, open};
use crate::{actors, changes};
use limber_store::random::SplitMix64;

/// How a run of the scenario is disturbed. Calls are counted from the beginning of their part.
#[derive(Debug, Clone, Default)]
pub struct Case {
    /// Decides what is kept after a crash, and how long writes are.
    pub seed: u64,
    /// The power is cut at this call of the scenario.
    pub power_off: Option<u64>,
    /// These calls of the scenario fail.
    pub fails: Vec<(u64, Fault)>,
    /// The power is cut at this call of an additional recovery before the last one.
    pub power_off_again: Option<u64>,
    /// These calls of the last recovery, and of the first background rounds after it, fail.
    pub recovery_fails: Vec<(u64, Fault)>,
}

/// The result of a run.
pub struct Ran {
    /// The disk calls of the scenario, by number.
    pub scenario: Range<u64>,
    pub recovery: Range<u64>,
    pub wrong: Vec<String>,
}

/// Runs the scenario, crashes, recovers, and checks that everything acknowledged is there.
pub fn run(case: &Case, sites: Option<&Sites>) -> Ran {
    let disk = CrashDisk::new(case.seed);
    let disk = sites.map_or(disk.clone(), |sites| disk.noting(sites));
    let mut ran = Ran { scenario: 0..0, recovery: 0..0, wrong: Vec::new() };
    let stage = Stage { disk, clock: Arc::default(), model: Arc::default() };
    if let Err(why) = stage.play(case, &mut ran).and_then(|()| stage.recover(case, &mut ran)) {
        ran.wrong.push(why);
    }
    ran
}

struct Stage {
    disk: CrashDisk,
    clock: Arc<SimulatedClock>,
    model: Arc<Model>,
}

impl Stage {
    fn play(&self, case: &Case, ran: &mut Ran) -> Result<(), String> {
        let node = open(&self.disk, &self.clock, 7)
            .and_then(|node| actors::set_up(&node).map(|()| node))
            .map_err(|error| format!("set-up: {error}"))?;
        self.model.with(|known| known.alias = vec!["x-a".to_owned()]);
        let before = self.disk.all_call_count();
        if let Some(call) = case.power_off {
            self.disk.power_off_at(call);
        }
        self.disk.set_faults(rules(&case.fails));
        let scene = Arc::new(self.world(node, !case.fails.is_empty()));
        let played = scene.clone();
        let panics = alone(&self.clock, move || play(&played));
        if !panics.is_empty() {
            return Err(format!("{panics:?}"));
        }
        ran.scenario = before..self.disk.all_call_count();
        ran.wrong.extend(scene.take_failures());
        if !self.disk.is_off() {
            ran.wrong.extend(scene.heal());
        }
        Ok(())
    }

    fn recover(&self, case: &Case, ran: &mut Ran) -> Result<(), String> {
        self.crash();
        if let Some(again) = case.power_off_again {
            self.disk.power_off_at(again);
            drop(open(&self.disk, &self.clock, 8));
            self.crash();
        }
        let before = self.disk.all_call_count();
        self.disk.set_faults(rules(&case.recovery_fails));
        let opened = catch_unwind(AssertUnwindSafe(|| open(&self.disk, &self.clock, 9)));
        if let Ok(Ok(node)) = &opened {
            let node = node.clone();
            // It may panic where the simulated disk panics on purpose.
            alone(&self.clock, move || {
                sync::sleep(Duration::from_secs(1));
                node.maintain();
            });
        }
        ran.recovery = before..self.disk.all_call_count();
        match opened {
            Ok(Ok(node)) => ran.wrong.extend(self.world(node, false).heal()),
            // A failing disk may prevent the start. What is on disk must be kept.
            _ if !case.recovery_fails.is_empty() => {}
            Ok(Err(error)) => return Err(format!("does not open: {error}")),
            Err(_) => return Err("opening panicked".to_owned()),
        }
        self.crash();
        let node = open(&self.disk, &self.clock, 10).map_err(|error| format!("does not open: {error}"))?;
        let last = self.world(node, false);
        verify(&last);
        ran.wrong.extend(last.take_failures());
        Ok(())
    }

    fn crash(&self) {
        self.disk.power_off();
        self.disk.crash();
    }

    fn world(&self, node: Arc<Node>, has_faults: bool) -> World {
        World::new(node, &self.disk, &self.clock, &self.model, has_faults)
    }
}

fn rules(fails: &[(u64, Fault)]) -> Vec<FaultRule> {
    fails.iter().map(|&(call, fault)| FaultRule::new(fault, When::At(call))).collect()
}

/// Makes every kind of change, one after the other.
fn play(world: &World) {
    let random = &mut SplitMix64::new(11);
    copy_once(world, random);
    for _ in 0..2 {
        actors::write(world, random, "w1");
        actors::write_async(world, random);
        actors::churn(world, random);
        actors::append(world, random);
        changes::change(world, random);
        for round in Round::ALL {
            let _ = world.ask(|node| {
                node.run_round(round);
                Ok(())
            });
        }
    }
}
