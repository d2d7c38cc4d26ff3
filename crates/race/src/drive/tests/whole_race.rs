//! Tests from a track's name to the stored race, against a server that counts what it receives.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::stub::{Asked, Stub};
use crate::conduct::config::RaceConfig;
use crate::conduct::live::Progress;
use crate::conduct::race::{RaceOutcome, run};
use crate::drive::client::OnError;
use crate::drive::driver::DriveProgress;
use crate::error::Error;
use crate::notation::Number;
use crate::record::RaceStore;
use crate::record::measurements::WarningKind;
use crate::report::{ReportOptions, summary};
use crate::server::hosts::ClientOptions;
use crate::track::load::{TrackSource, TrackSpec};

#[derive(Default)]
pub struct Recorded(pub Vec<String>);

impl DriveProgress for Recorded {
    fn step_started(&mut self, names: &str) {
        self.0.push(format!("started {names}"));
    }

    fn step_advanced(&mut self, share: f64) {
        assert!((0.0..=1.0).contains(&share), "{share}");
    }

    fn step_finished(&mut self, error_rate_max: f64) {
        self.0.push(format!("finished {error_rate_max}"));
    }
}

impl Progress for Recorded {
    fn note(&mut self, line: &str) {
        self.0.push(format!("note {line}"));
    }

    fn warn(&mut self, line: &str) {
        self.0.push(format!("warn {line}"));
    }
}

/// Starts a server with one node that counts the documents of bulk requests as documents of its pipelines.
pub fn counting_server() -> Stub {
    let documents = AtomicU64::new(5);
    Stub::start(move |asked: &Asked| {
        let body = match asked.target.split('?').next().unwrap_or_default() {
            "/_bulk" => {
                documents.fetch_add(asked.body.lines().count() as u64 / 2, Ordering::Relaxed);
                return None;
            }
            "/_nodes/stats/ingest" => {
                let count = documents.load(Ordering::Relaxed);
                json!({"nodes": {"x": {"name": "n", "ingest": {"total": {"count": count, "time_in_millis": 7, "failed": 0}}}}})
            }
            "/_nodes/stats/jvm" => json!({"nodes": {"x": {"name": "n", "jvm": {"gc": {"collectors": {}}}}}}),
            "/_stats/_all" => json!({
                "_all": {"primaries": {"indexing": {"index_time_in_millis": 60_000}, "segments": {"count": 4}}, "total": {}},
                "indices": {},
            }),
            _ => return None,
        };
        Some((200, body.to_string()))
    })
}

pub fn race_on(
    stub: &Stub,
    change: impl FnOnce(&mut RaceConfig),
) -> (Result<RaceOutcome, Error>, Vec<String>, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let mut config = crate::conduct::series::tests::config(home.path());
    (config.hosts, config.race_id) = (vec![stub.host.clone()], "race-1".into());
    change(&mut config);
    let mut recorded = Recorded::default();
    (run(config, &mut recorded), recorded.0, home)
}

