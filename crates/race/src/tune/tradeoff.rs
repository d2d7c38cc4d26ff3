//! The trade-off between memory and the goal.

use std::fmt::Write as _;

use super::goal::is_better;
use super::halving::{Outcome, Search};
use crate::inference::Direction;
use crate::inference::estimate::median;
use crate::notation::shown::significant;
use crate::notation::units::MB;
use crate::report::html::escape::Text;

/// Medians of one candidate over all of its races.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    pub candidate: usize,
    pub memory_bytes: f64,
    pub goal: f64,
    /// Minimum and maximum of the goal over its races.
    pub goal_range: (f64, f64),
    /// Whether no other candidate has both less memory and a better goal.
    pub is_efficient: bool,
}

/// Returns the candidates with known memory, the least memory first.
pub(super) fn points(candidates_count: usize, search: &Search, direction: Direction) -> Vec<Point> {
    let memory = |candidate: usize| {
        let known: Vec<f64> = search
            .trials
            .iter()
            .filter(|trial| trial.candidate == candidate)
            .filter_map(|trial| match trial.outcome {
                Outcome::Measured { memory_bytes, .. } => memory_bytes,
                Outcome::Failed(_) => None,
            })
            .collect();
        median(&known)
    };
    let mut points: Vec<Point> = (0..candidates_count)
        .map(|candidate| {
            let values = search.values(candidate, |_| true);
            let wider = |(low, high): (f64, f64), value: &f64| (low.min(*value), high.max(*value));
            Point {
                candidate,
                memory_bytes: memory(candidate),
                goal: median(&values),
                goal_range: values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), wider),
                is_efficient: false,
            }
        })
        .filter(|point| point.memory_bytes.is_finite() && point.goal.is_finite())
        .collect();
    points.sort_by(|a, b| a.memory_bytes.total_cmp(&b.memory_bytes));
    for index in 0..points.len() {
        let (memory_bytes, goal) = (points[index].memory_bytes, points[index].goal);
        let beats = |other: &Point| {
            let is_no_worse = other.memory_bytes <= memory_bytes && !is_better(direction, goal, other.goal);
            is_no_worse && (other.memory_bytes < memory_bytes || is_better(direction, other.goal, goal))
        };
        points[index].is_efficient = !points.iter().any(beats);
    }
    points
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
const MARGIN: f64 = 70.0;
const STYLE: &str = "<style>text{fill:#222}.axis,.grid{stroke:#888}.grid{opacity:.25}.point{fill:#7a8ca5}.efficient{fill:#0b6bcb}.best{fill:#c4380d}\
     .front{stroke:#0b6bcb;fill:none}.range{stroke:#7a8ca5;stroke-width:1.5}@media(prefers-color-scheme:dark){text{fill:#ddd}.efficient{fill:#5aa9f7}.front{stroke:#5aa9f7}.best{fill:#ff8a5c}}</style>";

/// Length of a label in characters. A table below the picture has the whole text.
const LABEL_LENGTH: usize = 40;

