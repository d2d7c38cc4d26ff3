//! The whole node in a simulation: threads, disk, clock and faults are drawn from a seed, and what was acknowledged is checked after
//! every crash.
//!
//! `SIMULATION_SEED=7` replays one seed with its trace, `SIMULATION_SEEDS=1000..2000` runs a range.
//! `SIMULATION_EVERY_CALL=1` tries every call of the scenario.

mod actors;
#[path = "../common/mod.rs"]
mod common;
mod model;
mod points;
mod run;
mod verify;
mod world;

use std::ops::Range;

/// Seeds that found a fault once that is mended now. Their schedules change with the code, so a kept seed repeats the kind of run and not
/// always the fault.
const KEPT_SEEDS: &[u64] = &[
    5, // after a failed fsync the shard was reopened from the page cache; the checkpoint promised what was not on disk
    16, // a panic in the log's fsync failed the log and not the shard, which nobody reopened
    0, 7, 9, 19, // an alias that swaps beside readers and crashes was on no index, or on both
];
/// Seeds of a run that nothing is said about.
const SEEDS: Range<u64> = 100..180;

/// How to run one seed again.
fn command(seed: u64) -> String {
    format!("SIMULATION_SEED={seed} cargo test -p limber-engine --test simulation -- --nocapture seeds")
}

fn seeds_of(text: &str) -> Option<Range<u64>> {
    let (from, to) = text.split_once("..")?;
    Some(from.parse().ok()?..to.parse().ok()?)
}

#[test]
fn every_seed_keeps_what_was_acknowledged() {
    if let Some(seed) = std::env::var("SIMULATION_SEED").ok().and_then(|text| text.parse().ok()) {
        let outcome = run::run(seed, true);
        println!("{outcome:#?}");
        assert!(outcome.failures.is_empty());
        return;
    }
    let given = std::env::var("SIMULATION_SEEDS").ok();
    let range =
        given.map_or(SEEDS, |text| seeds_of(&text).expect("SIMULATION_SEEDS is a range such as 0..1000"));
    let begun = std::time::Instant::now();
    let (mut crashes, mut faults, mut steps, mut acknowledged, mut failed) = (0, 0, 0, 0, Vec::new());
    let count = KEPT_SEEDS.len() as u64 + range.end - range.start;
    for seed in KEPT_SEEDS.iter().copied().chain(range) {
        let outcome = run::run(seed, false);
        crashes += outcome.crashes;
        faults += outcome.faults;
        steps += outcome.steps;
        acknowledged += outcome.acknowledged;
        if !outcome.failures.is_empty() {
            println!("seed {seed}: {:#?}\n  {}", outcome.failures, command(seed));
            failed.push(seed);
        }
    }
    println!(
        "{count} seeds, {crashes} crashes, {faults} faults, {steps} steps, {acknowledged} acknowledged writes in {:?}",
        begun.elapsed()
    );
    assert!(failed.is_empty(), "seeds that lost or half-wrote something: {failed:?}");
    assert!(crashes > count && acknowledged > count && faults > 0);
}

#[test]
fn a_seed_repeats_its_run_exactly() {
    for seed in [3, 17, 40] {
        let (first, again) = (run::run(seed, false), run::run(seed, false));
        assert_eq!(first.hashes, again.hashes, "seed {seed}");
    }
}

/// Every how many calls of the scenario a run of this test tries; 1 with `SIMULATION_EVERY_CALL`.
fn stride(usual: usize) -> usize {
    if std::env::var_os("SIMULATION_EVERY_CALL").is_some() { 1 } else { usual }
}

#[test]
fn the_power_goes_at_any_call_of_a_scenario_and_of_its_recovery() {
    let (calls, recovery, wrong) = points::run(0, points::Event::None, None, None);
    assert!(wrong.is_empty() && calls > 300 && recovery > 50, "{calls} {recovery} {wrong:#?}");
    for call in (0..calls).step_by(stride(97)) {
        for again in [None, Some(call % recovery)] {
            let (.., wrong) = points::run(call, points::Event::PowerOff, again, None);
            assert!(wrong.is_empty(), "power off at call {call} of {calls}, then at {again:?}: {wrong:#?}");
        }
    }
}

/// Faults of every kind at calls spread over the scenario: the node lives, heals without a restart and loses nothing.
#[test]
#[ignore = "takes minutes: cargo test -p limber-engine --test simulation -- --ignored any_call"]
fn any_call_of_a_scenario_fails() {
    let sites = limber_store::crash::Sites::default();
    let (calls, _, wrong) = points::run(0, points::Event::None, None, Some(&sites));
    assert!(wrong.is_empty(), "{wrong:#?}");
    use limber_store::Fault::*;
    for (number, fault) in [Io, NoSpace, NoDescriptors, NoMemory].into_iter().enumerate() {
        for call in (0..calls).skip(number * 7).step_by(stride(197)) {
            let (.., wrong) = points::run(call, points::Event::Fails(fault), None, Some(&sites));
            assert!(wrong.is_empty(), "{fault:?} at call {call} of {calls}: {wrong:#?}");
        }
    }
    let missing = points::never_failed(&sites);
    println!("{} call sites reached, {} never failed: {missing:#?}", sites.all().len(), missing.len());
    // A call at every site has failed when every call has.
    assert!(missing.is_empty() || stride(2) != 1);
}
