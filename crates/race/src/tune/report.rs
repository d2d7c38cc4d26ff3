//! The report of a search.

use std::fmt::Write as _;

use super::experiment::Experiment;
use super::halving::{BASELINE, Search};
use super::sensitivity::sensitivity;
use super::space::Candidate;
use super::tradeoff::{Point, points};
use crate::inference::estimate::median;
use crate::inference::{Comparison, Direction, Verdict};
use crate::notation::Number;
use crate::notation::shown::{significant, table_unit};
use crate::notation::units::MB;
use crate::report::table::{self, Align, Cell, Row};

/// All that is known after a search.
pub(super) struct Findings<'a> {
    pub experiment: &'a Experiment,
    pub candidates: &'a [Candidate],
    pub search: &'a Search,
    pub direction: Direction,
    pub unit: &'a str,
}

impl Findings<'_> {
    pub(super) fn described(&self, candidate: usize) -> String {
        self.experiment.space.described(&self.candidates[candidate])
    }

    pub(super) fn points(&self) -> Vec<Point> {
        points(self.candidates.len(), self.search, self.direction)
    }

    /// Returns the trade-off as a picture; `None` when the memory of fewer than two candidates is known.
    pub(super) fn picture(&self) -> Option<String> {
        let points = self.points();
        let best = self.search.ranking.first().copied();
        (points.len() > 1).then(|| {
            super::tradeoff::svg(&points, &self.experiment.goal.text, self.unit, best, |candidate| {
                self.described(candidate)
            })
        })
    }

    /// Returns the whole report as Markdown.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if !self.experiment.description.is_empty() {
            let _ = writeln!(text, "{}\n", self.experiment.description);
        }
        self.add_best(&mut text);
        self.add_candidates(&mut text);
        self.add_sensitivity(&mut text);
        self.add_tradeoff(&mut text);
        text
    }

    pub(super) fn add_best(&self, text: &mut String) {
        let search = self.search;
        let combinations = self.experiment.space.size();
        let races = search.trials.len();
        let _ = writeln!(
            text,
            "Goal: {}. {races} of at most {} races, {} of {combinations} combinations.\n",
            self.experiment.goal.text,
            self.experiment.budget,
            self.candidates.len()
        );
        let Some(best) = search.ranking.first() else {
            let _ = writeln!(text, "No setting finished its races within the bounds.\n");
            for (candidate, reason) in &search.given_up {
                let _ = writeln!(text, "- {}: {reason}", self.described(*candidate));
            }
            return;
        };
        let in_final = |rung: usize| rung == search.final_rung;
        let values = search.values(*best, in_final);
        let evidence = search.evidence(self.direction);
        let is_better = |comparison: &Comparison| comparison.verdict(search.level) == Verdict::Better;
        let is_shown = !evidence.is_empty() && evidence.iter().all(|(_, comparison)| is_better(comparison));
        let is_worth_it =
            evidence.iter().any(|(other, comparison)| *other == BASELINE && is_better(comparison));
        let title = match (is_shown, is_worth_it) {
            (true, _) => "Best setting",
            (false, true) => "Shown to be better than the baseline, though not the best of the finalists",
            (false, false) if evidence.is_empty() => "The only setting that came to the final",
            (false, false) => "No setting is shown to be the best. The best median, which may be chance",
        };
        let _ = writeln!(text, "{title}: {}", self.described(*best));
        // A goal such as `docs/s` is its own unit, so do not repeat it.
        let goal = match self.experiment.goal.text.as_str() {
            goal if goal == self.unit => String::new(),
            goal => format!("{goal}: "),
        };
        let _ = writeln!(
            text,
            "{goal}{} (median of {} races of the final)\n",
            shown(median(&values), self.unit),
            values.len()
        );
        for (other, comparison) in evidence {
            let name = if other == BASELINE { "the baseline" } else { "the runner-up" };
            let _ =
                writeln!(text, "Against {name} ({}): {}", self.described(other), self.evidence(&comparison));
        }
        if *best == BASELINE {
            let _ = writeln!(text, "That is the baseline: nothing is shown to be gained by changing it.");
        }
        if search.ended_early {
            let _ = writeln!(text, "The final ended before the budget: the evidence was enough.");
        }
        text.push('\n');
    }

    fn evidence(&self, comparison: &Comparison) -> String {
        let percent = |share: f64| format!("{:+.1} %", share * 100.0);
        let change = comparison.change.map_or_else(|| "from 0".to_owned(), percent);
        let interval = comparison.change_interval.map_or_else(String::new, |interval| {
            format!(" (95 % interval {} to {})", percent(interval.low), percent(interval.high))
        });
        let verdict = comparison.verdict(self.search.level).name();
        format!(
            "{} against {}, {change}{interval}, Cliff's delta {:+.2}, p = {:.4} (shown from p <= {:.4}): {verdict}.",
            shown(comparison.contender_median, self.unit),
            shown(comparison.baseline_median, self.unit),
            comparison.cliffs_delta,
            comparison.p_adjusted,
            self.search.level
        )
    }

    fn add_candidates(&self, text: &mut String) {
        let (unit, factor) = table_unit(self.unit);
        let rows: Vec<Row> = (0..self.candidates.len())
            .map(|candidate| {
                let values = self.search.values(candidate, |_| true);
                let place = match self.search.ranking.iter().position(|ranked| *ranked == candidate) {
                    Some(place) => format!("{}. of the final", place + 1),
                    None => self
                        .search
                        .given_up
                        .iter()
                        .find(|(given_up, _)| *given_up == candidate)
                        .map_or_else(String::new, |(_, reason)| {
                            reason.lines().next().unwrap_or_default().to_owned()
                        }),
                };
                vec![
                    Cell::from(self.described(candidate)),
                    number(median(&values) * factor),
                    Cell::from(unit),
                    Cell::from(Number::from(values.len() as u64)),
                    Cell::from(place),
                ]
            })
            .collect();
        let headers = ["Setting", "Median", "Unit", "Races", "Outcome"];
        let _ = writeln!(text, "{}", table::markdown(&headers, &rows, Align::Decimal));
    }

    fn add_sensitivity(&self, text: &mut String) {
        let effects = sensitivity(&self.experiment.space, self.candidates, self.search);
        if effects.is_empty() {
            return;
        }
        let _ = writeln!(text, "How much each knob matters (first rung, where all settings raced alike):\n");
        let rows: Vec<Row> = effects
            .iter()
            .map(|effect| {
                let by_value: Vec<String> = effect
                    .by_value
                    .iter()
                    .map(|(value, mean)| {
                        format!(
                            "{value}: {}",
                            if mean.is_finite() { shown(*mean, self.unit) } else { "-".to_owned() }
                        )
                    })
                    .collect();
                vec![
                    Cell::from(effect.name.as_str()),
                    Cell::from(format!("{:.1} %", effect.range_share * 100.0)),
                    Cell::from(format!("{:.0} %", effect.variance_share * 100.0)),
                    Cell::from(by_value.join("; ")),
                ]
            })
            .collect();
        let headers = ["Knob", "Best to worst value", "Explains of the variance", "Mean by value"];
        let _ = writeln!(text, "{}", table::markdown(&headers, &rows, Align::Decimal));
    }

    fn add_tradeoff(&self, text: &mut String) {
        let points = self.points();
        if points.len() < 2 {
            let _ = writeln!(
                text,
                "The server's memory is not known (it does not run on this machine, or does not say who it is): no trade-off is shown."
            );
            return;
        }
        let (unit, factor) = table_unit(self.unit);
        let _ = writeln!(text, "Memory against the goal, settings that none other beats in both:\n");
        let rows: Vec<Row> = points
            .iter()
            .filter(|point| point.is_efficient)
            .map(|point| {
                vec![
                    number((point.memory_bytes / MB * 10.0).round() / 10.0),
                    number(point.goal * factor),
                    Cell::from(unit),
                    Cell::from(self.described(point.candidate)),
                ]
            })
            .collect();
        let headers = ["Peak memory, MB", "Median", "Unit", "Setting"];
        let _ = writeln!(text, "{}", table::markdown(&headers, &rows, Align::Decimal));
    }
}

fn number(value: f64) -> Cell {
    if value.is_finite() { Cell::Plain(value) } else { Cell::Missing }
}

/// Returns five significant digits, in the unit of tables.
pub(super) fn shown(value: f64, unit: &str) -> String {
    let (unit, factor) = table_unit(unit);
    format!("{} {unit}", significant(value * factor, 5)).trim_end().to_owned()
}