#[test]
fn built_in_track_from_name_to_stored_race() {
    let stub = counting_server();
    let (outcome, progress, home) = race_on(&stub, |_| {});
    let outcome = outcome.unwrap();

    let bulks: Vec<Asked> =
        stub.asked().into_iter().filter(|asked| asked.target.starts_with("/_bulk")).collect();
    let documents: usize = bulks.iter().map(|bulk| bulk.body.lines().count() / 2).sum();
    // The default challenge starts over when the documents of test mode are used up.
    assert!(documents > 1000 && documents.is_multiple_of(250), "{documents}");
    assert!(bulks.iter().all(|bulk| bulk.target.contains("pipeline=log-pipe")), "{}", bulks[0].target);
    assert_eq!(outcome.results.ingest_pipeline_cluster_count, Some(Number::from(documents as u64)));
    assert!(outcome.results.op_metrics.iter().all(|task| task.error_rate == 0.0));
    assert!(outcome.errors.is_empty());

    let mut report = Vec::new();
    summary::write(&outcome.results, &ReportOptions::default(), &mut report).unwrap();
    let report = String::from_utf8(report).unwrap();
    let row = report.lines().find(|line| line.contains("Total Ingest Pipeline count")).unwrap();
    assert!(row.contains(&documents.to_string()), "{row}");
    assert!(report.contains("Cumulative indexing time of primary shards"), "{report}");

    let stored: Value = serde_json::from_str(&std::fs::read_to_string(&outcome.file).unwrap()).unwrap();
    assert_eq!((&stored["race-id"], &stored["track"]), (&json!("race-1"), &json!("log_ingest")));
    assert_eq!(stored["cluster"]["distribution-version"], "8.14.3");
    assert_eq!(stored["results"]["segment_count"], 4);

    let measured = RaceStore::new(home.path()).measurements("race-1").unwrap().unwrap();
    assert_eq!(measured, outcome.measurements);
    let bulk = measured.tasks.iter().find(|task| task.task.contains("bulk")).unwrap();
    assert!(bulk.generator.workers > 0 && bulk.send_delay.is_none(), "{bulk:?}");
    assert_eq!(measured.hosts, std::slice::from_ref(&stub.host));
    // The scope is recorded. In test mode there is no warning about short tasks.
    let scope = outcome.race.scope.as_ref().unwrap();
    assert!(scope.test_mode && scope.corpora[0].document_count == 1000, "{scope:?}");
    assert!(!measured.warnings.iter().any(|warning| warning.kind == WarningKind::TooShort), "{measured:?}");

    let started: Vec<&String> = progress.iter().filter(|line| line.starts_with("started")).collect();
    assert!(
        started.len() >= 4
            && progress.iter().any(|line| line.starts_with("warn indexing_total_time is 60000")),
        "{progress:?}"
    );
}

#[test]
fn an_interrupted_race_is_kept_as_far_as_it_came() {
    let bulks = std::sync::Arc::new(AtomicU64::new(0));
    let is_cancelled = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (count, cancel) = (std::sync::Arc::clone(&bulks), std::sync::Arc::clone(&is_cancelled));
    let stub = Stub::start(move |asked: &Asked| {
        if asked.target.starts_with("/_bulk") && count.fetch_add(1, Ordering::Relaxed) == 20 {
            cancel.store(true, Ordering::Release);
        }
        None
    });
    let (outcome, progress, home) = race_on(&stub, |config| {
        config.is_cancelled = is_cancelled;
        config.track.test_mode = false;
    });
    let outcome = outcome.unwrap();
    assert!(outcome.is_interrupted && outcome.file.is_file());
    let store = RaceStore::new(home.path());
    assert!(store.find("race-1").unwrap().scope.unwrap().interrupted);
    let warnings = store.measurements("race-1").unwrap().unwrap().warnings;
    assert_eq!(warnings[0].kind, WarningKind::Interrupted);
    assert!(progress.iter().any(|line| line.contains("interrupted while [bulk] ran")), "{progress:?}");
    assert!(bulks.load(Ordering::Relaxed) < 1000, "the rest was not sent");
    // An interrupted race is not proposed for comparison.
    let (outcome, ..) = {
        let mut config = crate::conduct::series::tests::config(home.path());
        (config.hosts, config.race_id) = (vec![stub.host.clone()], "race-2".into());
        (run(config, &mut Recorded::default()), ())
    };
    assert_eq!(outcome.unwrap().previous_race_id, None);
}

#[test]
fn a_wait_for_a_server_can_be_interrupted() {
    let stub = Stub::start(|_| Some((503, String::new())));
    let begin = std::time::Instant::now();
    let (outcome, ..) = race_on(&stub, |config| {
        let flag = std::sync::Arc::clone(&config.is_cancelled);
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(100));
            flag.store(true, Ordering::Release);
        });
    });
    assert!(matches!(outcome, Err(Error::Interrupted)));
    assert!(begin.elapsed() < std::time::Duration::from_secs(30));
}

