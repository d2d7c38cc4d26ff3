//! The figures that a setting is judged by.

use crate::error::Error;
use crate::inference::Direction;
use crate::notation::units::bytes_of;
use crate::report::figures::Figure;

/// A figure of a race: `docs/s`, `p99 of TASK`, `p99`, `peak_memory`, or a figure's own key such as
/// `service_time.p50 of TASK`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Goal {
    pub text: String,
    what: What,
    task: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum What {
    /// Median throughput in this unit; `throughput` means any unit.
    Throughput(Option<String>),
    /// Latency as users experience it: from the due time for scheduled tasks, otherwise service time.
    Percentile(String),
    /// A figure by its key.
    Key(String),
}

/// Why a race does not have a figure.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NoFigure {
    /// No race of this track has it, or several tasks have it: the goal is wrong.
    OfGoal(String),
    /// This race measured too little for it; another setting may have it.
    OfRace(String),
}

impl std::fmt::Display for NoFigure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (NoFigure::OfGoal(reason) | NoFigure::OfRace(reason)) = self;
        f.write_str(reason)
    }
}

/// A bound that a setting has to keep.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bound {
    pub text: String,
    pub goal: Goal,
    pub is_upper: bool,
    pub value: f64,
}

fn refused(reason: String) -> Error {
    Error::Argument(reason)
}

impl Goal {
    /// # Errors
    /// `Argument` for a string that does not name a figure.
    pub(super) fn parse(text: &str) -> Result<Goal, Error> {
        let (what, task) = match text.split_once(" of ") {
            Some((what, task)) => (what.trim(), Some(task.trim().to_owned())),
            None => (text.trim(), None),
        };
        let is_percentile = |name: &str| {
            name.strip_prefix('p')
                .is_some_and(|number| ["50", "90", "99", "99.9", "99.99", "100"].contains(&number))
        };
        let kind = what.split('.').next().unwrap_or_default();
        let what = match what {
            "throughput" => What::Throughput(None),
            unit if unit.ends_with("/s") => What::Throughput(Some(unit.to_owned())),
            percentile if is_percentile(percentile) => What::Percentile(percentile.to_owned()),
            "peak_memory" | "server_cpu" => What::Key(format!("race.{what}")),
            key if crate::report::figures::KINDS.contains(&kind) => What::Key(key.to_owned()),
            _ => {
                return Err(refused(format!(
                    "[{text}] is no goal; write docs/s, p99 of TASK (also 50, 90, 99.9, 99.99, 100), peak_memory, server_cpu, or a figure such as \
                     service_time.p50 of TASK"
                )));
            }
        };
        Ok(Goal { text: text.trim().to_owned(), what, task })
    }

    pub(super) fn direction(&self) -> Direction {
        match &self.what {
            What::Throughput(_) => Direction::MoreIsBetter,
            What::Key(key) if key.starts_with("throughput") => Direction::MoreIsBetter,
            What::Percentile(_) | What::Key(_) => Direction::LessIsBetter,
        }
    }

    /// Returns the unit of the figure, as far as the goal alone determines it.
    pub(super) fn unit(&self) -> &str {
        match &self.what {
            What::Throughput(unit) => unit.as_deref().unwrap_or("/s"),
            What::Percentile(_) => "ms",
            What::Key(key) => match key.as_str() {
                "race.peak_memory" | "race.store_size" | "race.dataset_size" | "race.translog_size" => {
                    "bytes"
                }
                "race.server_cpu" => "s",
                "race.segment_count" => "",
                "error_rate" => "%",
                throughput if throughput.starts_with("throughput") => "/s",
                _ => "ms",
            },
        }
    }

    /// Returns the figure of a race that the goal names. `samples` are the tasks of the race with their
    /// numbers of measured requests (without the warm-up).
    ///
    /// Errors: why there is no such figure, or more than one.
    pub(super) fn of<'f>(
        &self,
        figures: &'f [Figure],
        samples: &[(&str, u64)],
    ) -> Result<&'f Figure, NoFigure> {
        let of_task = |figure: &&Figure| self.task.as_ref().is_none_or(|task| figure.task == *task);
        let with_key = |key: &str| -> Vec<&'f Figure> {
            figures.iter().filter(|figure| figure.key == key).filter(of_task).collect()
        };
        let found = match &self.what {
            What::Throughput(unit) => {
                let mut found = with_key("throughput.median");
                found.retain(|figure| unit.as_ref().is_none_or(|unit| figure.unit == *unit));
                found
            }
            What::Percentile(percentile) => match with_key(&format!("latency.{percentile}")) {
                scheduled if !scheduled.is_empty() => scheduled,
                _ => with_key(&format!("service_time.{percentile}")),
            },
            What::Key(key) => with_key(key),
        };
        match found.as_slice() {
            [figure] => Ok(figure),
            [] => Err(self.missing(figures, samples)),
            several => {
                let tasks: Vec<&str> = several.iter().map(|figure| figure.task.as_str()).collect();
                Err(NoFigure::OfGoal(format!(
                    "[{}] is of several tasks; write [{} of TASK] with one of: {}",
                    self.text,
                    self.text,
                    tasks.join(", ")
                )))
            }
        }
    }

    fn missing(&self, figures: &[Figure], samples: &[(&str, u64)]) -> NoFigure {
        let is_meant = |name: &str| self.task.as_ref().is_none_or(|task| task == name);
        let of_tasks = || samples.iter().filter(|(name, _)| is_meant(name));
        if let Some((name, _)) = of_tasks().find(|(_, count)| *count == 0) {
            return NoFigure::OfRace(format!(
                "task [{name}] ended within its warm-up, so that there is no [{}]: it needs more documents, more iterations or less warm-up",
                self.text
            ));
        }
        if let (What::Percentile(_), Some((name, count))) =
            (&self.what, of_tasks().min_by_key(|(_, count)| *count))
        {
            return NoFigure::OfRace(format!(
                "task [{name}] measured {count} requests, too few for [{}]",
                self.text
            ));
        }
        let mut known: Vec<&str> =
            figures.iter().map(|figure| figure.task.as_str()).filter(|task| !task.is_empty()).collect();
        known.dedup();
        NoFigure::OfGoal(format!(
            "the race has no figure [{}]; its tasks with figures are: {}",
            self.text,
            known.join(", ")
        ))
    }
}

