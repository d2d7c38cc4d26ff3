//! Combines the sections into one page.

use super::escape::{Text, put};
use super::policy::hash_source;
use super::race_data::RaceData;
use super::{agreement, change, environment, machine, overview, summary, tasks, verdicts};
use crate::record::measurements::Warning;
use crate::record::scope;
use crate::report::RacedSide;
use crate::report::several::Rules;
use crate::report::summary as of_results;

/// Largest number of races in a report. There are this many colours that everybody can tell apart.
pub const RACES_MAX: usize = 8;
/// Id and title of a section that every page of several races has.
const DIFFERENCES: (&str, &str) = ("differences", "Settings that differ");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Returns the script and the style of every report, as sources of a content security policy.
pub(crate) fn sources() -> (String, String) {
    (hash_source(SCRIPT), hash_source(STYLE))
}

/// Returns the whole page. `races` are 1 to [`RACES_MAX`] races, the baseline first.
pub fn page(races: &[RaceData]) -> String {
    let labels = labels(races);
    let mut out = String::with_capacity(1 << 20);
    let sections: &[(&str, &str)] = match races.len() {
        1 => &[("results", "Results")],
        _ => &[DIFFERENCES, ("changes", "What changed")],
    };
    put_head(races, sections, &mut out);
    put_trust(races, &labels, &mut out);
    if races.len() > 1 {
        environment::put_differences(races, &labels, &mut out);
        change::put(races, &labels, &mut out);
    } else {
        summary::put(&races[0], &mut out);
    }
    put_courses(races, &labels, &mut out);
    out
}

/// Returns the page of sides with several races each. `sides` are 1 to [`RACES_MAX`] sides, the baseline
/// first; `races` holds the race that represents each of them in plots ([`RacedSide::typical`]).
pub fn comparison_page(sides: &[RacedSide], rules: &Rules, races: &[RaceData]) -> String {
    let labels: Vec<String> = sides.iter().map(|side| shortened(&side.name)).collect();
    let mut out = String::with_capacity(1 << 20);
    let sections: &[(&str, &str)] = match sides.len() {
        1 => &[("agreement", "How far the races agree")],
        _ => &[("verdicts", "Verdicts"), DIFFERENCES],
    };
    put_head(races, sections, &mut out);
    put_sides(sides, races, &labels, &mut out);
    put_trust(races, &labels, &mut out);
    match sides {
        [side] => agreement::put(side, races, &mut out),
        _ => {
            verdicts::put(sides, rules, races, &labels, &mut out);
            environment::put_differences(races, &labels, &mut out);
        }
    }
    put_courses(races, &labels, &mut out);
    out
}

/// Lists the races, and which of them the plots show.
fn put_sides(sides: &[RacedSide], races: &[RaceData], labels: &[String], out: &mut String) {
    out.push_str("<ul class=\"soft\">");
    for ((place, side), (data, label)) in sides.iter().enumerate().zip(races.iter().zip(labels)) {
        put!(
            out,
            "<li><i class=\"key c{place}\"></i><b>{}</b>: {} races, {} of them with warnings. Plots and settings are those of race {}, whose figures are nearest to the medians.</li>",
            Text(label),
            side.races.len(),
            side.warned_count,
            Text(&data.race.race_id)
        );
    }
    out.push_str("</ul>");
}

/// Writes everything over time, the environment, and the end of the page.
fn put_courses(races: &[RaceData], labels: &[String], out: &mut String) {
    tasks::put(races, labels, out);
    overview::put(races, labels, out);
    machine::put(races, labels, out);
    environment::put_values(races, labels, out);
    environment::put(races, labels, out);
    put!(
        out,
        "</main><footer><p class=\"soft\">Made by limber {} from the race's files; this page asks no other machine for anything.</p></footer>\
         <div id=\"said\" role=\"status\" class=\"unseen\"></div><script>{SCRIPT}</script></body></html>\n",
        env!("CARGO_PKG_VERSION")
    );
}

fn put_head(races: &[RaceData], sections: &[(&str, &str)], out: &mut String) {
    let race = &races[0].race;
    let name = match &race.challenge {
        Some(challenge) => format!("{}, {challenge}", race.track),
        None => race.track.clone(),
    };
    let kind = if races.len() > 1 { "Races" } else { "Race" };
    let script = hash_source(SCRIPT);
    put!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {script}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\
         <meta name=\"generator\" content=\"limber {}\"><link rel=\"icon\" href=\"data:,\"><title>{kind}: {}</title><style>{STYLE}</style></head><body>\
         <a class=\"skip\" href=\"#main\">To the figures</a><header><div class=\"row\"><h1>{kind}: {}</h1>\
         <button type=\"button\" id=\"theme\" hidden>Dark</button></div>",
        env!("CARGO_PKG_VERSION"),
        Text(&name),
        Text(&name),
    );
    if let [data] = races {
        put!(
            out,
            "<p class=\"soft\">{} {} · {} UTC · race {}</p>",
            Text(&data.race.car_name()),
            Text(data.race.cluster.distribution_version.as_deref().unwrap_or("")),
            Text(&data.race.timestamp_readable()),
            Text(&data.race.race_id)
        );
    }
    out.push_str("<nav aria-label=\"Sections\">");
    let has_course = races.iter().any(|data| data.timeline.is_some());
    let over_time: &[(&str, &str)] =
        if has_course { &[("tasks", "Tasks over time"), ("whole", "Whole race")] } else { &[] };
    for (id, title) in sections.iter().chain(over_time).chain(&[("environment", "Environment")]) {
        put!(out, "<a href=\"#{id}\">{title}</a> ");
    }
    out.push_str("</nav></header><main id=\"main\" tabindex=\"-1\">");
}

