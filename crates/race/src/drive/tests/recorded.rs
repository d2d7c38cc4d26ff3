//! Every operation sends and reports the same as in esrally 2.13 (fixtures by
//! `tests/golden/operations/record.py`).
//!
//! A case ends the race here if it does so in Rally. There may then be fewer requests here, since errors in a
//! track are found before the first request. `differs` in a case says why it differs on purpose;
//! `requests_here` and `result_here` then say how.

use std::sync::Mutex;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::stub::{Asked, Stub};
use super::{config, plain_task, track};
use crate::drive::exchange::Exchange;
use crate::drive::operation::{Failure, Outcome, Plan, planned};
use crate::model::{Index, Track};
use crate::protocol::Protocol;

#[derive(Deserialize)]
struct Case {
    case: String,
    #[serde(default)]
    track: Map<String, Value>,
    operation: Value,
    responses: Vec<Response>,
    /// Whether the requests may arrive in any order, as those of parallel streams do.
    #[serde(default)]
    unordered: bool,
    requests: Vec<Request>,
    result: Value,
    requests_here: Option<Vec<Request>>,
    result_here: Option<Value>,
}

#[derive(Deserialize, Clone)]
struct Response {
    on: String,
    status: u16,
    body: Value,
}

#[derive(Deserialize, Debug, PartialEq, Clone)]
struct Request {
    line: String,
    query: Map<String, Value>,
    body: Option<Value>,
}

fn case_track(case: &Case) -> Track {
    let names = |kind: &str| -> Vec<String> {
        let names = case.track.get(kind).and_then(Value::as_array).cloned().unwrap_or_default();
        names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let index = |name| Index { name, body: None };
    Track {
        indices: names("indices").into_iter().map(index).collect(),
        data_streams: names("data-streams"),
        corpora: Vec::new(),
        ..track(1)
    }
}

/// Returns the answers of the case. The last answer for a request line is repeated.
fn responder(responses: Vec<Response>) -> impl Fn(&Asked) -> Option<(u16, String)> + Send + Sync {
    let left = Mutex::new(responses);
    move |asked| {
        let line = asked.line();
        let line = line.split('?').next().unwrap_or_default();
        let mut left = left.lock().unwrap();
        let matching: Vec<usize> = (0..left.len()).filter(|at| left[*at].on == line).collect();
        Some(match matching[..] {
            [] => (200, "{}".to_owned()),
            [only] => (left[only].status, left[only].body.to_string()),
            [first, ..] => {
                let response = left.remove(first);
                (response.status, response.body.to_string())
            }
        })
    }
}

fn seen(asked: &Asked) -> Request {
    let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    Request {
        line: format!("{} {path}", asked.method),
        query: pairs.map(|(name, value)| (name.to_owned(), json!(value))).collect(),
        body: (!asked.body.is_empty()).then(|| serde_json::from_str(&asked.body).unwrap()),
    }
}

/// Runs the case's operation once, as its first client.
fn run(case: &Case, stub: &Stub) -> Result<Outcome, Failure> {
    let track = case_track(case);
    let mut task = plain_task("", case.operation.clone());
    let text = |name: &str| case.operation[name].as_str().unwrap().to_owned();
    (task.operation.name, task.operation.kind) = (text("name"), text("operation-type"));
    let protocol = Protocol::for_server(&json!({ "version": { "number": "8.14.0" } }));
    let mut plan = Plan::new(&track, &task, &protocol, true);
    plan.keeps_meta = true;
    let fatal = Failure::from;
    let operation = planned(&mut plan).map_err(fatal)?;
    let mut runner = operation.runners(&[0], 1).map_err(fatal)?.remove(0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut exchange = Exchange::new(&config(stub).target, 0);
        exchange.begin();
        assert!(runner.prepare().unwrap());
        runner.run(&mut exchange).await
    })
}

/// Returns the result in the form in which Rally's was recorded.
fn shown(result: Result<Outcome, Failure>) -> Value {
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(Failure::Fatal(reason)) => return json!({ "aborts": reason.to_string() }),
        Err(failure) => Outcome { is_success: false, error: failure.note().map(Box::new), ..Outcome::ops(0) },
    };
    let mut meta = Map::from_iter([("success".to_owned(), json!(outcome.is_success))]);
    if let Some(details) = outcome.details {
        meta.extend(details.meta);
        if let Some(throughput) = details.throughput {
            meta.insert("throughput".into(), json!(throughput));
        }
        let timing = |timing: &crate::record::sample::DependentTiming| {
            let mut one = timing.meta.clone();
            one.insert("success".into(), json!(true));
            let names = json!({ "operation": &*timing.operation, "operation-type": &*timing.operation_type });
            one.insert("dependent_timing".into(), names);
            Value::Object(one)
        };
        if !details.dependent.is_empty() {
            meta.insert("dependent_timing".into(), details.dependent.iter().map(timing).collect());
        }
    }
    // For Rally, a condition that does not hold is not an error.
    if let Some(error) = outcome.error.filter(|error| error.kind != "unmet") {
        meta.insert("error-type".into(), json!(error.kind));
        meta.insert("error-description".into(), json!(error.description));
        if let Some(status) = error.status {
            meta.insert("http-status".into(), json!(status));
        }
    }
    json!({ "weight": outcome.weight, "unit": outcome.unit, "meta": meta })
}

fn compare(case: &Case) -> Result<(), String> {
    let stub = Stub::start(responder(case.responses.clone()));
    let result = shown(run(case, &stub));
    let mut requests: Vec<Request> = stub.asked().iter().map(seen).collect();
    let mut expected = case.requests_here.clone().unwrap_or_else(|| case.requests.clone());
    let expected_result = case.result_here.as_ref().unwrap_or(&case.result);
    if case.unordered {
        let order = |request: &Request| format!("{request:?}");
        requests.sort_by_key(order);
        expected.sort_by_key(order);
    }
    let is_aborted = expected_result.get("aborts").is_some();
    let same_requests = match is_aborted {
        true => expected.starts_with(&requests),
        false => expected == requests,
    };
    let same_result = match is_aborted {
        true => result.get("aborts").is_some(),
        false => result == *expected_result,
    };
    if same_requests && same_result {
        return Ok(());
    }
    Err(format!("[{}]\n  sent {requests:#?}\n  told {result}\n  expected {expected_result}", case.case))
}

#[test]
fn operations_are_esrallys() {
    let recorded = include_str!("../../../tests/golden/operations/recorded.json");
    let cases: Vec<Case> = serde_json::from_str(recorded).unwrap();
    let differences: Vec<String> = cases.iter().filter_map(|case| compare(case).err()).collect();
    assert!(differences.is_empty(), "{} of {}:\n{}", differences.len(), cases.len(), differences.join("\n"));
}
