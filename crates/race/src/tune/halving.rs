//! Chooses the candidate that is raced next, and the candidates that are given up.
//!
//! This is sequential halving (Karnin, Koren and Somekh 2013; with rungs as in successive halving): all
//! candidates race equally often and the better half continues, until at most three are left. The rest of the
//! budget goes into a final, in which the two best and the baseline race in turn until the best one is shown
//! to be better than the others, or the budget is spent. Only the final's races are evidence: the earlier
//! ones have chosen the winner, and would be biased in its favour.
//!
//! A candidate is given up within a rung when it is shown to be worse than the leader, or when one of its
//! races fails. Every look at the statistics uses a share of the significance level (Bonferroni over looks),
//! so that looking after each pass does not make a false winner more likely.

use crate::conduct::series::Order;
use crate::error::Error;
use crate::inference::comparison::adjust;
use crate::inference::estimate::median;
use crate::inference::rank_test::smallest_p;
use crate::inference::{Comparison, Correction, Direction, Verdict};

use super::goal::is_better;

/// Races of each finalist that are reserved if the budget allows: what five against five can show (p =
/// 0.008).
const FINAL_PASSES_RESERVED: usize = 5;
const FINALISTS_MAX: usize = 3;
/// Index of the baseline.
pub(super) const BASELINE: usize = 0;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// Total number of races.
    pub budget: usize,
    pub significance: f64,
    pub seed: u64,
    pub direction: Direction,
    /// Whether the final ends as soon as the best candidate is shown to be the best.
    pub stops_early: bool,
}

/// Result of one race of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    Measured {
        goal: f64,
        /// Peak resident memory of the server, if it is known.
        memory_bytes: Option<f64>,
        /// Whether all bounds were kept.
        is_within_bounds: bool,
    },
    /// The server did not start, or the race ended early.
    Failed(String),
}

/// One race.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trial {
    pub candidate: usize,
    /// Counted from 0; the last rung is the final.
    pub rung: usize,
    pub outcome: Outcome,
}

/// Result of the search.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Search {
    pub trials: Vec<Trial>,
    pub final_rung: usize,
    /// Finalists, the best first; empty when no candidate finished a race within the bounds.
    pub ranking: Vec<usize>,
    /// The other candidates with the reason why they were given up, in the order in which that happened.
    pub given_up: Vec<(usize, String)>,
    /// Corrected p-value that a difference in the final must not exceed to count as shown.
    pub level: f64,
    /// Whether the final ended before the budget was spent.
    pub ended_early: bool,
}

impl Search {
    /// Returns the goal values of a candidate's races, only from rungs for which `is_meant` is true.
    pub(super) fn values(&self, candidate: usize, is_meant: impl Fn(usize) -> bool) -> Vec<f64> {
        values(&self.trials, candidate, is_meant)
    }

    /// Compares the best candidate with each other finalist by the final's races; the p-values are corrected
    /// over the finalists.
    pub(super) fn evidence(&self, direction: Direction) -> Vec<(usize, Comparison)> {
        let Some((best, others)) = self.ranking.split_first() else { return Vec::new() };
        let of = |candidate: usize| self.values(candidate, |rung| rung == self.final_rung);
        against(&self.trials, self.final_rung, *best, others, direction)
            .into_iter()
            .map(|(other, comparison)| (other, comparison.with_interval(&of(other), &of(*best))))
            .collect()
    }
}

/// Returns how many candidates a budget can distinguish: two races each for halving, and the final.
pub(super) fn candidates_max(budget: usize) -> usize {
    ((budget - reserved(budget, FINALISTS_MAX)) / 2).max(2)
}

/// Returns the number of races reserved for the final: at most half of the budget.
fn reserved(budget: usize, finalists_count: usize) -> usize {
    (FINAL_PASSES_RESERVED * finalists_count.min(FINALISTS_MAX)).min(budget / 2)
}

