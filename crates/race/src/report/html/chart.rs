//! One plot: axes as text, marks as SVG, and a cursor.
//!
//! Labels are HTML around a picture that stretches with the window, so that text keeps its size. Marks use
//! coordinates of [`WIDTH`] by [`HEIGHT`]; zooming changes only the picture's view box. For screen readers,
//! the cursor is a slider whose value is the row of the plot's table at its position.

use super::escape::{Text, put};
use super::scale::Scale;
use crate::record::timeline::reader::WIDTHS_S;

/// Coordinates of marks go from 0 to this from left to right, and from 0 to [`HEIGHT`] from top to bottom.
pub(crate) const WIDTH: f64 = 10_000.0;
pub(crate) const HEIGHT: f64 = 1_000.0;

/// The horizontal axis.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Axis {
    /// Seconds.
    Time { end_s: f64 },
    /// Percentiles by their number of nines: 90 at 1, 99 at 2, 99.9 at 3.
    Nines { end: f64 },
}

impl Axis {
    pub(crate) fn place(&self, at: f64) -> f64 {
        let (Axis::Time { end_s: end } | Axis::Nines { end }) = self;
        at / end.max(1e-9) * WIDTH
    }

    /// Returns the ticks as (share, label).
    fn ticks(&self) -> Vec<(f64, String)> {
        match self {
            // The script computes new ticks when the axis is zoomed; these are for readers without scripts.
            Axis::Time { end_s } => {
                let step = WIDTHS_S
                    .into_iter()
                    .find(|step| end_s / step <= 6.0)
                    .unwrap_or((end_s / 6.0 / 3600.0).ceil() * 3600.0);
                let label = |at: f64| match step {
                    step if step < 1.0 => format!("{at:.1} s"),
                    _ if *end_s < 120.0 => format!("{at:.0} s"),
                    _ => crate::notation::shown::clock(at),
                };
                (0..8)
                    .map(|index| f64::from(index) * step)
                    .filter(|at| at <= end_s)
                    .map(|at| (at / end_s, label(at)))
                    .collect()
            }
            Axis::Nines { end } => {
                let known = [
                    (0.0, "0"),
                    (0.5, "50"),
                    (0.9, "90"),
                    (0.99, "99"),
                    (0.999, "99.9"),
                    (0.9999, "99.99"),
                    (0.99999, "99.999"),
                    (0.999999, "99.9999"),
                ];
                known
                    .into_iter()
                    .map(|(quantile, label)| (nines(quantile) / end, label.to_owned()))
                    .filter(|tick| tick.0 <= 1.0)
                    .collect()
            }
        }
    }
}

/// Returns the position of a quantile on the axis of nines.
pub(crate) fn nines(quantile: f64) -> f64 {
    -(1.0 - quantile).log10()
}

/// A line, or the edge of an area on top of the previous one.
#[derive(Debug)]
pub(crate) struct Series {
    pub label: String,
    /// Index of the colour; see `style.css`.
    pub colour: usize,
    pub is_dashed: bool,
    /// Pairs of (position on the axis, value). A point without a value is a gap.
    pub points: Vec<(f64, Option<f64>)>,
}

/// A part of the axis with a special meaning, such as the warm-up.
#[derive(Debug)]
pub(crate) struct Band {
    pub from: f64,
    pub to: f64,
    pub label: String,
}

/// The contents of the plot.
#[derive(Debug)]
pub(crate) enum Marks {
    Lines(Vec<Series>),
    /// Areas on top of each other, from the bottom up.
    Stack(Vec<Series>),
    /// A picture; see [`super::heat`].
    Picture(String),
}

#[derive(Debug)]
pub(crate) struct Chart {
    pub id: String,
    pub title: String,
    /// Describes in words what the plot shows.
    pub summary: String,
    /// Plots with the same group share cursor and zoom.
    pub group: String,
    pub axis: Axis,
    pub scale: Scale,
    pub marks: Marks,
    pub bands: Vec<Band>,
    /// Tables that follow the cursor, with the indices of their columns, such as `t1:1,2`.
    pub tables: Vec<String>,
}

