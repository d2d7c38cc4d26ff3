//! The verdicts of a comparison of several races per side, with their intervals drawn.

use super::escape::{Text, put};
use super::percent_axis::{PercentAxis, percent};
use super::race_data::RaceData;
use super::summary;
use crate::inference::comparison::INTERVAL_LEVEL;
use crate::inference::{Correction, Verdict};
use crate::notation::shown::{self, distinct};
use crate::report::RacedSide;
use crate::report::several::{Judged, Judgement, Rules, judge, probability};

/// `sides[0]` is the baseline. `races` holds one representative race of each side, `labels` the names of the
/// sides.
pub(crate) fn put(
    sides: &[RacedSide],
    rules: &Rules,
    races: &[RaceData],
    labels: &[String],
    out: &mut String,
) {
    out.push_str("<section aria-labelledby=\"verdicts\"><h2 id=\"verdicts\">Verdicts</h2>");
    put!(
        out,
        "<p class=\"soft\">Figures are medians over the races of a side. The bar is the {:.0} % bootstrap interval of their change, the stroke the change itself; an arrow leads \
         beyond the axis. A verdict needs p ≤ {} (Mann and Whitney, exact, {} over the tasks of each metric); “no difference shown” does not mean that there is none.</p>",
        INTERVAL_LEVEL * 100.0,
        rules.significance,
        match rules.correction {
            Correction::None => "without correction".to_owned(),
            other => format!("corrected by {}", other.name()),
        }
    );
    out.push_str("<p class=\"chooser\" hidden><label for=\"least\">Show</label> <select id=\"least\"><option value=\"0\">all figures</option>\
         <option value=\"verdict\">only shown differences</option><option value=\"2\">changes of 2 % and more</option><option value=\"5\">changes of 5 % and more</option>\
         <option value=\"10\">changes of 10 % and more</option><option value=\"25\">changes of 25 % and more</option></select></p>");
    for (contender, label) in sides.iter().zip(labels).skip(1) {
        put_contender(
            &judge(&sides[0], contender, rules),
            rules.significance,
            [&labels[0], label],
            races,
            out,
        );
    }
    out.push_str("</section>\n");
}

fn put_contender(
    judgement: &Judgement,
    significance: f64,
    names: [&str; 2],
    races: &[RaceData],
    out: &mut String,
) {
    let title = format!("{} against {}", names[1], names[0]);
    put!(
        out,
        "<h3>{}</h3><p>{} against {} races: ",
        Text(&title),
        judgement.contender_count,
        judgement.baseline_count
    );
    put_counts(judgement, significance, out);
    put_notes(judgement, out);
    let bounds = judgement.rows.iter().map(|row| &row.comparison).flat_map(|comparison| {
        let ends = comparison.change_interval.map(|interval| [interval.low, interval.high]);
        comparison.change.into_iter().chain(ends.into_iter().flatten())
    });
    let axis = PercentAxis::over(bounds);
    put!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{0}\"><table class=\"changes\" aria-label=\"Verdicts: {0}\"><thead><tr>\
         <th scope=\"col\">Metric</th><th scope=\"col\">{1}</th><th scope=\"col\">{2}</th><th scope=\"col\">Change</th><th scope=\"col\">Verdict</th>",
        Text(&title),
        Text(names[0]),
        Text(names[1])
    );
    axis.put_head(out);
    put!(
        out,
        "<th scope=\"col\">{:.0} % interval</th><th scope=\"col\">p</th><th scope=\"col\">Cliff’s delta</th></tr></thead>",
        INTERVAL_LEVEL * 100.0
    );
    put_by_task(
        &judgement.rows,
        |row| row.figure.task.as_str(),
        races,
        9,
        out,
        |row, out| {
            put_row(row, &axis, out);
        },
    );
    out.push_str("</table></div>");
}