impl Bound {
    /// Reads `FIGURE <= VALUE` or `FIGURE >= VALUE`; sizes may have a unit (kb, mb, gb).
    ///
    /// # Errors
    /// `Argument` for anything else.
    pub(super) fn parse(text: &str) -> Result<Bound, Error> {
        let (goal, value, is_upper) = match (text.split_once("<="), text.split_once(">=")) {
            (Some((goal, value)), _) => (goal, value, true),
            (None, Some((goal, value))) => (goal, value, false),
            (None, None) => {
                return Err(refused(format!(
                    "[{text}] is no bound; write FIGURE <= VALUE or FIGURE >= VALUE"
                )));
            }
        };
        let value = number(value.trim())
            .ok_or_else(|| refused(format!("[{text}]: [{}] is no number", value.trim())))?;
        Ok(Bound { text: text.trim().to_owned(), goal: Goal::parse(goal)?, is_upper, value })
    }

    pub(super) fn is_kept_by(&self, value: f64) -> bool {
        if self.is_upper { value <= self.value } else { value >= self.value }
    }
}

/// Parses a plain number, milliseconds, or a size in bytes.
fn number(text: &str) -> Option<f64> {
    let text = text.to_ascii_lowercase();
    match text.strip_suffix("ms") {
        Some(ms) => ms.trim_end().parse().ok(),
        None => bytes_of(&text),
    }
}

/// Whether `a` serves the goal better than `b`.
pub(super) fn is_better(direction: Direction, a: f64, b: f64) -> bool {
    match direction {
        Direction::MoreIsBetter => a > b,
        Direction::LessIsBetter => a < b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::{of_race, tests::race};

    #[test]
    fn goals_find_their_figure() {
        let figures = of_race(&race("a", 1000.0, 9.0)).unwrap();
        let value = |text: &str| {
            let goal = Goal::parse(text).unwrap();
            goal.of(&figures, &[("index", 90)]).map(|figure| (figure.value, figure.direction))
        };
        assert_eq!(value("docs/s"), Ok((1000.0, Direction::MoreIsBetter)));
        assert_eq!(value("p99 of index"), Ok((9.0, Direction::LessIsBetter)));
        assert_eq!(value("service_time.p50"), Ok((2.0, Direction::LessIsBetter)));
        assert_eq!(value("race.store_size").map(|(value, _)| value), Ok(7.0));
        let of_goal = |text: &str, part: &str| {
            let error = value(text).unwrap_err();
            assert!(matches!(&error, NoFigure::OfGoal(reason) if reason.contains(part)), "{error}");
        };
        of_goal("ops/s", "its tasks with figures are: index");
        of_goal("p99 of indx", "its tasks with figures are: index");
        // Another setting may have this figure.
        let error = value("p99.9 of index").unwrap_err();
        assert!(matches!(&error, NoFigure::OfRace(reason) if reason.contains("too few")), "{error}");
        let error = Goal::parse("docs/s").unwrap().of(&[], &[("index", 0)]).unwrap_err();
        assert!(
            matches!(&error, NoFigure::OfRace(reason) if reason.contains("within its warm-up")),
            "{error}"
        );
        assert!(Goal::parse("speed").unwrap_err().to_string().contains("[speed] is no goal"));
    }

    #[test]
    fn bounds() {
        let bound = Bound::parse("peak_memory <= 512mb").unwrap();
        assert!(bound.is_kept_by(512.0 * 1048576.0) && !bound.is_kept_by(513.0 * 1048576.0));
        assert!(!Bound::parse("docs/s>=100").unwrap().is_kept_by(99.0));
        assert!(Bound::parse("docs/s").is_err() && Bound::parse("docs/s >= fast").is_err());
    }
}
