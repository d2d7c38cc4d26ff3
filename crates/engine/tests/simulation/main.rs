//! The whole node in a simulation: threads, disk, clock and faults are drawn from a seed, and what was acknowledged is checked after
//! every crash.
//!
//! `SIMULATION_SEED=7` replays one seed with its trace, `SIMULATION_SEEDS=1000..2000` runs a range (`tests/faults/simulate` does so for
//! hours).

mod actors;
#[path = "../common/mod.rs"]
mod common;
mod model;
mod run;
mod verify;
mod world;

use std::ops::Range;

/// Seeds that found a fault once, and what it was.
const KEPT_SEEDS: &[u64] = &[];
/// Seeds of a run that nothing is said about.
const SEEDS: Range<u64> = 0..120;

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
