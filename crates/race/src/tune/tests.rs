//! Tests on a simulated server with a known optimum.

use std::collections::BTreeMap;

use super::goal::Goal;
use super::halving::{BASELINE, Outcome, Plan, Search, candidates_max, search};
use super::sensitivity::sensitivity;
use super::space::{Candidate, Knob, Space};
use crate::error::Error;
use crate::inference::{Direction, Verdict};
use crate::random::Random;

/// Answers with a latency that depends on its settings, times noise.
struct Simulated {
    space: Space,
    candidates: Vec<Candidate>,
    noise: f64,
    random: Random,
}

impl Simulated {
    fn new(count_max: usize, noise: f64, seed: u64) -> Simulated {
        let knob = |text: &str| Knob::parse(text).unwrap();
        let space = Space {
            knobs: vec![
                knob("heap=1,2,4,8"),
                knob("bulk-size=100,500,1000,5000"),
                knob("index:index.codec=default,best_compression"),
            ],
        };
        let candidates = space.candidates(count_max, seed);
        Simulated { space, candidates, noise, random: Random::new(seed) }
    }

    /// Returns the latency. The best setting is heap=4, bulk-size=1000; the codec has no effect.
    fn latency_ms(&self, candidate: usize) -> f64 {
        let of = |knob: usize, factors: [f64; 4]| factors[self.candidates[candidate][knob]];
        20.0 * of(0, [1.6, 1.3, 1.0, 1.15]) * of(1, [1.5, 1.2, 1.0, 1.25])
    }

    fn race(&mut self, candidate: usize) -> f64 {
        // The sum of twelve uniform variables approximates a normal one well.
        let normal = (0..12).map(|_| self.random.unit()).sum::<f64>() - 6.0;
        self.latency_ms(candidate) * (1.0 + self.noise * normal)
    }
}

fn plan(budget: usize, seed: u64) -> Plan {
    Plan { budget, significance: 0.05, seed, direction: Direction::LessIsBetter, stops_early: true }
}

fn measured(goal: f64) -> Outcome {
    Outcome::Measured { goal, memory_bytes: None, is_within_bounds: true }
}

fn searched(simulated: &mut Simulated, plan: &Plan) -> Search {
    let count = simulated.candidates.len();
    search(count, plan, &mut |candidate, _| Ok(measured(simulated.race(candidate)))).unwrap()
}

#[test]
fn a_planted_optimum_is_found_within_the_budget() {
    for seed in 1..=20 {
        let budget = 100;
        let mut simulated = Simulated::new(candidates_max(budget), 0.04, seed);
        assert_eq!(simulated.candidates.len(), 32);
        let plan = plan(budget, seed);
        let found = searched(&mut simulated, &plan);
        assert!(found.trials.len() <= budget, "{}", found.trials.len());
        let best = &simulated.candidates[found.ranking[0]];
        // The third knob has no effect, so both of its values are best.
        assert_eq!(best[..2], [2, 2], "seed {seed}: {}", simulated.space.described(best));
        let (_, against_baseline) =
            found.evidence(plan.direction).into_iter().find(|(other, _)| *other == BASELINE).unwrap();
        assert_eq!(against_baseline.verdict(found.level), Verdict::Better, "seed {seed}");
    }
}

#[test]
fn what_each_knob_does_is_seen() {
    let mut simulated = Simulated::new(32, 0.02, 3);
    let found = searched(&mut simulated, &plan(100, 3));
    let effects = sensitivity(&simulated.space, &simulated.candidates, &found);
    let of = |name: &str| effects.iter().find(|effect| effect.name == name).unwrap();
    assert!(of("heap").range_share > 0.3 && of("bulk-size").range_share > 0.3, "{effects:?}");
    assert!(of("index:index.codec").range_share < 0.05, "{effects:?}");
    assert!(of("index:index.codec").variance_share < 0.05 && of("heap").variance_share > 0.3, "{effects:?}");
}

