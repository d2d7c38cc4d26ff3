//! The settings and the machine of the races, starting with what differs between them.

use serde_json::Value;

use super::escape::{Text, put};
use super::race_data::RaceData;
use crate::notation::shown::distinct;

const VALUE_CHARS_MAX: usize = 400;

/// Returns (name, value) for everything that is known about how a race was set up.
fn settings(data: &RaceData) -> Vec<(String, String)> {
    let race = &data.race;
    let mut all = vec![
        ("race".to_owned(), race.race_id.clone()),
        ("started".to_owned(), format!("{} UTC", race.timestamp_readable())),
        ("track".to_owned(), race.track.clone()),
        ("challenge".to_owned(), race.challenge.clone().unwrap_or_default()),
        ("car".to_owned(), race.car_name()),
        ("server version".to_owned(), race.cluster.distribution_version.clone().unwrap_or_default()),
        ("server flavor".to_owned(), race.cluster.distribution_flavor.clone().unwrap_or_default()),
        ("server revision".to_owned(), race.cluster.revision.clone().unwrap_or_default()),
        ("raced by".to_owned(), race.rally_version.clone()),
        ("pipeline".to_owned(), race.pipeline.clone()),
        ("track revision".to_owned(), race.track_revision.clone().unwrap_or_default()),
    ];
    let objects = [
        ("tag", Some(&race.user_tags)),
        ("track parameter", race.track_params.as_ref()),
        ("car parameter", race.car_params.as_ref()),
        ("plugin parameter", race.plugin_params.as_ref()),
    ];
    for (kind, object) in objects {
        for (key, value) in object.into_iter().flatten() {
            flatten(format!("{kind} {key}"), value, &mut all);
        }
    }
    if let Some(measurements) = &data.measurements {
        for (key, value) in &measurements.engine_settings {
            flatten(format!("server setting {key}"), value, &mut all);
        }
        all.push(("hosts".to_owned(), measurements.hosts.join(", ")));
        if let Some(place) = &measurements.place {
            all.push(("side".to_owned(), place.side.clone()));
            all.push((
                "place in the run".to_owned(),
                format!("round {}, race {}", place.round, place.position),
            ));
            all.push(("run".to_owned(), place.run_id.clone()));
        }
        if measurements.machine.processors > 0 {
            all.push(("processors".to_owned(), measurements.machine.processors.to_string()));
        }
    }
    all.extend(race.scope.iter().flat_map(|scope| scope.described()));
    all.retain(|(_, value)| !value.is_empty());
    all
}

fn flatten(name: String, value: &Value, out: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| flatten(format!("{name}.{key}"), value, out))
        }
        Value::Null => {}
        Value::String(text) => out.push((name, text.chars().take(VALUE_CHARS_MAX).collect())),
        other => out.push((name, other.to_string().chars().take(VALUE_CHARS_MAX).collect())),
    }
}

/// A name and one value per race.
pub(crate) type Row = (String, Vec<String>);

/// Returns the rows that differ between the races, without those that always differ, and the rows that are
/// the same.
fn rows(races: &[RaceData]) -> (Vec<Row>, Vec<Row>) {
    let all: Vec<Vec<(String, String)>> = races.iter().map(settings).collect();
    let names = distinct(all.iter().flatten().map(|(name, _)| name.as_str()));
    let row = |name: &str| {
        let value = |of: &Vec<(String, String)>| {
            of.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        (name.to_owned(), all.iter().map(|of| value(of).unwrap_or_default()).collect())
    };
    let always_differs = |name: &str| matches!(name, "race" | "started" | "hosts" | "place in the run");
    names.into_iter().map(row).partition(|(name, values): &Row| {
        !always_differs(name) && values.iter().any(|value| *value != values[0])
    })
}

/// Writes the differences for the top of a comparison.
pub(crate) fn put_differences(races: &[RaceData], labels: &[String], out: &mut String) {
    let (different, _) = rows(races);
    out.push_str(
        "<section aria-labelledby=\"differences\"><h2 id=\"differences\">What differs in the settings</h2>",
    );
    if different.is_empty() {
        out.push_str("<p>Nothing that the races recorded. <code>limber race --user-tags</code> records what only you know, such as <code>heap:1g</code>.</p></section>");
        return;
    }
    put_rows(&different, labels, out);
    out.push_str("</section>\n");
}

pub(crate) fn put(races: &[RaceData], labels: &[String], out: &mut String) {
    let (different, same) = rows(races);
    out.push_str(
        "<section aria-labelledby=\"environment\"><h2 id=\"environment\">Environment and settings</h2>",
    );
    // With one race nothing differs. With several, the differences are at the top of the page.
    debug_assert!(races.len() > 1 || different.is_empty(), "one race cannot differ from itself");
    put_rows(&same, labels, out);
    out.push_str("</section>\n");
}

pub(crate) fn put_rows(rows: &[Row], labels: &[String], out: &mut String) {
    out.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Settings\"><table class=\"settings\" aria-label=\"Settings\"><thead><tr><th scope=\"col\">Setting</th>");
    for (race, label) in labels.iter().enumerate() {
        match labels.len() {
            1 => out.push_str("<th scope=\"col\">Value</th>"),
            _ => put!(out, "<th scope=\"col\"><i class=\"key c{race}\"></i>{}</th>", Text(label)),
        }
    }
    out.push_str("</tr></thead><tbody>");
    for (name, values) in rows {
        put!(out, "<tr><th scope=\"row\">{}</th>", Text(name));
        values.iter().for_each(|value| put!(out, "<td>{}</td>", Text(value)));
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
}

/// Writes single values that the server reported, with one value per race.
pub(crate) fn put_values(races: &[RaceData], labels: &[String], out: &mut String) {
    let mut rows: Vec<Row> = Vec::new();
    for (race, data) in races.iter().enumerate() {
        for (node, name, unit, course) in data.telemetry.others() {
            let Some((_, last)) = course.last() else { continue };
            let name = if node.is_empty() { name.to_owned() } else { format!("{name} ({node})") };
            let value = format!("{} {unit}", crate::notation::shown::grouped(*last));
            let place = rows.iter().position(|row| row.0 == name).unwrap_or_else(|| {
                rows.push((name, vec![String::new(); races.len()]));
                rows.len() - 1
            });
            rows[place].1[race] = value;
        }
    }
    if !rows.is_empty() {
        out.push_str("<section aria-labelledby=\"values\"><h2 id=\"values\">More that the server told</h2><details aria-label=\"Values at the end of the race\"><summary>Values at the end of the race</summary>");
        put_rows(&rows, labels, out);
        out.push_str("</details></section>\n");
    }
}
