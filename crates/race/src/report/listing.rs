//! Lists races and tracks, and describes a track: Rally's `list races`, `list tracks` and `info`.
//!
//! Sources: `list_races` in `esrally/metrics.py`, `list_tracks` and `track_info` in
//! `esrally/track/loader.py`.

use std::io::{self, Write};

use super::narrow;
use super::table::{self, Cell, Row};
use crate::model::{Challenge, DocumentSet, ScheduleElement, Task, Track};
use crate::notation::python_json::{self, Characters};
use crate::notation::units::{pretty_count, pretty_size};
use crate::record::annotations::Annotation;
use crate::record::race::Race;

const RACE_HEADERS: [&str; 11] = [
    "Race ID",
    "Race Timestamp",
    "Track",
    "Challenge",
    "Car",
    "ES Version",
    "Revision",
    "Rally Version",
    "Track Revision",
    "Team Revision",
    "User Tags",
];

/// Returns Rally's table, or a few short lines for each row if the table is wider than a terminal of `width`
/// columns.
fn fitting(headers: &[&str], rows: &[Row], width: Option<usize>) -> String {
    let table = table::simple(headers, rows);
    match width {
        Some(width) if !narrow::fits(&table, Some(width)) => narrow::cards(headers, rows, width),
        _ => table,
    }
}

/// Prints `list races --format text`. `width` is the number of columns of the terminal, if there is one.
pub(crate) fn write_races(races: &[Race], width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    if races.is_empty() {
        return writeln!(out, "\nNo recent races found.");
    }
    let rows: Vec<Row> = races
        .iter()
        .map(|race| {
            let tags = (!race.user_tags.is_empty()).then(|| race.user_tags_text());
            vec![
                Cell::from(race.race_id.as_str()),
                Cell::from(race.race_timestamp.as_str()),
                Cell::from(race.track.as_str()),
                Cell::from(race.challenge.as_deref()),
                Cell::from(race.car_name()),
                Cell::from(race.cluster.distribution_version.as_deref()),
                Cell::from(race.cluster.revision.as_deref()),
                Cell::from(race.rally_version.as_str()),
                Cell::from(race.track_revision.as_deref()),
                Cell::from(race.cluster.team_revision.as_deref()),
                Cell::from(tags),
            ]
        })
        .collect();
    write!(out, "\nRecent races:\n\n{}", fitting(&RACE_HEADERS, &rows, width))
}

/// Prints `list races --format json`.
pub(crate) fn write_races_json(races: &[Race], out: &mut dyn Write) -> io::Result<()> {
    let races = python_json::pretty(&serde_json::json!({ "races": races }), 2, Characters::Ascii);
    out.write_all(&races)?;
    writeln!(out)
}

/// Prints `list annotations`.
pub(crate) fn write_annotations(
    annotations: &[Annotation],
    environment: &str,
    width: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if annotations.is_empty() {
        return writeln!(out, "No annotations found in environment [{environment}].");
    }
    let rows: Vec<Row> = annotations
        .iter()
        .map(|annotation| {
            vec![
                Cell::from(annotation.id.as_str()),
                Cell::from(annotation.race_timestamp.as_str()),
                Cell::from(annotation.track.as_deref()),
                Cell::from(annotation.chart.as_deref()),
                Cell::from(annotation.chart_name.as_deref()),
                Cell::from(annotation.message.as_str()),
            ]
        })
        .collect();
    let headers = ["Annotation Id", "Timestamp", "Track", "Chart Type", "Chart Name", "Message"];
    write!(out, "\nAnnotations:\n\n{}", fitting(&headers, &rows, width))
}

