//! One scenario, cut short or disturbed at each of its calls in turn.

use std::sync::Arc;

use limber_engine::Round;
use limber_store::crash::{Site, Sites, When};
use limber_store::sync::{Manner, Schedule, Simulation};
use limber_store::{CrashDisk, Fault, FaultRule};

use crate::actors;
use crate::model::Model;
use crate::verify::verify;
use crate::world::{SimulatedClock, World, open};
use limber_store::random::SplitMix64;

/// What happens at a call.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    /// Nothing; tells how many calls there are.
    None,
    PowerOff,
    Fails(Fault),
}

/// Runs the scenario with `event` at its call number `call`, then a crash, and if `again` names a call of the recovery, a crash there. Answers
/// the calls of the scenario and of the recovery, and what is wrong afterwards.
pub fn run(call: u64, event: Event, again: Option<u64>, sites: Option<&Sites>) -> (u64, u64, Vec<String>) {
    let disk = sites.map_or_else(|| CrashDisk::new(call), |sites| CrashDisk::new(call).noting(sites));
    let clock = Arc::<SimulatedClock>::default();
    let world = |node, model: &Arc<Model>, has_faults| World {
        node,
        disk: disk.clone(),
        clock: clock.clone(),
        model: model.clone(),
        has_faults,
        failures: Default::default(),
        writers: Default::default(),
    };
    let failed = |why: String| (0, 0, vec![why]);
    let node = match open(&disk, &clock, 7).and_then(|node| actors::set_up(&node).map(|()| node)) {
        Ok(node) => node,
        Err(error) => return failed(format!("set-up: {error}")),
    };
    let model = Arc::<Model>::default();
    model.with(|known| known.alias = vec!["x-a".to_owned()]);
    let before = disk.all_call_count();
    match event {
        Event::None => {}
        Event::PowerOff => disk.power_off_at(call),
        Event::Fails(fault) => disk.set_faults(vec![FaultRule::new(fault, When::At(call))]),
    }
    let scene = Arc::new(world(node, &model, matches!(event, Event::Fails(_))));
    let schedule = Schedule {
        seed: 1,
        manner: Manner::Uniform { switch_one_in: 1 },
        step_nanos_max: 50_000,
        wakes_without_reason: false,
    };
    let mut simulation = Simulation::new(schedule);
    let played = scene.clone();
    simulation.thread("scenario", move || play(&played));
    match simulation.run() {
        Err(failure) => return failed(failure.report),
        Ok(end) if !end.panics.is_empty() => return failed(format!("{:?}", end.panics)),
        Ok(end) => clock.outside_nanos.store(end.now_nanos, std::sync::atomic::Ordering::Relaxed),
    }
    let calls = disk.all_call_count() - before;
    let mut wrong = scene.take_failures();
    if !disk.is_off() {
        disk.heal();
        for _ in 0..3 {
            clock.outside_nanos.fetch_add(120_000_000_000, std::sync::atomic::Ordering::Relaxed);
            scene.node.maintain();
        }
        let healed = world(scene.node.clone(), &model, false);
        verify(&healed);
        actors::write_after(&healed);
        wrong.extend(healed.take_failures());
    }
    drop(scene);
    disk.power_off();
    disk.crash();
    if let Some(again) = again {
        disk.power_off_at(again);
        drop(open(&disk, &clock, 8));
        disk.power_off();
        disk.crash();
    }
    let before = disk.all_call_count();
    match open(&disk, &clock, 9) {
        Err(error) => wrong.push(format!("does not open: {error}")),
        Ok(node) => {
            let recovery = disk.all_call_count() - before;
            let last = world(node, &model, false);
            verify(&last);
            wrong.extend(last.take_failures());
            return (calls, recovery, wrong);
        }
    }
    (calls, 0, wrong)
}

/// Everything that changes something, one after the other.
fn play(world: &World) {
    let random = &mut SplitMix64::new(11);
    for _ in 0..2 {
        actors::write(world, random, "w1");
        actors::write_async(world, random);
        actors::churn(world, random);
        actors::append(world, random);
        actors::change(world, random);
        for round in Round::ALL {
            let _ = world.ask(|node| {
                node.run_round(round);
                Ok(())
            });
        }
    }
}

/// Sites that were reached and have not failed.
pub fn never_failed(sites: &Sites) -> Vec<Site> {
    sites.all().into_iter().filter(|(_, has_failed)| !has_failed).map(|(site, _)| site).collect()
}
