//! Tests that documents equal those of esrally, and that a store gets all of them (fixtures by
//! `tests/metrics/make.py`).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::datastore::Datastore;
use super::samples::StepLog;
use super::writer::METRICS_FILE;
use super::*;
use crate::drive::tests::plain_task;
use crate::drive::tests::stub::{Asked, Stub};
use crate::drive::tests::whole_race::race_on;
use crate::model::{Params, Task};
use crate::record::Race;
use crate::record::sample::{DependentTiming, Details, ErrorNote, Note, Sample};

fn fixtures() -> Value {
    serde_json::from_str(include_str!("../../tests/metrics/fixtures.json")).unwrap()
}

fn params(value: Value) -> Params {
    value.as_object().cloned().unwrap()
}

fn context() -> RaceContext {
    RaceContext {
        cluster_meta: params(json!({"tag_setup": "small", "distribution_version": "8.14.3"})),
        race_id: "race-1".into(),
        started_epoch: Duration::from_millis(1_795_000_000_125),
        ..document::tests::context()
    }
}

#[track_caller]
fn check_lines(found: &str, expected: &Value) {
    let expected = expected.as_array().unwrap();
    for (found, expected) in found.lines().zip(expected) {
        assert_eq!(found, expected.to_string());
    }
    assert_eq!(found.lines().count(), expected.len());
}

/// Writes a race's requests to a file.
struct Written {
    folder: tempfile::TempDir,
    writer: MetricsWriter,
    log: SampleLog,
}

impl Written {
    fn new(meta: Params, downsample_factor: u64) -> Written {
        let folder = tempfile::tempdir().unwrap();
        let writer = MetricsWriter::start(folder.path(), true).unwrap();
        let log =
            SampleLog { context: Arc::new(context()), sender: writer.sender(), meta, downsample_factor };
        Written { folder, writer, log }
    }

    fn step(&self, task: &Task) -> StepLog {
        self.log.step(&[task], self.log.context.started)
    }

    /// Returns the contents of the file.
    fn finish(self) -> String {
        assert_eq!(self.writer.finish().unwrap(), 0);
        std::fs::read_to_string(self.folder.path().join(METRICS_FILE)).unwrap()
    }
}

#[test]
fn requests_become_esrallys_documents() {
    let written = Written::new(params(json!({"m": "challenge"})), 1);
    let mut task = plain_task("search", json!({}));
    (task.name, task.operation.name) = ("find".into(), "match-all".into());
    task.operation.meta = params(json!({"kind": "o"}));
    task.meta = params(json!({"kind": "t"}));
    let mut step = written.step(&task);
    let error = ErrorNote { kind: "api", status: Some(429), description: "a \"b\"".into() };
    step.record(&sample(250, None));
    step.record(&sample(500, Some(error)));
    let fixtures = fixtures();
    let throughput = fixtures["samples"].as_array().unwrap().last().unwrap();
    let note = Note {
        at_s: throughput["relative-time"].as_f64().unwrap() / 1000.0,
        value: throughput["value"].as_f64().unwrap(),
        is_warmup: throughput["sample-type"] == "warmup",
    };
    step.finish(&[(&[note], "ops/s".into())]);
    check_lines(&written.finish(), &fixtures["samples"]);
}

fn sample(start_ms: u64, error: Option<ErrorNote>) -> Sample {
    let ms = Duration::from_millis;
    Sample {
        task_index: 0,
        client: 3,
        is_warmup: error.is_none(),
        is_success: error.is_none(),
        processing_start: ms(start_ms),
        request_start: ms(start_ms),
        service_time: ms(250),
        latency: ms(500),
        processing_time: ms(750),
        send_delay: None,
        own_delay: ms(0),
        took: None,
        time_period: ms(500),
        weight: 1,
        unit: "ops",
        progress: Some(0.5),
        error: error.map(Box::new),
        details: None,
    }
}

#[test]
fn statistics_become_esrallys_documents() {
    let context = context();
    let at = context.started + Duration::from_secs(2);
    let metric = |name: &str, value: u64, unit: Option<&'static str>| Metric {
        name: name.into(),
        value: value.into(),
        unit,
        meta: Params::new(),
    };
    let found = [
        context.value(at, Level::Cluster, &metric("segments_count", 3, None)),
        context.value(at, Level::Cluster, &metric("store_size_in_bytes", 7, Some("byte"))),
        context.value(at, Level::Node("n1"), &metric("geoip_cache_hits", 5, None)),
        context.document(
            at,
            Level::Node("n1"),
            params(json!({"name": "node-stats", "jvm_mem_heap_used_in_bytes": 9})),
            &params(json!({"cluster": "default"})),
        ),
        context.document(
            at,
            Level::Cluster,
            params(json!({"name": "merges_total_time", "value": 5, "unit": "ms", "per-shard": [5, 0]})),
            &Params::new(),
        ),
    ];
    check_lines(&found.map(|document| format!("{document}\n")).concat(), &fixtures()["system"]);
}