#[test]
fn two_settings_are_raced_in_turn_until_it_is_shown() {
    let mut calls = Vec::new();
    let found = search(2, &plan(40, 1), &mut |candidate, _| {
        calls.push(candidate);
        Ok(measured(if candidate == 0 { 10.0 } else { 8.0 } + calls.len() as f64 * 0.01))
    })
    .unwrap();
    assert!(found.ended_early && found.trials.len() < 40, "{}", found.trials.len());
    assert_eq!(found.ranking, [1, 0]);
    assert!(calls.chunks(2).all(|round| round.contains(&0) && round.contains(&1)), "{calls:?}");
    // The evidence is compared with the level that every look had.
    let evidence = found.evidence(Direction::LessIsBetter);
    assert!(evidence[0].1.p_adjusted <= found.level && found.level < 0.05);
}

#[test]
fn equal_settings_are_rarely_told_apart() {
    let mut wrong = 0;
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let found = search(2, &plan(24, seed), &mut |_, _| Ok(measured(10.0 + random.unit()))).unwrap();
        assert!(found.trials.len() <= 24);
        wrong += usize::from(found.ended_early);
    }
    // The expected number is at most 5 % of 200. The bound allows three standard errors, although the
    // statistics are evaluated after every pass.
    assert!(wrong <= 19, "{wrong}");
}

#[test]
fn settings_that_fail_or_break_a_bound_do_not_win() {
    // Candidate 5 is the fastest but fails, 6 is next but out of bounds, and 7 is the best of the rest.
    let goal = |candidate: usize| 20.0 - candidate as f64 * if candidate > 4 { 0.5 } else { 1.0 };
    let mut count = 0u32;
    let found = search(8, &plan(60, 1), &mut |candidate, _| {
        count += 1;
        Ok(match candidate {
            5 => Outcome::Failed("the server did not start".into()),
            6 => Outcome::Measured { goal: 1.0, memory_bytes: None, is_within_bounds: false },
            7 => measured(10.0 + f64::from(count) * 1e-3),
            other => measured(goal(other) + f64::from(count) * 1e-3),
        })
    })
    .unwrap();
    assert_eq!(found.ranking[0], 7);
    let reasons: BTreeMap<usize, String> = found.given_up.iter().cloned().collect();
    assert!(reasons[&5].contains("did not start") && reasons[&6].contains("out of bounds"), "{reasons:?}");
    assert_eq!(found.trials.iter().filter(|trial| trial.candidate == 5).count(), 1);

    let none = search(4, &plan(20, 1), &mut |_, _| Ok(Outcome::Failed("no".into()))).unwrap();
    assert!(none.ranking.is_empty() && none.trials.len() == 4);
}

#[test]
fn the_same_outcomes_lead_to_the_same_search() {
    let mut simulated = Simulated::new(32, 0.05, 9);
    let plan = plan(80, 9);
    let uninterrupted = searched(&mut simulated, &plan);
    // The search is interrupted after 30 races, then resumed from what was recorded.
    let interrupted = search(32, &plan, &mut |_, position| match position {
        30 => Err(Error::Argument("interrupted".into())),
        position => Ok(uninterrupted.trials[position].outcome.clone()),
    });
    assert!(interrupted.is_err());
    let mut asked = 0;
    let again = search(32, &plan, &mut |candidate, position| {
        assert_eq!(candidate, uninterrupted.trials[position].candidate);
        asked += 1;
        Ok(uninterrupted.trials[position].outcome.clone())
    })
    .unwrap();
    assert_eq!((again, asked), (uninterrupted.clone(), uninterrupted.trials.len()));
}

#[test]
fn more_can_be_better() {
    let plan = Plan { direction: Direction::MoreIsBetter, ..plan(40, 2) };
    let mut count = 0u32;
    let found = search(4, &plan, &mut |candidate, _| {
        count += 1;
        Ok(measured(candidate as f64 * 10.0 + f64::from(count % 7)))
    })
    .unwrap();
    assert_eq!(found.ranking[0], 3);
    assert!(Goal::parse("docs/s").is_ok());
}
