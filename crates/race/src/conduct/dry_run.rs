//! `limber race --dry-run`: checks whether a race would run, and prints what it would do.
//!
//! It does everything that happens before the first request: templates are rendered, the track is checked,
//! and every task of the challenge is planned with its parameters. No request is sent, and no document is
//! read or downloaded.

use std::io::{self, Write};

use serde_json::json;

use crate::drive::driver::{DriveConfig, PlannedSchedule};
use crate::error::Error;
use crate::model::{Challenge, DocumentSource, ScheduleElement, Task};
use crate::notation::units::{pretty_count, pretty_size};
use crate::protocol::Protocol;
use crate::report::table::{self, Cell, Row};
use crate::track::load::{self, Loaded, TrackSource, TrackSpec, documents};

/// Checks the race and prints its documents and its schedule.
///
/// # Errors
/// What would stop the race before its first request (`Load` and others), and `Report` if `out` cannot be
/// written.
pub(crate) fn run(spec: &TrackSpec, checks_assertions: bool, out: &mut dyn Write) -> Result<(), Error> {
    let (Loaded { mut track, plugin }, used) = load::check(spec)?;
    let challenge = load::challenge(&track, spec.challenge.as_deref())?.clone();
    let mut needed = Vec::new();
    for (corpus, set) in used {
        let corpus = &mut track.corpora[corpus];
        let set = &mut corpus.documents[set];
        let data = spec.data_root.as_ref().map(|root| root.join(&corpus.name));
        let place = match (&spec.source, &track.root) {
            (TrackSource::BuiltIn { corpus: Some(own), .. }, _) => format!("made from [{}]", own.display()),
            (TrackSource::BuiltIn { .. }, _) | (_, None) => "made by the track".to_owned(),
            (_, Some(folder)) => {
                let corpus_folder = data.as_deref();
                documents::whereabouts(
                    set,
                    &documents::DocumentSources {
                        track_folder: folder,
                        corpus_folder,
                        is_offline: spec.is_offline,
                    },
                )
            }
        };
        let (count, bytes) =
            (pretty_count(set.number_of_documents), pretty_size(set.uncompressed_size_bytes));
        needed.push(format!("{}: {count} documents, {bytes}, {place}", set.file));
        set.source = DocumentSource::Memory(bytes::Bytes::new());
    }
    let version = json!({"version": {"number": spec.distribution_version}});
    let config =
        DriveConfig { plugin, ..DriveConfig::unconnected(Protocol::for_server(&version), checks_assertions) };
    let warnings = PlannedSchedule::new(&track, &challenge.schedule, &config)?.warnings;
    let heading = format!("Track [{}], challenge [{}]", track.name, challenge.name);
    write(&heading, &needed, &challenge, &warnings, out).map_err(Error::Report)
}

fn write(
    heading: &str,
    documents: &[String],
    challenge: &Challenge,
    warnings: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    let tasks = challenge.schedule.iter().map(|element| element.tasks().len()).sum::<usize>();
    let clients = challenge.schedule.iter().map(ScheduleElement::clients).max().unwrap_or(0);
    writeln!(out, "{heading}: {tasks} tasks, at most {clients} clients at a time.\n")?;
    for document in documents {
        writeln!(out, "* {document}")?;
    }
    if !documents.is_empty() {
        writeln!(out)?;
    }
    let mut rows = Vec::new();
    for (position, element) in challenge.schedule.iter().enumerate() {
        let number = position + 1;
        match element {
            ScheduleElement::Task(task) => rows.push(row(number.to_string(), task)),
            ScheduleElement::Parallel(parallel) => {
                let numbered = |(index, task): (usize, &Task)| row(format!("{number}.{}", index + 1), task);
                rows.extend(parallel.tasks.iter().enumerate().map(numbered));
            }
        }
    }
    let headers = ["Step", "Task", "Operation type", "Clients", "Warmup", "Measured", "Target"];
    write!(out, "{}", table::simple(&headers, &rows))?;
    for warning in warnings {
        writeln!(out, "\n[WARNING] {warning}")?;
    }
    writeln!(out, "\nThe race would run; nothing was sent.")
}

fn row(number: String, task: &Task) -> Row {
    let target = task.target_throughput.as_ref().map(|target| {
        let schedule = task.schedule.as_deref().unwrap_or("deterministic");
        format!("{} {} ({schedule})", target.value, target.unit)
    });
    vec![
        Cell::from(number),
        Cell::from(task.name.as_str()),
        Cell::from(task.operation.kind.as_str()),
        Cell::from(task.clients.to_string()),
        Cell::from(length(task.warmup_iterations, task.warmup_time_period_s)),
        Cell::from(length(task.iterations, task.time_period_s)),
        Cell::from(target),
    ]
}

/// Describes the length of a task. Iterations are per client.
fn length(iterations: Option<u64>, seconds: Option<f64>) -> Option<String> {
    match (iterations, seconds) {
        (Some(count), _) => Some(format!("{} iterations", pretty_count(count))),
        (None, Some(seconds)) => Some(format!("{seconds} s")),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(spec: &TrackSpec) -> Result<String, String> {
        let mut out = Vec::new();
        run(spec, false, &mut out).map_err(|error| error.to_string())?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn the_built_in_track_is_described() {
        let source = TrackSource::BuiltIn { name: "log_ingest".into(), corpus: None };
        let text = printed(&TrackSpec::new(source, 0.0)).unwrap();
        assert!(
            text.starts_with(
                "Track [log_ingest], challenge [default]: 4 tasks, at most 4 clients at a time.\n"
            ),
            "{text}"
        );
        assert!(text.contains("* documents.json: 100,000 documents, "), "{text}");
        let bulk = text.lines().find(|line| line.contains("bulk")).unwrap();
        let cells: Vec<&str> = bulk.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells, ["4", "bulk", "bulk", "4", "100 iterations", "1,000 iterations"]);
        assert!(text.ends_with("The race would run; nothing was sent.\n"));
    }

    #[test]
    fn what_would_stop_the_race_is_found_without_documents() {
        let folder = tempfile::tempdir().unwrap();
        let write = |operation: serde_json::Value| {
            let track = json!({
                "indices": [{"name": "i"}],
                "corpora": [{"name": "c", "base-url": "https://data.example", "documents": [
                    {"source-file": "d.json.bz2", "document-count": 5, "uncompressed-bytes": 2048}]}],
                "schedule": [
                    {"operation": operation, "clients": 2},
                    {"parallel": {"tasks": [
                        {"operation": {"operation-type": "search", "body": {}}, "warmup-time-period": 5, "time-period": 60, "target-throughput": 10},
                        {"operation": "refresh"}]}},
                ],
            });
            std::fs::write(folder.path().join("track.json"), track.to_string()).unwrap();
            printed(&TrackSpec::new(TrackSource::Path(folder.path().to_owned()), 0.0))
        };
        let text = write(json!({"operation-type": "bulk", "bulk-size": 10, "dream": 1})).unwrap();
        assert!(
            text.contains("* d.json: 5 documents, 2.0KB, to be downloaded from [https://data.example]"),
            "{text}"
        );
        assert!(
            text.contains("2.1") && text.contains("10 ops/s (deterministic)") && text.contains("60 s"),
            "{text}"
        );
        assert!(text.contains("[WARNING] Parameter [dream]"), "{text}");
        assert!(write(json!({"operation-type": "bulk"})).unwrap_err().contains("'bulk-size' is missing"));
        assert!(write(json!({"operation-type": "no-such-type"})).unwrap_err().contains("[no-such-type]"));
    }
}