#[test]
fn results_become_esrallys_documents() {
    let race: Race = serde_json::from_str(include_str!("../../tests/golden/baseline.race.json")).unwrap();
    let found = results::documents(&race, &params(json!({"m": "track"})));
    let fixtures = fixtures();
    let expected = fixtures["results"].as_array().unwrap();
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn requests_inside_of_others_have_documents() {
    let written = Written::new(Params::new(), 1);
    let task = plain_task("composite", json!({}));
    let mut step = written.step(&task);
    let inner = DependentTiming {
        operation: "first page".into(),
        operation_type: "search".into(),
        request_start: written.log.context.started + Duration::from_millis(40),
        service_time: Duration::from_millis(7),
        meta: params(json!({"hits": 3})),
    };
    let details = Details { meta: params(json!({"took": 2})), dependent: vec![inner], ..Details::default() };
    step.record(&Sample {
        details: Some(Box::new(details)),
        took: Some(Duration::from_millis(9)),
        ..sample(30, None)
    });
    step.finish(&[]);
    let text = written.finish();
    let documents: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(documents[0]["meta"]["took"], 2);
    let inner = &documents[3];
    assert_eq!(
        (&inner["name"], &inner["value"], &inner["relative-time"]),
        (&json!("service_time"), &json!(7.0), &json!(40.0))
    );
    assert_eq!(
        (&inner["operation"], &inner["operation-type"], &inner["task"]),
        (&json!("first page"), &json!("search"), &json!(task.name))
    );
    let meta = json!({"tag_setup": "small", "distribution_version": "8.14.3", "took": 2, "success": true, "hits": 3, "client_id": 3});
    assert_eq!(inner["meta"], meta);
}

#[test]
fn one_request_in_so_many() {
    let written = Written::new(Params::new(), 10);
    let task = plain_task("search", json!({}));
    let mut step = written.step(&task);
    (0..2_000).for_each(|start_ms| step.record(&sample(start_ms, None)));
    step.finish(&[]);
    assert_eq!(written.finish().lines().count(), 3 * 200);
}

#[test]
fn a_race_keeps_all_documents_in_a_file() {
    let stub = Stub::start(|_| None);
    let (outcome, progress, _home) = race_on(&stub, |config| {
        config.watch.reporting = Reporting { keeps_file: true, ..Reporting::default() };
    });
    let outcome = outcome.unwrap();
    let text = std::fs::read_to_string(outcome.file.with_file_name(METRICS_FILE)).unwrap();
    let documents: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |name: &str| documents.iter().filter(|document| document["name"] == name).count();
    let bulks = stub.lines().iter().filter(|line| line.contains("/_bulk")).count();
    let of_bulks =
        documents.iter().filter(|one| one["name"] == "service_time" && one["operation-type"] == "bulk");
    assert_eq!(of_bulks.count(), bulks);
    assert!(bulks > 0 && count("latency") == count("service_time") && count("throughput") > 0);
    assert!(progress.iter().any(|line| line.starts_with("note Metrics are in [")), "{progress:?}");
}

/// Returns a store that refuses a bulk once and a document once before it accepts them.
fn store(bulks: Arc<Mutex<Vec<String>>>) -> Stub {
    let asked_bulks = AtomicUsize::new(0);
    Stub::start(move |asked: &Asked| {
        let body = match (asked.method.as_str(), asked.target.as_str()) {
            ("GET", "/_index_template/rally-metrics") => return Some((404, "{}".into())),
            ("POST", "/_bulk") => match asked_bulks.fetch_add(1, Ordering::Relaxed) {
                0 => return Some((429, "{}".into())),
                1 => {
                    // All documents except the first are accepted.
                    let lines: Vec<&str> = asked.body.lines().collect();
                    bulks.lock().unwrap().extend(lines[2..].iter().map(|line| (*line).to_owned()));
                    let item = |place: usize| {
                        let status = if place == 0 { 429 } else { 201 };
                        json!({"index": {"status": status, "error": {"type": "es_rejected_execution_exception"}}})
                    };
                    let items: Vec<Value> = (0..lines.len() / 2).map(item).collect();
                    json!({"errors": true, "items": items})
                }
                _ => {
                    bulks.lock().unwrap().extend(asked.body.lines().map(str::to_owned));
                    json!({"errors": false, "items": []})
                }
            },
            _ => return None,
        };
        Some((200, body.to_string()))
    })
}

fn reporting(stub: &Stub) -> Reporting {
    let (host, port) = stub.host.split_once(':').unwrap();
    let words = format!(
        "datastore.type:elasticsearch,datastore.host:'{host}',datastore.port:{port},datastore.number_of_replicas:0"
    );
    Reporting::read(&words, &|_| None).unwrap()
}

#[test]
fn a_store_gets_every_document_once() {
    let bulks = Arc::new(Mutex::new(Vec::new()));
    let stub = store(Arc::clone(&bulks));
    let config = reporting(&stub).datastore.unwrap();
    let mut store = Datastore::open_with(&config, "20261121T070830Z", Duration::from_millis(1)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("metrics.ndjson");
    let lines: String = (0..12_345).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    std::fs::write(&file, lines).unwrap();
    assert_eq!(store.send_file(&file).unwrap(), 12_345);
    store.send_race("r", &json!({"race-id": "r"}), &[json!({"name": "store_size"})]).unwrap();

    let bulks = bulks.lock().unwrap();
    let index = "{\"index\":{\"_index\":\"rally-metrics-2026-11\"}}";
    let mut seen: Vec<u64> =
        bulks.iter().filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["n"].as_u64()).collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..12_345).collect::<Vec<u64>>());
    assert_eq!(bulks.iter().filter(|line| *line == index).count(), 12_345);
    assert_eq!(bulks.last().map(String::as_str), Some("{\"name\":\"store_size\"}"));
    let asked = stub.asked();
    let template = asked.iter().find(|one| one.line() == "PUT /_index_template/rally-metrics").unwrap();
    let template: Value = serde_json::from_str(&template.body).unwrap();
    assert_eq!(template["template"]["settings"]["index"]["number_of_replicas"], 0);
    assert_eq!(template["index_patterns"], json!(["rally-metrics-*"]));
    let lines = stub.lines();
    for line in [
        "PUT /rally-metrics-2026-11",
        "PUT /_index_template/rally-races",
        "PUT /rally-races-2026-11/_doc/r",
        "PUT /_index_template/rally-results",
        "POST /rally-races-2026-11,rally-results-2026-11/_refresh",
    ] {
        assert!(lines.iter().any(|seen| seen == line), "{line}: {lines:?}");
    }
}