/// Searches among candidates `0..count`. `race` races one of them; it also gets the race's index among all
/// races, for the log.
///
/// # Errors
/// Those of `race` that end the search (an interrupt). A race that fails for other reasons is an
/// [`Outcome::Failed`].
pub(super) fn search(
    count: usize,
    plan: &Plan,
    race: &mut dyn FnMut(usize, usize) -> Result<Outcome, Error>,
) -> Result<Search, Error> {
    let mut state =
        State { plan, race, trials: Vec::new(), alive: (0..count).collect(), given_up: Vec::new() };
    let reserved = reserved(plan.budget, count);
    let mut rung = 0;
    while state.alive.len() > FINALISTS_MAX {
        let rungs_left = rungs(state.alive.len());
        let share = (plan.budget - reserved).saturating_sub(state.trials.len()) / rungs_left;
        let passes = (share / state.racing().len()).max(1);
        let half = state.alive.len().div_ceil(2);
        for pass in 0..passes {
            if !state.pass(rung, pass, plan.budget - reserved)? {
                break;
            }
            state.give_up_shown_worse(rung, passes);
            if state.alive.len() <= half {
                break;
            }
        }
        state.halve(rung, half);
        rung += 1;
    }
    let (level, ended_early) = state.finish(rung)?;
    // The baseline races in the final whether or not it could still win. If it is the best, it wins.
    let finalists = state.racing();
    let State { trials, given_up, .. } = state;
    let ranking = ranked(&trials, &finalists, plan.direction, |of| of == rung);
    Ok(Search { trials, final_rung: rung, ranking, given_up, level, ended_early })
}

/// Returns the number of rungs until at most [`FINALISTS_MAX`] candidates are left.
fn rungs(mut count: usize) -> usize {
    let mut rungs = 0;
    while count > FINALISTS_MAX {
        count = count.div_ceil(2);
        rungs += 1;
    }
    rungs.max(1)
}

struct State<'a> {
    plan: &'a Plan,
    race: &'a mut dyn FnMut(usize, usize) -> Result<Outcome, Error>,
    trials: Vec<Trial>,
    /// The candidates that can still win.
    alive: Vec<usize>,
    given_up: Vec<(usize, String)>,
}

impl State<'_> {
    /// Returns the candidates that race: all that can win, and the baseline unless its races fail.
    fn racing(&self) -> Vec<usize> {
        let mut racing = self.alive.clone();
        let has_failed = self
            .trials
            .iter()
            .any(|trial| trial.candidate == BASELINE && matches!(trial.outcome, Outcome::Failed(_)));
        if !racing.contains(&BASELINE) && !has_failed {
            racing.push(BASELINE);
        }
        racing
    }

    /// Races each candidate once, in a different order for each pass. Returns false when that would take more
    /// than `budget` races in total.
    fn pass(&mut self, rung: usize, pass: usize, budget: usize) -> Result<bool, Error> {
        let racing = self.racing();
        if racing.is_empty() || self.trials.len() + racing.len() > budget {
            return Ok(false);
        }
        let round = rung * 1_000 + pass;
        for index in Order::Random.of_round(racing.len(), round, self.plan.seed) {
            let candidate = racing[index];
            let outcome = (self.race)(candidate, self.trials.len())?;
            let failure = match &outcome {
                Outcome::Failed(reason) => Some(format!("a race failed: {reason}")),
                Outcome::Measured { .. } => None,
            };
            self.trials.push(Trial { candidate, rung, outcome });
            if let Some(reason) = failure {
                self.give_up(candidate, reason);
            }
        }
        Ok(true)
    }

    fn give_up(&mut self, candidate: usize, reason: String) {
        if self.alive.contains(&candidate) {
            self.alive.retain(|other| *other != candidate);
            self.given_up.push((candidate, reason));
        }
    }

    /// Gives up the candidates that are shown to be worse than the leader within a rung, for which `passes`
    /// are planned.
    fn give_up_shown_worse(&mut self, rung: usize, passes: usize) {
        let ranking = ranked(&self.trials, &self.alive, self.plan.direction, |of| of == rung);
        let Some((leader, others)) = ranking.split_first() else { return };
        let level = self.plan.significance / passes as f64;
        let worse: Vec<usize> = against(&self.trials, rung, *leader, others, self.plan.direction)
            .into_iter()
            .filter(|(_, comparison)| comparison.verdict(level) == Verdict::Better)
            .map(|(candidate, _)| candidate)
            .collect();
        for candidate in worse {
            self.give_up(candidate, "shown to be worse than the leader".to_owned());
        }
    }

    /// Keeps the better half by the median of all races so far.
    fn halve(&mut self, rung: usize, half: usize) {
        let ranking = ranked(&self.trials, &self.alive, self.plan.direction, |_| true);
        for candidate in self.alive.clone() {
            if !ranking.contains(&candidate) {
                self.give_up(candidate, "out of bounds".to_owned());
            }
        }
        for candidate in ranking.into_iter().skip(half) {
            self.give_up(candidate, format!("in the lower half after rung {}", rung + 1));
        }
    }

    /// Races the finalists until one is shown to be the best. Returns the level of each look, and whether it
    /// ended early.
    fn finish(&mut self, rung: usize) -> Result<(f64, bool), Error> {
        if rung > 0 {
            // One of three finalists may be the baseline. Otherwise only the two best race against it.
            let ranking = ranked(&self.trials, &self.alive, self.plan.direction, |_| true);
            let places = if ranking.contains(&BASELINE) { FINALISTS_MAX } else { FINALISTS_MAX - 1 };
            for candidate in ranking.into_iter().skip(places) {
                self.give_up(candidate, "third before the final".to_owned());
            }
        }
        let racing = self.racing().len().max(1);
        let passes = self.plan.budget.saturating_sub(self.trials.len()) / racing;
        let is_useful = |count: &usize| smallest_p(*count, *count) <= self.plan.significance;
        let looks = if self.plan.stops_early { (1..=passes).filter(is_useful).count().max(1) } else { 1 };
        let level = self.plan.significance / looks as f64;
        for pass in 0..passes {
            if !self.pass(rung, pass, self.plan.budget)? {
                break;
            }
            if self.plan.stops_early && self.is_settled(rung, level) {
                return Ok((level, pass + 1 < passes));
            }
        }
        Ok((level, false))
    }

    fn is_settled(&self, rung: usize, level: f64) -> bool {
        let ranking = ranked(&self.trials, &self.racing(), self.plan.direction, |of| of == rung);
        let Some((leader, others)) = ranking.split_first() else { return false };
        // A leader without others has nothing to be compared with.
        others.is_empty()
            || against(&self.trials, rung, *leader, others, self.plan.direction)
                .iter()
                .all(|(_, comparison)| comparison.verdict(level) == Verdict::Better)
    }
}