/// Prints `list tracks`. `width` is the number of columns of the terminal, if there is one.
pub(crate) fn write_tracks(tracks: &[Track], width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let mut sorted: Vec<&Track> = tracks.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    // Tracks that have only a schedule have no challenge names.
    let name_challenges =
        !tracks.iter().all(|track| default_challenge(track).is_none_or(|challenge| challenge.auto_generated));
    let mut headers = vec!["Name", "Description", "Documents", "Compressed Size", "Uncompressed Size"];
    if name_challenges {
        headers.extend(["Default Challenge", "All Challenges"]);
    }
    let rows: Vec<Row> = sorted
        .iter()
        .map(|track| {
            let sizes = Sizes::of(track);
            let mut row = vec![
                Cell::from(track.name.as_str()),
                Cell::from(track.description.replace(['\r', '\n'], " ")),
                Cell::from(pretty_count(sizes.documents)),
                Cell::from(pretty_size(sizes.compressed_bytes)),
                Cell::from(pretty_size(sizes.uncompressed_bytes)),
            ];
            if name_challenges {
                let mut names: Vec<&str> =
                    track.challenges.iter().map(|challenge| challenge.name.as_str()).collect();
                names.sort_unstable();
                row.push(Cell::from(default_challenge(track).map(|challenge| challenge.name.as_str())));
                row.push(Cell::from(names.join(",")));
            }
            row
        })
        .collect();
    write!(out, "Available tracks:\n\n{}", fitting(&headers, &rows, width))
}

fn default_challenge(track: &Track) -> Option<&Challenge> {
    track.challenges.iter().find(|challenge| challenge.default)
}

/// Prints `info --track`: the track, and the selected challenge or all of them.
pub(crate) fn write_track_info(
    track: &Track,
    challenge: Option<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "Showing details for track [{}]:\n", track.name)?;
    writeln!(out, "* Description: {}", track.description)?;
    let sizes = Sizes::of(track);
    if sizes.documents > 0 {
        writeln!(out, "* Documents: {}", pretty_count(sizes.documents))?;
        writeln!(out, "* Compressed Size: {}", pretty_size(sizes.compressed_bytes))?;
        writeln!(out, "* Uncompressed Size: {}", pretty_size(sizes.uncompressed_bytes))?;
    }
    writeln!(out)?;
    let only = match track.challenges.as_slice() {
        [only] => Some(only),
        challenges => challenges.iter().find(|candidate| Some(candidate.name.as_str()) == challenge),
    };
    match only {
        Some(challenge) => write_challenge(challenge, out),
        None => {
            for challenge in &track.challenges {
                write_challenge(challenge, out)?;
                writeln!(out)?;
            }
            Ok(())
        }
    }
}

fn write_challenge(challenge: &Challenge, out: &mut dyn Write) -> io::Result<()> {
    if !challenge.auto_generated {
        let default = if challenge.default { " (run by default)" } else { "" };
        let title = format!("Challenge [{}]{default}", challenge.name);
        let line = "=".repeat(title.chars().count());
        writeln!(out, "{line}\n{title}\n{line}")?;
        if !challenge.description.is_empty() {
            writeln!(out, "\n{}", challenge.description)?;
        }
    }
    // The underline has Rally's length, which counts the line break before the title.
    writeln!(out, "\nSchedule:\n----------\n")?;
    for (position, element) in challenge.schedule.iter().enumerate() {
        let number = position + 1;
        match element {
            ScheduleElement::Task(task) => writeln!(out, "{number}. {}", task_text(task))?,
            ScheduleElement::Parallel(parallel) => {
                let text =
                    with_clients(&format!("{} parallel tasks", parallel.tasks.len()), element.clients());
                writeln!(out, "{number}. {text}:")?;
                for (position, task) in parallel.tasks.iter().enumerate() {
                    writeln!(out, "\t{number}.{} {}", position + 1, task_text(task))?;
                }
            }
        }
    }
    Ok(())
}

fn task_text(task: &Task) -> String {
    with_clients(&task.name, task.clients)
}

fn with_clients(text: &str, clients: u32) -> String {
    if clients > 1 { format!("{text} ({clients} clients)") } else { text.to_owned() }
}

struct Sizes {
    documents: u64,
    compressed_bytes: Option<u64>,
    uncompressed_bytes: Option<u64>,
}

impl Sizes {
    /// Sums over all document sets. A size is unknown if it is unknown for one set.
    fn of(track: &Track) -> Sizes {
        let sets = || track.corpora.iter().flat_map(|corpus| &corpus.documents);
        let sum = |bytes: fn(&DocumentSet) -> Option<u64>| {
            sets().map(bytes).try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?)))
        };
        Sizes {
            documents: sets().fold(0, |sum, set| sum.saturating_add(set.number_of_documents)),
            compressed_bytes: sum(|set| set.compressed_size_bytes),
            uncompressed_bytes: sum(|set| set.uncompressed_size_bytes),
        }
    }
}
