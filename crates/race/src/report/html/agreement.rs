//! How far the races of one side agree: every figure with its spread, and the races drawn.

use super::escape::{Text, put};
use super::percent_axis::PercentAxis;
use super::race_data::RaceData;
use super::verdicts::put_by_task;
use crate::notation::shown;
use crate::report::RacedSide;
use crate::report::spread::{Spread, spreads};

/// `races` holds one representative race of the side.
pub(crate) fn put(side: &RacedSide, races: &[RaceData], out: &mut String) {
    put!(
        out,
        "<section aria-labelledby=\"agreement\"><h2 id=\"agreement\">How far the races agree</h2><p class=\"soft\">{} races. Each stroke is a race, by its distance \
         from the median; an arrow leads beyond the axis. CV is the standard deviation as a share of the mean: a difference has to be larger to stand out.</p>",
        side.races.len()
    );
    let rows: Vec<Spread<'_>> = spreads(side).collect();
    let axis = PercentAxis::over(rows.iter().flat_map(distances));
    out.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"How far the races agree\"><table class=\"changes\" aria-label=\"How far the races agree\"><thead><tr>\
         <th scope=\"col\">Metric</th><th scope=\"col\">Median</th><th scope=\"col\">Least</th><th scope=\"col\">Most</th><th scope=\"col\">CV</th>");
    axis.put_head(out);
    out.push_str("</tr></thead>");
    put_by_task(
        &rows,
        |spread| spread.figure.task.as_str(),
        races,
        6,
        out,
        |spread, out| {
            let value = |value: f64| Text(&shown::in_unit(value, &spread.figure.unit)).to_string();
            put!(
                out,
                "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td>",
                Text(&spread.figure.metric),
                value(spread.median),
                value(spread.least),
                value(spread.most),
                spread.variation.map_or_else(|| "–".to_owned(), shown::percent)
            );
            axis.put_cell(None, &distances(spread), "same", out);
            out.push_str("</tr>");
        },
    );
    out.push_str("</table></div></section>\n");
}

/// Returns the distance of each race from the median, relative to the median; empty if the median is 0.
fn distances(spread: &Spread<'_>) -> Vec<f64> {
    let middle = spread.median;
    let values = spread.values.iter().filter(|_| middle != 0.0);
    values.map(|value| (value - middle) / middle.abs()).collect()
}
