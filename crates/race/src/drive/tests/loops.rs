//! Tests of loops, samples, errors and parallel tasks.

use serde_json::json;

use super::stub::{Asked, Stub};
use super::{config, race, task, track};
use crate::drive::client::OnError;
use crate::error::Error;
use crate::model::{Parallel, ScheduleElement, Throughput};

fn none(_: &Asked) -> Option<(u16, String)> {
    None
}

fn count(stub: &Stub, line: &str) -> usize {
    stub.lines().iter().filter(|asked| asked.starts_with(line)).count()
}

#[test]
fn bulk_sends_every_document_once_and_search_its_iterations() {
    let stub = Stub::start(none);
    let track = track(1050);
    let schedule = [
        task("bulk", json!({"bulk-size": 100, "pipeline": "p 1", "refresh": "wait_for"}), |task| {
            task.clients = 4
        }),
        task("search", json!({"body": {"query": {"match_all": {}}}, "cache": true}), |task| {
            (task.warmup_iterations, task.iterations, task.clients) = (Some(5), Some(20), 2);
        }),
    ];
    let mut results = race(&track, &schedule, &config(&stub)).unwrap();

    let bulks: Vec<Asked> =
        stub.asked().into_iter().filter(|asked| asked.target.starts_with("/_bulk")).collect();
    let mut documents: Vec<String> = bulks
        .iter()
        .flat_map(|bulk| bulk.body.lines().skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    documents.sort_by_key(|line| line.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().unwrap());
    let expected: Vec<String> = (0..1050).map(|i| format!("{{\"n\":{i}}}")).collect();
    assert_eq!(documents, expected);
    assert_eq!(bulks[0].line(), "PUT /_bulk?pipeline=p%201&refresh=wait_for");
    assert!(bulks[0].body.starts_with("{\"index\": {\"_index\": \"logs\"}}\n"));
    for header in ["content-type: application/x-ndjson", "accept-encoding: gzip, deflate", "user-agent: test"]
    {
        assert!(bulks[0].headers.iter().any(|seen| seen == header), "{header} in {:?}", bulks[0].headers);
    }
    let bulk = &mut results[0].statistics;
    assert_eq!((bulk.weight_total, bulk.error_rate(), bulk.throughput_unit()), (1050, 0.0, "docs/s".into()));
    assert!(bulk.throughput().is_some());

    assert_eq!(count(&stub, "GET /logs/_search?request_cache=true"), 2 * 25);
    let search = &mut results[1].statistics;
    assert_eq!((search.service_time.count(), search.warmup_service_time.count()), (2 * 20, 2 * 5));
    let percentiles = search.latency.percentiles_ms();
    assert_eq!(
        percentiles.iter().map(|(percentile, _)| *percentile).collect::<Vec<_>>(),
        [50.0, 90.0, 100.0]
    );
    // Without throttling, latency equals service time.
    assert_eq!(percentiles, search.service_time.percentiles_ms());
    assert!(search.service_time.mean_ms() <= search.processing_time.mean_ms());
}

#[test]
fn throttled_requests_keep_their_pace_and_count_the_wait() {
    // Each answer takes 20 ms but a request is due every 10 ms: latency grows, service time does not.
    let stub = Stub::start(|asked| {
        if asked.target.contains("_search") {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        None
    });
    let track = track(1);
    let schedule = [task("search", json!({}), |task| {
        task.iterations = Some(12);
        task.target_throughput = Some(Throughput { value: 100.0, unit: "ops/s".into() });
    })];
    let mut results = race(&track, &schedule, &config(&stub)).unwrap();
    let statistics = &mut results[0].statistics;
    let service_ms = statistics.service_time.percentiles_ms()[0].1;
    let latency_max_ms = statistics.latency.percentiles_ms().last().unwrap().1;
    assert!(service_ms >= 20.0, "{service_ms}");
    // The last of 12 requests was due after 110 ms and done after at least 240 ms. This holds however busy
    // the machine is.
    assert!(latency_max_ms >= 130.0 && latency_max_ms > 3.0 * service_ms, "{latency_max_ms}, {service_ms}");
}

#[test]
fn slow_throttles_wait_between_requests() {
    let stub = Stub::start(none);
    let track = track(1);
    let schedule = [task("search", json!({}), |task| {
        task.iterations = Some(4);
        task.target_throughput = Some(Throughput { value: 50.0, unit: "ops/s".into() });
    })];
    // The wait of 20 ms is not part of the latency. A busy machine may spoil an attempt, but not all of them.
    const ATTEMPTS: usize = 10;
    let is_prompt = (0..ATTEMPTS).any(|_| {
        let started = std::time::Instant::now();
        let mut results = race(&track, &schedule, &config(&stub)).unwrap();
        assert!(started.elapsed().as_millis() >= 60, "{:?}", started.elapsed());
        results[0].statistics.latency.percentiles_ms()[0].1 < 15.0
    });
    assert!(is_prompt, "latency contains the wait before a request was due");
}

#[test]
fn time_periods_end_loops_and_warmups() {
    let stub = Stub::start(none);
    let track = track(1);
    let schedule = [task("search", json!({}), |task| {
        (task.warmup_time_period_s, task.time_period_s) = (Some(0.1), Some(0.2));
        (task.clients, task.ramp_up_time_period_s) = (2, Some(0.1));
    })];
    let started = std::time::Instant::now();
    let results = race(&track, &schedule, &config(&stub)).unwrap();
    let elapsed_ms = started.elapsed().as_millis();
    assert!((300..2000).contains(&elapsed_ms), "{elapsed_ms}");
    let statistics = &results[0].statistics;
    assert!(statistics.warmup_service_time.count() > 0 && statistics.service_time.count() > 0);
}

#[test]
fn failures_are_counted_or_end_the_race() {
    let stub = Stub::start(|asked| {
        match asked.target.as_str() {
        "/bad/_search" => Some((400, r#"{"error":{"reason":"no such query"}}"#.into())),
        "/_bulk" => Some((
            200,
            r#"{"errors":true,"items":[{"index":{"status":429,"error":{"reason":"full"}}},{"index":{"status":201}}]}"#.into(),
        )),
        "/gone/_search" => Some((0, String::new())),
        _ => None,
    }
    });
    let track = track(20);
    let search = |index: &str| [task("search", json!({"index": index}), |task| task.iterations = Some(3))];

    let schedule = search("bad");
    let results = race(&track, &schedule, &config(&stub)).unwrap();
    assert_eq!(results[0].statistics.error_rate(), 1.0);
    let lines = results[0].statistics.error_lines();
    assert_eq!(lines, [r#"3 x api, HTTP status 400: {"error":{"reason":"no such query"}}"#]);

    let abort = crate::drive::driver::DriveConfig { on_error: OnError::Abort, ..config(&stub) };
    let error = race(&track, &schedule, &abort).err().unwrap();
    assert!(
        matches!(&error, Error::Aborted { task, reason }
        if task == "search" && reason.to_string().contains("HTTP Status: 400")),
        "{error}"
    );
    let mut lenient = super::plain_task("search", json!({"index": "bad"}));
    lenient.ignore_response_error_level = Some("non-fatal".into());
    assert!(race(&track, &[ScheduleElement::Task(lenient)], &abort).is_ok());

    // A lost connection ends the race, unless the options say to continue.
    let schedule = search("gone");
    assert!(race(&track, &schedule, &config(&stub)).is_err());
    let on_network =
        crate::drive::driver::DriveConfig { on_error: OnError::ContinueOnNetwork, ..config(&stub) };
    assert_eq!(race(&track, &schedule, &on_network).unwrap()[0].statistics.error_rate(), 1.0);

    let schedule = [task("bulk", json!({"bulk-size": 10}), |_| {})];
    let results = race(&track, &schedule, &config(&stub)).unwrap();
    assert_eq!((results[0].statistics.error_rate(), results[0].statistics.weight_total), (1.0, 20));
}

#[test]
fn time_outs_are_failures_of_their_request_only() {
    let stub = Stub::start(|asked| {
        if asked.target.starts_with("/slow") {
            std::thread::sleep(std::time::Duration::from_millis(150));
        }
        None
    });
    let track = track(1);
    let schedule = [
        task("search", json!({"index": "slow", "request-timeout": 0.05}), |task| task.iterations = Some(2)),
        task("search", json!({"index": "fast"}), |task| task.iterations = Some(2)),
    ];
    let results = race(&track, &schedule, &config(&stub)).unwrap();
    assert_eq!(results[0].statistics.error_lines(), ["2 x transport: network connection timed out"]);
    assert_eq!(results[1].statistics.error_rate(), 0.0);
}

#[test]
fn completed_by_ends_the_other_tasks() {
    let stub = Stub::start(none);
    let track = track(1);
    for completed_by in ["short", "any"] {
        let named = |name: &str, iterations: Option<u64>| {
            let mut task = super::plain_task("search", json!({"index": name}));
            (task.name, task.iterations) = (name.into(), iterations);
            task.time_period_s = iterations.is_none().then_some(3600.0);
            task
        };
        let schedule = [ScheduleElement::Parallel(Parallel {
            tasks: vec![named("short", Some(30)), named("long", None)],
            clients: None,
            completed_by: Some(completed_by.into()),
        })];
        let results = race(&track, &schedule, &config(&stub)).unwrap();
        assert_eq!(results[0].statistics.service_time.count(), 30);
        assert!(results[1].statistics.service_time.count() > 0);
    }
}

#[test]
fn tracks_that_cannot_run_are_refused_before_the_first_request() {
    let stub = Stub::start(none);
    let track = track(10);
    #[track_caller]
    fn check(track: &crate::model::Track, stub: &Stub, element: ScheduleElement, expected: &str) {
        let error = race(track, &[element], &config(stub)).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(stub.asked().is_empty());
    }
    check(&track, &stub, task("bulk", json!({}), |_| {}), "'bulk-size' is missing");
    check(
        &track,
        &stub,
        task("bulk", json!({"bulk-size": 10, "batch-size": 15}), |_| {}),
        "multiple of 'bulk-size'",
    );
    check(&track, &stub, task("bulk", json!({"bulk-size": 10, "corpora": "x"}), |_| {}), "no documents");
    check(
        &track,
        &stub,
        task("bulk", json!({"bulk-size": 10, "ingest-percentage": 0}), |_| {}),
        "(0.0, 100.0]",
    );
    check(&track, &stub, task("bulk", json!({"bulk-size": 10, "refresh": "soon"}), |_| {}), "refresh value");
    check(
        &track,
        &stub,
        task("bulk", json!({"bulk-size": 10, "conflicts": "x"}), |_| {}),
        "'conflicts' setting [x]",
    );
    let often = json!({"bulk-size": 10, "conflicts": "random", "conflict-probability": 101});
    check(&track, &stub, task("bulk", often, |_| {}), "[0.0, 100.0]");
    check(&track, &stub, task("nothing", json!({}), |_| {}), "operation type [nothing] is not supported");
    check(&track, &stub, task("esql", json!({}), |_| {}), "mandatory parameter 'query' is missing");
    check(&track, &stub, task("sleep", json!({"duration": -1}), |_| {}), "non-negative");
    check(&track, &stub, task("raw-request", json!({"path": "x"}), |_| {}), "begin with a '/'");
    check(&track, &stub, task("search", json!({"body": {}, "assertions": []}), |_| {}), "[detailed-results]");
    check(&track, &stub, task("search", json!({}), |task| task.schedule = Some("x".into())), "schedule [x]");
    let from_plugin = |task: &mut crate::model::Task| task.operation.param_source = Some("mine".into());
    check(&track, &stub, task("search", json!({}), from_plugin), "parameter source [mine]");
}

#[test]
fn parameters_without_effect_are_named() {
    let stub = Stub::start(none);
    let track = track(10);
    let params = json!({"name": "x", "bulk-size": 5, "bulksize": 7, "corpora": "logs", "retries": 2});
    let schedule =
        [task("bulk", params, |_| {}), task("sleep", json!({"duration": 0, "index": "a"}), |_| {})];
    let planned = crate::drive::driver::PlannedSchedule::new(&track, &schedule, &config(&stub)).unwrap();
    let expected = [("bulksize", "bulk"), ("retries", "bulk"), ("index", "sleep")]
        .map(|(name, kind)| format!("Parameter [{name}] of operation [{kind}] has no effect on [{kind}]."));
    assert_eq!(planned.warnings, expected);
}

#[test]
fn a_cancelled_race_does_not_wait_for_slow_requests() {
    let stub = Stub::start(none);
    let track = track(1);
    let schedule = [task("sleep", json!({"duration": 3600}), |_| {})];
    let is_cancelled = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let config = config(&stub);
    let planned = crate::drive::driver::PlannedSchedule::new(&track, &schedule, &config).unwrap();
    let later = std::sync::Arc::clone(&is_cancelled);
    std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        later.store(true, std::sync::atomic::Ordering::Release);
    });
    let result = planned.run(&config, &is_cancelled, &mut super::Silent);
    assert!(matches!(result.err(), Some(Error::Interrupted)));
}
