//! The effect of each knob on the goal.

use super::halving::Search;
use super::space::{Candidate, Space};
use crate::inference::estimate::median;
use crate::model::bare_text;

/// The effect of one knob over all candidates of the first rung, where all of them raced equally often.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KnobEffect {
    pub name: String,
    /// Each value with the mean of its candidates' goals; NaN for a value with which no candidate finished.
    pub by_value: Vec<(String, f64)>,
    /// Difference between the best and the worst of these means, relative to the overall mean.
    pub range_share: f64,
    /// Share of the variance between candidates that this knob alone explains (main effect, eta squared), in
    /// [0, 1].
    pub variance_share: f64,
}

/// Returns the effects in the order of the knobs; empty when nothing was measured.
pub(super) fn sensitivity(space: &Space, candidates: &[Candidate], search: &Search) -> Vec<KnobEffect> {
    let measured: Vec<(&Candidate, f64)> = candidates
        .iter()
        .enumerate()
        .map(|(index, candidate)| (candidate, median(&search.values(index, |rung| rung == 0))))
        .filter(|(_, goal)| goal.is_finite())
        .collect();
    if measured.is_empty() {
        return Vec::new();
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let all: Vec<f64> = measured.iter().map(|(_, goal)| *goal).collect();
    let overall = mean(&all);
    let variance: f64 = all.iter().map(|goal| (goal - overall).powi(2)).sum();
    let effect = |(place, knob): (usize, &super::space::Knob)| {
        let levels: Vec<Vec<f64>> = (0..knob.values.len())
            .map(|value| {
                let has_value = |(candidate, _): &&(&Candidate, f64)| candidate[place] == value;
                measured.iter().filter(has_value).map(|(_, goal)| *goal).collect()
            })
            .collect();
        let means: Vec<f64> = levels.iter().map(|level| mean(level)).collect();
        let known = || means.iter().copied().filter(|mean| mean.is_finite());
        let between: f64 = levels
            .iter()
            .zip(&means)
            .filter(|(level, _)| !level.is_empty())
            .map(|(level, mean)| level.len() as f64 * (mean - overall).powi(2))
            .sum();
        let range = known().fold(f64::NEG_INFINITY, f64::max) - known().fold(f64::INFINITY, f64::min);
        KnobEffect {
            name: knob.name.clone(),
            by_value: knob.values.iter().map(bare_text).zip(means.iter().copied()).collect(),
            range_share: if overall == 0.0 { 0.0 } else { range / overall.abs() },
            variance_share: if variance > 0.0 { (between / variance).min(1.0) } else { 0.0 },
        }
    };
    space.knobs.iter().enumerate().map(effect).collect()
}