#[test]
fn a_store_that_refuses_says_why() {
    let check = |status: u16, body: &'static str, expected: &str| {
        let stub = Stub::start(move |asked: &Asked| {
            (asked.target == "/_bulk" || asked.target.starts_with("/_index_template"))
                .then(|| (status, body.to_owned()))
        });
        let config = reporting(&stub).datastore.unwrap();
        let opened = Datastore::open_with(&config, "20261121T070830Z", Duration::from_millis(1));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("metrics.ndjson");
        std::fs::write(&file, "{}\n").unwrap();
        let reason = opened.and_then(|mut store| store.send_file(&file)).unwrap_err();
        assert!(reason.to_string().contains(expected), "{reason}");
    };
    check(401, "{}", "is the password right?");
    check(403, "{}", "needs more rights");
    check(503, "{}", "status 503, 10 times");
    check(
        200,
        r#"{"errors": true, "items": [{"index": {"status": 400, "error": {"type": "mapper_parsing_exception"}}}]}"#,
        "refuses a document with status 400: {\"type\":\"mapper_parsing_exception\"}",
    );
}

#[test]
fn a_race_goes_to_a_store() {
    let (raced, stored) = (Stub::start(|_| None), Stub::start(|_| None));
    let (outcome, progress, _home) = race_on(&raced, |config| config.watch.reporting = reporting(&stored));
    let outcome = outcome.unwrap();
    assert!(
        progress.iter().any(|line| line.ends_with("documents were sent to the metrics store.")),
        "{progress:?}"
    );
    assert!(!outcome.file.with_file_name(METRICS_FILE).exists(), "only the store was asked for");
    let asked = stored.asked();
    let bulks: Vec<&Asked> = asked.iter().filter(|one| one.target == "/_bulk").collect();
    assert!(
        bulks[0].body.contains("\"name\":\"service_time\"")
            && bulks[0].body.contains("\"name\":\"throughput\"")
    );
    assert!(bulks.last().unwrap().body.contains("\"name\":\"error_rate\""));
    let race = asked.iter().find(|one| one.target.ends_with("/_doc/race-1")).unwrap();
    assert!(race.body.contains("\"race-id\":\"race-1\""));
    // A store that cannot be reached is found before the race.
    let gone = Reporting::read(
        "datastore.type:elasticsearch,datastore.host:'no.such.host.invalid',datastore.port:1",
        &|_| None,
    );
    let (outcome, ..) = race_on(&raced, |config| config.watch.reporting = gone.unwrap());
    assert!(outcome.unwrap_err().to_string().contains("metrics store: target host [no.such.host.invalid:1]"));
}