/// Writes what makes the figures doubtful, before the figures.
fn put_trust(races: &[RaceData], labels: &[String], out: &mut String) {
    let baseline = &races[0].race;
    let doubts = |data: &RaceData| {
        let mut lines = warnings(data);
        let unlike = scope::differences(baseline, &data.race);
        if !unlike.is_empty() {
            lines.insert(
                0,
                format!(
                    "Not of the same as {}, whose figures these cannot be compared with: {}.",
                    labels[0],
                    unlike.join("; ")
                ),
            );
        }
        lines.extend(data.missing.iter().cloned());
        lines
    };
    let doubts: Vec<Vec<String>> = races.iter().map(doubts).collect();
    if doubts.iter().all(Vec::is_empty) {
        out.push_str("<p class=\"fine\">No warnings.</p>");
        return;
    }
    out.push_str("<section class=\"warnings\" aria-labelledby=\"warnings\"><h2 id=\"warnings\">Before you trust the figures</h2><div class=\"beside\">");
    for ((place, lines), label) in doubts.iter().enumerate().zip(labels) {
        out.push_str("<div>");
        if races.len() > 1 {
            put!(out, "<p><b><i class=\"key c{place}\"></i>{}</b></p>", Text(label));
        }
        if lines.is_empty() {
            out.push_str("<p>No warnings.</p></div>");
            continue;
        }
        out.push_str("<ul>");
        lines.iter().for_each(|line| put!(out, "<li>{}</li>", Text(line)));
        out.push_str("</ul></div>");
    }
    out.push_str("</div></section>\n");
}

/// Returns the warnings of the race's measurements and results. Failures are reported once.
fn warnings(data: &RaceData) -> Vec<String> {
    let results = &data.results;
    match &data.measurements {
        None => of_results::warnings(results),
        Some(measurements) => {
            let rest = results.op_metrics.iter().filter_map(of_results::no_throughput);
            measurements.warnings.iter().map(Warning::line).chain(rest).collect()
        }
    }
}

/// Writes buttons that zoom the plots of a group.
pub fn put_zoom(group: &str, name: &str, out: &mut String) {
    put!(
        out,
        "<div class=\"zoom\" role=\"group\" aria-label=\"Time shown of {}\" data-zoom=\"{}\" hidden>",
        Text(name),
        Text(group)
    );
    for (act, label, sign) in [
        ("in", "Zoom in", "+"),
        ("out", "Zoom out", "−"),
        ("back", "Earlier", "←"),
        ("forth", "Later", "→"),
        ("whole", "Whole time", "⤢"),
    ] {
        put!(
            out,
            "<button type=\"button\" data-act=\"{act}\" aria-label=\"{label}\" title=\"{label}\">{sign}</button>"
        );
    }
    out.push_str("<span class=\"soft hint\">drag in a plot to zoom, arrow keys walk along</span></div>");
}

/// Shortens a name so that it does not displace a table's other columns.
fn shortened(name: &str) -> String {
    const CHARS_MAX: usize = 48;
    match name.char_indices().nth(CHARS_MAX) {
        Some(_) => name.chars().take(CHARS_MAX - 1).chain(['…']).collect(),
        None => name.to_owned(),
    }
}

/// Returns the label of each race: a letter, and the first property in which it differs from the others.
fn labels(races: &[RaceData]) -> Vec<String> {
    if let [_] = races {
        return vec!["this race".into()];
    }
    let side = |data: &RaceData| {
        let place = data.measurements.as_ref().and_then(|measurements| measurements.place.as_ref());
        place.map(|place| format!("{} round {}", place.side, place.round)).unwrap_or_default()
    };
    let tags = |data: &RaceData| data.race.user_tags_text();
    let server = |data: &RaceData| {
        let version = data.race.cluster.distribution_version.clone().unwrap_or_default();
        format!("{} {version}", data.race.car_name()).trim().to_owned()
    };
    let started = |data: &RaceData| data.race.timestamp_readable();
    let told: [&dyn Fn(&RaceData) -> String; 4] = [&side, &tags, &server, &started];
    let is_telling =
        |name: &&&dyn Fn(&RaceData) -> String| races.iter().any(|data| name(data) != name(&races[0]));
    let name = told.iter().find(is_telling);
    let label = |(place, data): (usize, &RaceData)| {
        let letter = char::from(b'A' + place as u8);
        let name = name.map_or_else(|| data.race.race_id.chars().take(8).collect(), |name| name(data));
        let name = shortened(&name);
        if name.is_empty() { letter.to_string() } else { format!("{letter} {name}") }
    };
    races.iter().enumerate().map(label).collect()
}