impl Chart {
    pub(crate) fn put(&self, out: &mut String) {
        let Chart { id, title, summary, group, .. } = self;
        put!(
            out,
            "<figure class=\"chart\" id=\"{}\" data-group=\"{}\" data-tables=\"{}\"",
            Text(id),
            Text(group),
            Text(&self.tables.join(" "))
        );
        if let Axis::Time { end_s } = self.axis {
            put!(out, " data-end=\"{end_s:.3}\"");
        }
        put!(out, "><figcaption><span class=\"title\">{}</span>", Text(title));
        self.put_legend(out);
        out.push_str("</figcaption><div class=\"plot\"><div class=\"y\" aria-hidden=\"true\">");
        let ticks = self.scale.ticks();
        for (share, label) in &ticks {
            put!(out, "<span style=\"bottom:{:.2}%\">{}</span>", share * 100.0, Text(label));
        }
        put!(
            out,
            "</div><div class=\"area\"><svg viewBox=\"0 0 {WIDTH:.0} {HEIGHT:.0}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">",
            Text(summary)
        );
        for band in &self.bands {
            let (from, to) = (self.axis.place(band.from), self.axis.place(band.to));
            put!(
                out,
                "<rect class=\"band\" x=\"{from:.0}\" y=\"0\" width=\"{:.0}\" height=\"{HEIGHT:.0}\"><title>{}</title></rect>",
                to - from,
                Text(&band.label)
            );
        }
        for (share, _) in &ticks {
            let y = (1.0 - share) * HEIGHT;
            put!(out, "<path class=\"grid\" d=\"M0 {y:.0}H{WIDTH:.0}\"/>");
        }
        match &self.marks {
            Marks::Lines(series) => series.iter().for_each(|series| self.put_line(series, out)),
            Marks::Stack(series) => self.put_stack(series, out),
            Marks::Picture(picture) => out.push_str(picture),
        }
        put!(
            out,
            "</svg><div class=\"cursor\" role=\"slider\" tabindex=\"0\" aria-label=\"Walk along: {}\" aria-orientation=\"horizontal\" aria-valuemin=\"0\" aria-valuemax=\"0\" aria-valuenow=\"0\" hidden></div>",
            Text(title)
        );
        out.push_str("</div><div class=\"x\" aria-hidden=\"true\">");
        for (share, label) in self.axis.ticks() {
            put!(out, "<span style=\"left:{:.2}%\">{}</span>", share * 100.0, Text(&label));
        }
        out.push_str("</div></div></figure>\n");
    }

    fn put_legend(&self, out: &mut String) {
        let (Marks::Lines(series) | Marks::Stack(series)) = &self.marks else { return };
        if series.len() < 2 {
            return;
        }
        out.push_str("<span class=\"legend\">");
        for one in series {
            let dashes = if one.is_dashed { " dashed" } else { "" };
            let area = if matches!(self.marks, Marks::Stack(_)) { " filled" } else { "" };
            put!(
                out,
                "<span><i class=\"key c{}{dashes}{area}\"></i>{}</span> ",
                one.colour,
                Text(&one.label)
            );
        }
        out.push_str("</span>");
    }

    fn at(&self, x: f64, value: f64) -> (f64, f64) {
        (self.axis.place(x), (1.0 - self.scale.share(value).clamp(0.0, 1.0)) * HEIGHT)
    }

    fn put_line(&self, series: &Series, out: &mut String) {
        let mut path = String::new();
        let mut is_open = false;
        for (place, &(x, value)) in series.points.iter().enumerate() {
            let Some(value) = value else {
                is_open = false;
                continue;
            };
            let (x, y) = self.at(x, value);
            let is_alone = !is_open && series.points.get(place + 1).is_none_or(|next| next.1.is_none());
            match (is_open, is_alone) {
                // A point without neighbours is drawn as a dot, which is a line of length zero with round
                // ends.
                (_, true) => put!(&mut path, "M{x:.0} {y:.0}h0"),
                (false, _) => put!(&mut path, "M{x:.0} {y:.0}"),
                (true, _) => put!(&mut path, "L{x:.0} {y:.0}"),
            }
            is_open = true;
        }
        let dashes = if series.is_dashed { " dashed" } else { "" };
        put!(
            out,
            "<path class=\"line c{}{dashes}\" d=\"{path}\"><title>{}</title></path>",
            series.colour,
            Text(&series.label)
        );
    }

    fn put_stack(&self, series: &[Series], out: &mut String) {
        let mut below: Vec<f64> = series.first().map_or_else(Vec::new, |first| vec![0.0; first.points.len()]);
        for one in series {
            let mut path = String::new();
            let above: Vec<f64> =
                one.points.iter().zip(&below).map(|(point, below)| below + point.1.unwrap_or(0.0)).collect();
            let edge = one.points.iter().map(|point| point.0);
            let forth = edge.clone().zip(&above);
            for (place, (x, value)) in forth.enumerate() {
                let (x, y) = self.at(x, *value);
                put!(&mut path, "{}{x:.0} {y:.0}", if place == 0 { 'M' } else { 'L' });
            }
            for (x, value) in edge.zip(&below).rev() {
                let (x, y) = self.at(x, *value);
                put!(&mut path, "L{x:.0} {y:.0}");
            }
            put!(
                out,
                "<path class=\"fill c{}\" d=\"{path}Z\"><title>{}</title></path>",
                one.colour,
                Text(&one.label)
            );
            below = above;
        }
    }
}

/// Draws a line of the size of a word, without axes; `None` for fewer than two points.
pub(crate) fn spark(values: &[f64], label: &str) -> Option<String> {
    let most = values.iter().copied().fold(0.0, f64::max);
    if values.len() < 2 || most <= 0.0 {
        return None;
    }
    let mut path = String::new();
    for (place, value) in values.iter().enumerate() {
        let x = place as f64 / (values.len() - 1) as f64 * 120.0;
        put!(&mut path, "{}{x:.0} {:.0}", if place == 0 { 'M' } else { 'L' }, 25.0 - value / most * 23.0);
    }
    Some(format!(
        "<svg class=\"spark\" viewBox=\"0 0 120 26\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\"><path class=\"line c0\" d=\"{path}\"/></svg>",
        Text(label)
    ))
}