/// Writes how many figures got each verdict. This ends the paragraph.
fn put_counts(judgement: &Judgement, significance: f64, out: &mut String) {
    let count = |verdict| judgement.rows.iter().filter(|row| row.verdict == verdict).count();
    if judgement.can_show_anything(significance) {
        let coloured = |class: &str, count: usize| match count {
            0 => format!("none {class}"),
            count => format!("<span class=\"{class}\">{count} {class}</span>"),
        };
        put!(
            out,
            "{}, {}, {} without a shown difference.</p>",
            coloured("better", count(Verdict::Better)),
            coloured("worse", count(Verdict::Worse)),
            count(Verdict::NoDifferenceShown)
        );
    } else {
        out.push_str("too few to show any difference, whatever the figures.</p>");
    }
}

/// Writes why the races cannot be compared, and other remarks about the comparison.
fn put_notes(judgement: &Judgement, out: &mut String) {
    if !judgement.unlike.is_empty() {
        put!(
            out,
            "<p class=\"bad\">These races are not of the same; their figures cannot be compared: {}.</p>",
            Text(&judgement.unlike.join("; "))
        );
    }
    if !judgement.notes.is_empty() {
        out.push_str("<ul class=\"soft\">");
        judgement.notes.iter().for_each(|note| put!(out, "<li>{}</li>", Text(note)));
        out.push_str("</ul>");
    }
}

/// Writes rows below the name of their task, in the order of the tasks. Those of the whole race come last.
pub(crate) fn put_by_task<T>(
    rows: &[T],
    task_of: impl Fn(&T) -> &str,
    races: &[RaceData],
    columns_count: usize,
    out: &mut String,
    put_row: impl Fn(&T, &mut String),
) {
    let tasks = distinct(rows.iter().map(&task_of).filter(|task| !task.is_empty()));
    for task in tasks.into_iter().chain([""]) {
        let mut of_task = rows.iter().filter(|row| task_of(row) == task).peekable();
        if of_task.peek().is_none() {
            continue;
        }
        let known = races.iter().find(|data| data.course(task).is_some());
        let title = match (task, known) {
            ("", _) => "Whole race".to_owned(),
            (task, Some(data)) => summary::link(data, task),
            (task, None) => Text(task).to_string(),
        };
        put!(
            out,
            "<tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{columns_count}\">{title}</th></tr>"
        );
        of_task.for_each(|row| put_row(row, out));
        out.push_str("</tbody>");
    }
}

fn put_row(row: &Judged, axis: &PercentAxis, out: &mut String) {
    let comparison = &row.comparison;
    let (class, sign) = match row.verdict {
        Verdict::Better => ("better", "▲ "),
        Verdict::Worse => ("worse", "▼ "),
        Verdict::NoDifferenceShown => ("same", ""),
    };
    // A change from zero counts as larger than any other.
    let size = comparison.change.map_or(1e9, |change| change.abs() * 100.0);
    let is_shown = row.verdict != Verdict::NoDifferenceShown;
    let value = |value: f64| Text(&shown::in_unit(value, &row.figure.unit)).to_string();
    put!(
        out,
        "<tr data-change=\"{size:.2}\"{}><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td>\
         <td><span class=\"{class}\"><span aria-hidden=\"true\">{sign}</span>{}</span></td>",
        if is_shown { " data-verdict=\"\"" } else { "" },
        Text(&row.figure.metric),
        value(comparison.baseline_median),
        value(comparison.contender_median),
        comparison.change.map_or_else(|| "–".to_owned(), percent),
        row.verdict.name()
    );
    let interval = comparison.change_interval.map(|interval| (interval.low, interval.high));
    axis.put_cell(interval, comparison.change.as_slice(), class, out);
    put!(
        out,
        "<td>{}</td><td>{}</td><td>{:+.2}</td></tr>",
        interval
            .map_or_else(|| "–".to_owned(), |(low, high)| format!("{} to {}", percent(low), percent(high))),
        Text(&probability(comparison.p_adjusted)),
        comparison.cliffs_delta
    );
}
