//! Tests of operations that are more than a list of requests: concurrent streams, and operations that end by
//! themselves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use serde_json::{Value, json};

use super::stub::{Asked, Stub};
use super::{config, race, task, track};
use crate::drive::client::OnError;

fn raw(path: &str) -> Value {
    json!({ "name": path, "operation-type": "raw-request", "path": path })
}

fn streams(paths: [&str; 2], params: Value) -> Value {
    let mut params = params;
    params["requests"] = json!([{ "stream": [raw(paths[0])] }, { "stream": [raw(paths[1])] }, raw("/end")]);
    params
}

#[test]
fn streams_run_at_the_same_time() {
    // Neither request is answered before both have arrived.
    let both = Barrier::new(2);
    let stub = Stub::start(move |asked: &Asked| {
        if asked.target != "/end" {
            both.wait();
        }
        None
    });
    let schedule = [task("composite", streams(["/a", "/b"], json!({})), |task| task.iterations = Some(3))];
    let track = track(1);
    let results = race(&track, &schedule, &config(&stub)).unwrap();
    assert_eq!((results[0].statistics.service_time.count(), results[0].statistics.failures()), (3, 0));
    assert_eq!(stub.lines().iter().filter(|line| *line == "GET /end").count(), 3);
}

#[test]
fn connections_are_limited() {
    let (under_way, most) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&most);
    let stub = Stub::start(move |_: &Asked| {
        seen.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(5));
        under_way.fetch_sub(1, Ordering::SeqCst);
        None
    });
    let schedule = [task("composite", streams(["/a", "/b"], json!({ "max-connections": 1 })), |task| {
        task.iterations = Some(3);
    })];
    let track = track(1);
    race(&track, &schedule, &config(&stub)).unwrap();
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

#[test]
fn a_failed_stream_leaves_no_answer_behind() {
    // The slow answer of one iteration must not be taken for the answer of the next.
    let stub = Stub::start(move |asked: &Asked| match asked.target.as_str() {
        "/fails" => Some((500, String::new())),
        "/slow" => {
            std::thread::sleep(Duration::from_millis(20));
            Some((200, "{}".into()))
        }
        _ => None,
    });
    let schedule =
        [task("composite", streams(["/slow", "/fails"], json!({})), |task| task.iterations = Some(3))];
    let track = track(1);
    let config = crate::drive::driver::DriveConfig { on_error: OnError::Continue, ..config(&stub) };
    let results = race(&track, &schedule, &config).unwrap();
    assert_eq!((results[0].statistics.service_time.count(), results[0].statistics.failures()), (3, 3));
    let lines = stub.lines();
    assert!(!lines.contains(&"GET /end".to_owned()), "{lines:?}");
    assert_eq!(lines.iter().filter(|line| *line == "GET /fails").count(), 3);
}

#[test]
fn a_transform_that_is_not_there_ends_its_task() {
    let stub = Stub::start(|_: &Asked| Some((404, String::new())));
    let track = track(1);
    let schedule = [task("wait-for-transform", json!({"transform-id": "t"}), |_| {})];
    let results = race(&track, &schedule, &config(&stub)).unwrap();
    assert_eq!((results[0].statistics.service_time.count(), results[0].statistics.failures()), (1, 1));
}

#[test]
fn a_transform_is_followed_to_its_end() {
    let asked = AtomicUsize::new(0);
    let stub = Stub::start(move |request: &Asked| {
        if !request.target.ends_with("/_stats") {
            return None;
        }
        let (state, documents, ms) = match asked.fetch_add(1, Ordering::Relaxed) {
            0 => ("indexing", 100, 10),
            1 => ("indexing", 6000, 1000),
            2 => ("indexing", 6100, 2000),
            _ => ("stopped", 12_000, 3000),
        };
        let stats = json!({ "documents_processed": documents, "search_time_in_ms": ms });
        Some((200, json!({ "transforms": [{ "state": state, "stats": stats }] }).to_string()))
    });
    let track = track(1);
    let schedule = [task("wait-for-transform", json!({"transform-id": "t", "poll-interval": 0.001}), |_| {})];
    let mut results = race(&track, &schedule, &config(&stub)).unwrap();
    let statistics = &mut results[0].statistics;
    // There is one sample when enough was processed, and one at the end.
    assert_eq!(statistics.service_time.count(), 2);
    let throughput = statistics.throughput().unwrap();
    assert_eq!(
        (throughput.min, throughput.max, statistics.throughput_unit()),
        (4000.0, 6000.0, "docs/s".into())
    );
    let stops = stub.lines().iter().filter(|line| line.starts_with("POST /_transform/t/_stop?")).count();
    assert_eq!((stops, stub.asked().len()), (1, 5));
}