fn values(trials: &[Trial], candidate: usize, is_meant: impl Fn(usize) -> bool) -> Vec<f64> {
    trials
        .iter()
        .filter(|trial| trial.candidate == candidate && is_meant(trial.rung))
        .filter_map(|trial| match trial.outcome {
            Outcome::Measured { goal, .. } => Some(goal),
            Outcome::Failed(_) => None,
        })
        .collect()
}

/// Returns the `candidates` that have values, the best median first, without those that mostly broke a bound.
fn ranked(
    trials: &[Trial],
    candidates: &[usize],
    direction: Direction,
    is_meant: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let breaks_bounds = |candidate: usize| {
        let kept: Vec<bool> = trials
            .iter()
            .filter(|trial| trial.candidate == candidate)
            .filter_map(|trial| match trial.outcome {
                Outcome::Measured { is_within_bounds, .. } => Some(is_within_bounds),
                Outcome::Failed(_) => None,
            })
            .collect();
        2 * kept.iter().filter(|kept| !**kept).count() > kept.len()
    };
    let mut medians: Vec<(usize, f64)> = candidates
        .iter()
        .filter(|candidate| !breaks_bounds(**candidate))
        .map(|candidate| (*candidate, median(&values(trials, *candidate, &is_meant))))
        .filter(|(_, median)| median.is_finite())
        .collect();
    medians.sort_by(|(_, a), (_, b)| match (is_better(direction, *a, *b), is_better(direction, *b, *a)) {
        (true, _) => std::cmp::Ordering::Less,
        (_, true) => std::cmp::Ordering::Greater,
        _ => std::cmp::Ordering::Equal,
    });
    medians.into_iter().map(|(candidate, _)| candidate).collect()
}

/// Compares `leader` as the contender with each other one as the baseline, by the races of one rung.
fn against(
    trials: &[Trial],
    rung: usize,
    leader: usize,
    others: &[usize],
    direction: Direction,
) -> Vec<(usize, Comparison)> {
    let of = |candidate: usize| values(trials, candidate, |of| of == rung);
    let leading = of(leader);
    let mut compared: Vec<(usize, Comparison)> =
        others.iter().map(|other| (*other, Comparison::new(&of(*other), &leading, direction))).collect();
    let mut family: Vec<&mut Comparison> = compared.iter_mut().map(|(_, comparison)| comparison).collect();
    adjust(&mut family, Correction::Holm);
    compared
}
