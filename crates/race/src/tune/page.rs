//! The result of a search as one HTML file: the best setting, evidence by rung, the effect of each knob, and
//! memory against the goal.

use std::fmt::Write as _;

use super::report::{Findings, shown};
use super::sensitivity::sensitivity;
use crate::inference::estimate::median;
use crate::notation::units::MB;
use crate::report::html::escape::Text;
use crate::report::html::plain::{document, put_table};

/// Returns the page of a finished search.
pub(super) fn page(findings: &Findings<'_>) -> String {
    let mut out = String::new();
    let mut best = String::new();
    findings.add_best(&mut best);
    for line in best.lines().filter(|line| !line.is_empty()) {
        let _ = writeln!(out, "<p>{}</p>", Text(line));
    }
    put_rungs(findings, &mut out);
    put_given_up(findings, &mut out);
    put_sensitivity(findings, &mut out);
    put_tradeoff(findings, &mut out);
    let title = format!("Search for {}", findings.experiment.goal.text);
    document(&title, &findings.experiment.description, &out)
}

fn put_rungs(findings: &Findings<'_>, out: &mut String) {
    let search = findings.search;
    out.push_str("<h2>Evidence by rung</h2><p class=\"soft\">Each rung races the better half of the one before, more often; the last one is the final, whose races alone are evidence.</p>");
    let last = search.trials.iter().map(|trial| trial.rung).max().unwrap_or(0);
    for rung in 0..=last {
        let mut rows: Vec<(f64, Vec<String>)> = (0..findings.candidates.len())
            .filter_map(|candidate| {
                let values = search.values(candidate, |of| of == rung);
                let least = values.iter().copied().reduce(f64::min)?;
                let most = values.iter().copied().reduce(f64::max)?;
                let middle = median(&values);
                let figure = |value: f64| shown(value, findings.unit);
                let row = vec![
                    findings.described(candidate),
                    figure(middle),
                    figure(least),
                    figure(most),
                    values.len().to_string(),
                ];
                Some((middle, row))
            })
            .collect();
        if rows.is_empty() {
            continue;
        }
        // The best comes first.
        rows.sort_by(|a, b| match super::goal::is_better(findings.direction, 0.0, 1.0) {
            true => a.0.total_cmp(&b.0),
            false => b.0.total_cmp(&a.0),
        });
        let name = if rung == search.final_rung { "Final".to_owned() } else { format!("Rung {}", rung + 1) };
        let _ = writeln!(out, "<h3>{name}</h3>");
        let rows: Vec<Vec<String>> = rows.into_iter().map(|(_, row)| row).collect();
        put_table(&name, &["Setting", "Median", "Least", "Most", "Races"], &[1, 2, 3, 4], &rows, out);
    }
}

fn put_given_up(findings: &Findings<'_>, out: &mut String) {
    let given_up = &findings.search.given_up;
    if given_up.is_empty() {
        return;
    }
    out.push_str("<h2>Given up</h2>");
    let rows: Vec<Vec<String>> = given_up
        .iter()
        .map(|(candidate, reason)| vec![findings.described(*candidate), reason.clone()])
        .collect();
    put_table("Given up", &["Setting", "Why"], &[], &rows, out);
}

fn put_sensitivity(findings: &Findings<'_>, out: &mut String) {
    let effects = sensitivity(&findings.experiment.space, findings.candidates, findings.search);
    if effects.is_empty() {
        return;
    }
    out.push_str("<h2>How much each knob matters</h2><p class=\"soft\">From the first rung, where all settings raced alike: the mean of each value over all other knobs.</p>");
    for effect in &effects {
        let _ = writeln!(
            out,
            "<h3>{}</h3><p class=\"soft\">From the worst to the best value {:.1} %; explains {:.0} % of the variance.</p>",
            Text(&effect.name),
            effect.range_share * 100.0,
            effect.variance_share * 100.0
        );
        let figure =
            |mean: f64| if mean.is_finite() { shown(mean, findings.unit) } else { "not raced".to_owned() };
        let rows: Vec<Vec<String>> =
            effect.by_value.iter().map(|(value, mean)| vec![value.clone(), figure(*mean)]).collect();
        put_table(&effect.name, &["Value", "Mean"], &[1], &rows, out);
    }
}

fn put_tradeoff(findings: &Findings<'_>, out: &mut String) {
    let Some(picture) = findings.picture() else { return };
    let _ = writeln!(
        out,
        "<h2>Memory against the goal</h2><p class=\"soft\">Each point is a setting, its medians over all of its races; the upright stroke reaches from the least to the most of them; the line joins those that none other beats in both.</p>\
         <div class=\"tradeoff\">{picture}</div>"
    );
    let rows: Vec<Vec<String>> = findings
        .points()
        .iter()
        .map(|point| {
            let (least, most) = point.goal_range;
            vec![
                findings.described(point.candidate),
                format!("{:.1} MB", point.memory_bytes / MB),
                shown(point.goal, findings.unit),
                format!("{} to {}", shown(least, findings.unit), shown(most, findings.unit)),
                if point.is_efficient { "yes".into() } else { String::new() },
            ]
        })
        .collect();
    put_table(
        "Memory against the goal",
        &["Setting", "Peak memory", "Median", "Least to most", "Beaten by none"],
        &[1, 2, 3],
        &rows,
        out,
    );
}