/// Draws the points: memory to the right, the goal upwards. A vertical stroke extends from the minimum to the
/// maximum of each point's races. The efficient points are joined by a line and labelled. `described` returns
/// the name of a candidate. The picture is readable on light and dark pages; each point has its settings as
/// its title.
pub(super) fn svg(
    points: &[Point],
    goal: &str,
    unit: &str,
    best: Option<usize>,
    described: impl Fn(usize) -> String,
) -> String {
    let (x, y) = (
        Axis::over(points.iter().map(|point| point.memory_bytes / MB)),
        Axis::over(points.iter().flat_map(|point| [point.goal_range.0, point.goal_range.1])),
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{goal} against peak memory</title>\n{STYLE}\n",
        goal = Text(goal)
    );
    put_axes(&x, &y, (goal, unit), &mut svg);
    let places: Vec<(f64, f64)> =
        points.iter().map(|point| (x.across(point.memory_bytes / MB), y.down(point.goal))).collect();
    let efficient = points.iter().zip(&places).filter(|(point, _)| point.is_efficient);
    let front: Vec<String> = efficient.map(|(_, (across, down))| format!("{across:.1},{down:.1}")).collect();
    let _ = writeln!(svg, "<polyline class=\"front\" points=\"{}\"/>", front.join(" "));
    for (point, (across, down)) in points.iter().zip(places) {
        let class = match (Some(point.candidate) == best, point.is_efficient) {
            (true, _) => "best",
            (false, true) => "efficient",
            (false, false) => "point",
        };
        let name = described(point.candidate);
        let (least, most) = point.goal_range;
        let title = format!(
            "{name}: {:.1} MB, {} {unit} ({} to {})",
            point.memory_bytes / MB,
            significant(point.goal, 5),
            significant(least, 5),
            significant(most, 5)
        );
        let _ = writeln!(
            svg,
            "<line class=\"range\" x1=\"{across:.1}\" y1=\"{:.1}\" x2=\"{across:.1}\" y2=\"{:.1}\"/>",
            y.down(least),
            y.down(most)
        );
        if point.is_efficient || Some(point.candidate) == best {
            // Put the label on the side of the middle, where there is more space.
            let (at, anchor) =
                if across < WIDTH / 2.0 { (across + 9.0, "start") } else { (across - 9.0, "end") };
            let mut label: String = name.chars().take(LABEL_LENGTH).collect();
            if label.len() < name.len() {
                label.push('…');
            }
            let _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                down - 7.0,
                Text(&label)
            );
        }
        let _ = writeln!(
            svg,
            "<circle class=\"{class}\" cx=\"{across:.1}\" cy=\"{down:.1}\" r=\"5\"><title>{}</title></circle>",
            Text(&title)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws the grid, the axes, and their titles.
fn put_axes(x: &Axis, y: &Axis, (goal, unit): (&str, &str), svg: &mut String) {
    let (right, bottom) = (WIDTH - MARGIN, HEIGHT - MARGIN);
    for (value, label) in x.ticks() {
        let at = x.across(value);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{at:.1}\" y1=\"{MARGIN}\" x2=\"{at:.1}\" y2=\"{bottom}\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
            bottom + 18.0
        );
    }
    for (value, label) in y.ticks() {
        let at = y.down(value);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{MARGIN}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            MARGIN - 8.0,
            at + 4.0
        );
    }
    let _ = writeln!(
        svg,
        "<path class=\"axis\" fill=\"none\" d=\"M{MARGIN},{MARGIN} V{bottom} H{right}\"/>\n\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">peak resident memory of the server, MB</text>\n\
         <text x=\"{MARGIN}\" y=\"{}\">{}{}</text>",
        WIDTH / 2.0,
        HEIGHT - 20.0,
        MARGIN - 20.0,
        Text(goal),
        // A goal such as `docs/s` is its own unit, so do not repeat it.
        Text(&if goal == unit { String::new() } else { format!(", {unit}") })
    );
}

/// A linear scale over the values with some space at both ends.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>) -> Axis {
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let room = if high > low { (high - low) * 0.08 } else { high.abs().max(1.0) * 0.1 };
        Axis { low: low - room, high: high + room }
    }

    fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    /// Returns the horizontal position of a value in the picture.
    fn across(&self, value: f64) -> f64 {
        MARGIN + self.share(value) * (WIDTH - 2.0 * MARGIN)
    }

    /// Returns the vertical position of a value in the picture.
    fn down(&self, value: f64) -> f64 {
        HEIGHT - MARGIN - self.share(value) * (HEIGHT - 2.0 * MARGIN)
    }

    /// Returns four to ten round values with their labels.
    fn ticks(&self) -> Vec<(f64, String)> {
        let raw = (self.high - self.low) / 5.0;
        let magnitude = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * magnitude)
            .into_iter()
            .find(|step| *step >= raw)
            .unwrap_or(raw);
        let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|n| n as f64 * step).map(|value| (value, format!("{value:.decimals$}"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::halving::Trial;

    #[test]
    fn efficient_points_and_their_picture() {
        let trial = |candidate: usize, memory_mb: f64, goal: f64| Trial {
            candidate,
            rung: 0,
            outcome: Outcome::Measured { goal, memory_bytes: Some(memory_mb * MB), is_within_bounds: true },
        };
        let search = Search {
            // Candidate 2 needs more memory than 1 and is slower.
            trials: vec![
                trial(0, 100.0, 9.0),
                trial(1, 200.0, 5.0),
                trial(2, 300.0, 6.0),
                trial(3, 400.0, 4.0),
            ],
            final_rung: 0,
            ranking: vec![3, 1],
            given_up: Vec::new(),
            level: 0.05,
            ended_early: false,
        };
        let points = points(5, &search, Direction::LessIsBetter);
        let efficient: Vec<usize> =
            points.iter().filter(|point| point.is_efficient).map(|point| point.candidate).collect();
        assert_eq!((points.len(), efficient), (4, vec![0, 1, 3]));
        let svg = svg(&points, "p99 of <search>", "ms", Some(3), |candidate| format!("heap={candidate}"));
        assert_eq!(svg.matches("<circle").count(), 4);
        assert_eq!(svg.matches("class=\"range\"").count(), 4);
        assert_eq!(svg.matches(">heap=").count(), 4 + 3, "titles, and labels of the efficient ones");
        assert_eq!(svg.matches("class=\"best\"").count(), 1);
        assert!(
            svg.contains("p99 of &lt;search&gt;")
                && svg.contains("heap=2: 300.0 MB, 6 ms (6 to 6)")
                && !svg.contains("NaN"),
            "{svg}"
        );
    }
}
