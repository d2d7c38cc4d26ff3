//! An axis of changes in percent, with zero in its middle, that all rows of a table share.

use super::escape::put;
use crate::notation::shown;

/// Possible ends of an axis, in percent.
const REACHES: [f64; 8] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];
/// Share of the values that are within the axis. Values beyond it end in an arrow, so that one outlier does
/// not flatten the others.
const WITHIN_SHARE: f64 = 0.9;
/// In units of the drawing: half of the width, and the margin at each end for arrows and half of a label.
const MIDDLE: f64 = 120.0;
const MARGIN: f64 = 26.0;
/// Positions of lines as shares of the reach. Every other line has a label, since there is no space for more.
const TICKS: [f64; 5] = [-1.0, -0.5, 0.0, 0.5, 1.0];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PercentAxis {
    /// Percentage at its right end.
    reach: f64,
}

impl PercentAxis {
    /// Returns an axis wide enough for nearly all of `values`, which are shares such as -0.05.
    pub(crate) fn over(values: impl Iterator<Item = f64>) -> PercentAxis {
        let mut sizes: Vec<f64> =
            values.filter(|value| value.is_finite()).map(|value| value.abs() * 100.0).collect();
        sizes.sort_by(f64::total_cmp);
        let place = (sizes.len().saturating_sub(1) as f64 * WITHIN_SHARE).ceil() as usize;
        let wanted = sizes.get(place).copied().unwrap_or_default();
        let reach = REACHES.into_iter().find(|reach| *reach >= wanted);
        PercentAxis { reach: reach.unwrap_or(REACHES[REACHES.len() - 1]) }
    }

    /// Writes the cell above the drawings, with the axis labels.
    pub(crate) fn put_head(&self, out: &mut String) {
        out.push_str("<th scope=\"col\" class=\"ends\"><span class=\"unseen\">Drawn</span>");
        for share in TICKS.into_iter().step_by(2) {
            let left = (MIDDLE + share * (MIDDLE - MARGIN)) / MIDDLE * 50.0;
            let percent = share * self.reach;
            let label = match percent {
                0.0 => "0".to_owned(),
                percent => format!("{percent:+} %").replace('-', "−"),
            };
            put!(out, "<span aria-hidden=\"true\" style=\"left:{left:.1}%\">{label}</span>");
        }
        out.push_str("</th>");
    }

    /// Writes a cell with `low` to `high` as a bar and `marks` as strokes, all of them as shares. `class` is
    /// their colour.
    pub(crate) fn put_cell(&self, bar: Option<(f64, f64)>, marks: &[f64], class: &str, out: &mut String) {
        out.push_str("<td class=\"bars\"><svg viewBox=\"0 0 240 14\" preserveAspectRatio=\"none\" style=\"height:.9rem\" aria-hidden=\"true\">");
        for share in TICKS {
            let class = if share == 0.0 { "zero" } else { "grid" };
            put!(out, "<path class=\"{class}\" d=\"M{} 0V14\"/>", self.x(share * self.reach / 100.0));
        }
        if let Some((low, high)) = bar {
            let (from, to) = (self.x(low), self.x(high));
            put!(
                out,
                "<rect class=\"{class}\" x=\"{from:.1}\" y=\"5\" width=\"{:.1}\" height=\"4\"/>",
                (to - from).max(1.0)
            );
            self.put_arrow(low, class, out);
            self.put_arrow(high, class, out);
        }
        for mark in marks {
            let at = self.x(*mark) - 1.5;
            put!(out, "<rect class=\"{class}\" x=\"{at:.1}\" y=\"1\" width=\"3\" height=\"12\"/>");
            self.put_arrow(*mark, class, out);
        }
        out.push_str("</svg></td>");
    }

    fn x(&self, share: f64) -> f64 {
        MIDDLE + (share * 100.0 / self.reach).clamp(-1.0, 1.0) * (MIDDLE - MARGIN)
    }

    /// Draws an arrow if a value is beyond the end.
    fn put_arrow(&self, share: f64, class: &str, out: &mut String) {
        let beyond = share * 100.0 / self.reach;
        if beyond > 1.0 {
            put!(out, "<path class=\"{class}\" d=\"M216 2L224 7L216 12Z\"/>");
        } else if beyond < -1.0 {
            put!(out, "<path class=\"{class}\" d=\"M24 2L16 7L24 12Z\"/>");
        }
    }
}

/// Returns `+12.3 %` or `−0.40 %`.
pub(crate) fn percent(share: f64) -> String {
    let sign = if share < 0.0 { "−" } else { "+" };
    format!("{sign}{} %", shown::three_digits(share.abs() * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_is_as_wide_as_most_values() {
        let reach = |values: &[f64]| PercentAxis::over(values.iter().copied()).reach;
        assert_eq!(reach(&[]), 1.0);
        assert_eq!(reach(&[-0.03, 0.04]), 5.0);
        assert_eq!(reach(&[9.0, f64::INFINITY]), 200.0);
        let mut many = vec![0.015; 30];
        many.push(5.0);
        assert_eq!(reach(&many), 2.0);
    }

    #[test]
    fn what_is_beyond_the_end_has_an_arrow() {
        let mut cell = String::new();
        PercentAxis { reach: 10.0 }.put_cell(Some((-0.05, 0.2)), &[0.05], "worse", &mut cell);
        assert!(cell.contains("x=\"73.0\" y=\"5\" width=\"141.0\"") && cell.contains("M216 2"), "{cell}");
        assert!(cell.contains("x=\"165.5\" y=\"1\"") && !cell.contains("M24 2"), "{cell}");
        assert_eq!([percent(0.123), percent(-0.004)], ["+12.3 %", "−0.40 %"]);
    }
}