#[test]
fn a_download_can_be_interrupted() {
    let stub = counting_server();
    let folder = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let corpus = json!({
        "name": "c", "base-url": format!("http://{}/", listener.local_addr().unwrap()),
        "documents": [{"source-file": "d.json", "document-count": 3}],
    });
    let track = json!({
        "indices": [{"name": "one"}], "corpora": [corpus],
        "schedule": [{"operation": {"operation-type": "bulk", "bulk-size": 10}}],
    });
    std::fs::write(folder.path().join("track.json"), track.to_string()).unwrap();
    let source = TrackSource::Path(folder.path().to_owned());
    let data_root = Some(folder.path().join("data"));
    let (outcome, ..) = race_on(&stub, |config| {
        config.track = TrackSpec { data_root, ..TrackSpec::new(source, 0.0) };
        let flag = std::sync::Arc::clone(&config.is_cancelled);
        // The user interrupts the race when the download has begun. No byte of it ever comes.
        std::thread::spawn(move || {
            let connection = listener.accept();
            flag.store(true, Ordering::Release);
            std::thread::park();
            drop(connection);
        });
    });
    assert!(matches!(outcome, Err(Error::Interrupted)));
}

#[test]
fn vendored_media_types_go_to_elasticsearch_8() {
    let stub = counting_server();
    race_on(&stub, |_| {}).0.unwrap();
    let bulk = stub.asked().into_iter().find(|asked| asked.target.starts_with("/_bulk")).unwrap();
    for header in [
        "accept: application/vnd.elasticsearch+json; compatible-with=8",
        "content-type: application/vnd.elasticsearch+x-ndjson; compatible-with=8",
    ] {
        assert!(bulk.headers.iter().any(|seen| seen == header), "{:?}", bulk.headers);
    }
}

#[test]
fn races_end_with_reasons() {
    let stub =
        Stub::start(|asked: &Asked| asked.target.starts_with("/_bulk").then(|| (500, "broken".to_owned())));
    let (outcome, _, home) = race_on(&stub, |_| {});
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("Error type: api, Description: broken, HTTP Status: 500"), "{error}");
    // A race that did not finish leaves nothing behind.
    let left = std::fs::read_dir(home.path().join("benchmarks/races")).map_or(0, Iterator::count);
    assert_eq!(left, 0);

    let (outcome, _, _home) = race_on(&stub, |config| config.on_error = OnError::Continue);
    let outcome = outcome.unwrap();
    assert!(
        !outcome.errors.is_empty() && outcome.errors[0].1[0].contains("HTTP status 500"),
        "{:?}",
        outcome.errors
    );

    let (outcome, _, _home) = race_on(&stub, |config| config.is_cancelled.store(true, Ordering::Release));
    assert!(matches!(outcome, Err(Error::Interrupted)));

    let (outcome, _, _home) = race_on(&stub, |config| config.hosts = vec!["no-port".into()]);
    assert!(outcome.unwrap_err().to_string().contains("expected host:port"));

    let refusing = Stub::start(|_| Some((404, String::new())));
    assert!(race_on(&refusing, |_| {}).0.unwrap_err().to_string().contains("status 404"));
}

#[test]
fn a_file_answers_instead_of_a_server() {
    let stub = counting_server();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answers.json");
    let answers = json!([
        {"path": "*_bulk", "body": {"took": 1, "errors": false}},
        {"path": "*", "body": {"acknowledged": true, "transient": {}}},
    ]);
    std::fs::write(&file, answers.to_string()).unwrap();
    let options = json!({"static_responses": file}).as_object().cloned().unwrap();
    let (outcome, progress, _home) = race_on(&stub, |config| {
        config.hosts = vec!["no.such.host.invalid:9200".into()];
        config.client = ClientOptions::from_params(&options).unwrap();
    });
    let outcome = outcome.unwrap();
    assert!(stub.asked().is_empty() && outcome.errors.is_empty(), "{:?}", outcome.errors);
    let bulk = outcome.measurements.tasks.iter().find(|task| task.task.contains("bulk")).unwrap();
    assert!(bulk.generator.workers > 0, "{bulk:?}");
    assert!(progress.iter().any(|line| line.contains("nothing is sent")), "{progress:?}");
    assert!(!progress.iter().any(|line| line.contains("rows are missing")), "{progress:?}");
}
