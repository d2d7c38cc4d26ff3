//! Tests of the requests of each operation, in order.

use serde_json::{Value, json};

use super::stub::{Asked, Stub};
use super::{config, race, task, track};
use crate::drive::operation::KINDS;
use crate::error::Error;
use crate::model::operations::{OPERATION_TYPES, operation_type};
use crate::model::{Template, Track};

/// Runs one operation once and checks its requests (`METHOD target[ body]`).
#[track_caller]
fn check_on(
    track: &Track,
    kind: &str,
    params: Value,
    responder: impl Fn(&Asked) -> Option<(u16, String)> + Send + Sync + 'static,
    expected: &[&str],
) -> Result<f64, Error> {
    let stub = Stub::start(responder);
    let schedule = [task(kind, params, |_| {})];
    let outcome = race(track, &schedule, &config(&stub)).map(|results| results[0].statistics.error_rate());
    let shown = |asked: &Asked| format!("{} {}", asked.line(), asked.body).trim_end().to_owned();
    let seen: Vec<String> = stub.asked().iter().map(shown).collect();
    assert_eq!(seen, expected);
    outcome
}

#[track_caller]
fn check(kind: &str, params: Value, expected: &[&str]) {
    assert_eq!(check_on(&track(10), kind, params, |_| None, expected).unwrap(), 0.0);
}

#[test]
fn administrative_requests() {
    check("refresh", json!({}), &["POST /_refresh"]);
    check("refresh", json!({"index": "logs"}), &["POST /logs/_refresh"]);
    check(
        "refresh",
        json!({"index": ["<a-{now/d}>", "50%"]}),
        &["POST /%3Ca-%7Bnow%2Fd%7D%3E,50%25/_refresh"],
    );
    check("node-stats", json!({}), &["GET /_nodes/stats/_all"]);
    check(
        "put-settings",
        json!({"body": {"transient": {"a": 1}}}),
        &[r#"PUT /_cluster/settings {"transient":{"a":1}}"#],
    );
    check(
        "put-pipeline",
        json!({"id": "p", "body": {"processors": []}}),
        &[r#"PUT /_ingest/pipeline/p {"processors":[]}"#],
    );
    check("sleep", json!({"duration": 0.01}), &[]);
    // The stub answers with plain JSON, as servers do that accept the fields only in the query string.
    check("field-caps", json!({"fields": ["a", "b*"]}), &["POST /_all/_field_caps?fields=a,b*"]);
    check(
        "enrich-policy",
        json!({"policies": {"p": {"match": {}}, "q": {"range": {}}}}),
        &[
            "DELETE /_enrich/policy/p",
            "DELETE /_enrich/policy/q",
            r#"PUT /_enrich/policy/p {"match":{}}"#,
            r#"PUT /_enrich/policy/q {"range":{}}"#,
            "POST /_all/_refresh",
            "POST /_enrich/policy/p/_execute?wait_for_completion=true",
            "POST /_enrich/policy/q/_execute?wait_for_completion=true",
        ],
    );
    check("force-merge", json!({"max-num-segments": 1}), &["POST /logs/_forcemerge?max_num_segments=1"]);
    check(
        "create-index",
        json!({"settings": {"index.number_of_shards": 2}, "request-params": {"wait_for_active_shards": "true"}}),
        &[r#"PUT /logs?wait_for_active_shards=true {"settings":{"index.number_of_shards":2}}"#],
    );
    check(
        "raw-request",
        json!({"path": "/_x?a=1", "method": "post", "body": {"b": 2}}),
        &[r#"POST /_x?a=1 {"b":2}"#],
    );
    check(
        "search",
        json!({"body": {"a": 1}, "results-per-page": 7}),
        &[r#"GET /logs/_search {"a":1,"size":7}"#],
    );
}

#[test]
fn headers_and_parameters_of_requests() {
    let stub = Stub::start(|_| None);
    let params = json!({
        "index": "logs", "body": {}, "cache": true, "response-compression-enabled": false, "opaque-id": "me",
        "headers": {"X-Own": "1"}, "request-params": {"preference": "a b", "routing": null},
    });
    let track = track(1);
    race(&track, &[task("search", params, |_| {})], &config(&stub)).unwrap();
    let asked = &stub.asked()[0];
    assert_eq!(asked.line(), "GET /logs/_search?preference=a%20b&request_cache=true");
    for header in ["x-own: 1", "x-opaque-id: me", "accept-encoding: identity"] {
        assert!(asked.headers.contains(&header.to_owned()), "{:?}", asked.headers);
    }
}

#[test]
fn indices_are_deleted_with_the_setting_put_back() {
    let dance_before = ["GET /_cluster/settings?flat_settings=true"];
    let off = r#"PUT /_cluster/settings {"transient":{"action.destructive_requires_name":false}}"#;
    let back = r#"PUT /_cluster/settings {"transient":{"action.destructive_requires_name":"true"}}"#;
    check(
        "delete-index",
        json!({"index": ["a", "b"]}),
        &[dance_before[0], off, "HEAD /a", "HEAD /b", dance_before[0], back],
    );
    let exists = |asked: &Asked| (asked.method == "HEAD").then(|| (200, String::new()));
    let expected = [dance_before[0], off, "HEAD /logs", "DELETE /logs", dance_before[0], back];
    check_on(&track(1), "delete-index", json!({}), exists, &expected).unwrap();
    let missing = |asked: &Asked| (asked.method == "DELETE").then(|| (404, String::new()));
    let expected = [dance_before[0], off, "DELETE /logs", dance_before[0], back];
    let rate =
        check_on(&track(1), "delete-index", json!({"only-if-exists": false}), missing, &expected).unwrap();
    assert_eq!(rate, 0.0);
    // The setting is restored even when a deletion fails.
    let failing = |asked: &Asked| match asked.method.as_str() {
        "HEAD" => Some((200, String::new())),
        "DELETE" => Some((500, String::new())),
        _ => None,
    };
    let expected = [dance_before[0], off, "HEAD /logs", "DELETE /logs", dance_before[0], back];
    assert_eq!(check_on(&track(1), "delete-index", json!({}), failing, &expected).unwrap(), 1.0);
}

#[test]
fn templates() {
    let mut track = track(1);
    let template = |name: &str, body: Value| Template {
        name: name.into(),
        index_pattern: "logs-*".into(),
        delete_matching_indices: true,
        body,
    };
    track.templates = vec![template("old", json!({"settings": {"a": 1}}))];
    track.composable_templates = vec![template("new", json!({"template": {"settings": {"a": 1}}}))];
    track.component_templates = vec![template("part", json!({"template": {}, "_meta": {}}))];
    let settings = json!({"settings": {"b": 2}});
    let on = |kind: &str, params: Value, expected: &[&str]| {
        assert_eq!(check_on(&track, kind, params, |_| None, expected).unwrap(), 0.0);
    };
    on("create-index-template", settings.clone(), &[r#"PUT /_template/old {"settings":{"a":1,"b":2}}"#]);
    on(
        "create-composable-template",
        settings,
        &[r#"PUT /_index_template/new {"template":{"settings":{"a":1,"b":2}}}"#],
    );
    on("create-component-template", json!({}), &[r#"PUT /_component_template/part {"template":{}}"#]);
    on("delete-component-template", json!({}), &["HEAD /_component_template/part"]);
    let get = "GET /_cluster/settings?flat_settings=true";
    let off = r#"PUT /_cluster/settings {"transient":{"action.destructive_requires_name":false}}"#;
    let back = r#"PUT /_cluster/settings {"transient":{"action.destructive_requires_name":"true"}}"#;
    on("delete-index-template", json!({}), &["HEAD /_template/old", get, off, "DELETE /logs-*", get, back]);
    on(
        "delete-composable-template",
        json!({"only-if-exists": false}),
        &["DELETE /_index_template/new", get, off, "DELETE /logs-*", get, back],
    );
}

#[test]
fn health_and_statistics_are_asked_until_they_hold() {
    let answers = |wrong: &'static str, right: &'static str| {
        let asked_before = std::sync::atomic::AtomicUsize::new(0);
        move |_: &Asked| {
            let earlier = asked_before.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Some((200, if earlier < 2 { wrong } else { right }.to_owned()))
        }
    };
    let health = "GET /_cluster/health/logs?wait_for_status=green&wait_for_no_relocating_shards=true";
    let params = |until_success: bool| {
        json!({
            "index": "logs",
            "request-params": {"wait_for_status": "green", "wait_for_no_relocating_shards": true},
            "retry-until-success": until_success,
            "retry-wait-period": 0.01,
        })
    };
    let yellow = r#"{"status":"yellow","relocating_shards":0}"#;
    let green = r#"{"status":"green","relocating_shards":0}"#;
    let track = track(1);
    let rate =
        check_on(&track, "cluster-health", params(true), answers(yellow, green), &[health, health, health])
            .unwrap();
    assert_eq!(rate, 0.0);
    let rate = check_on(&track, "cluster-health", params(false), answers(yellow, green), &[health]).unwrap();
    assert_eq!(rate, 1.0);
    let relocating = r#"{"status":"green","relocating_shards":1}"#;
    assert_eq!(
        check_on(&track, "cluster-health", params(false), answers(relocating, ""), &[health]).unwrap(),
        1.0
    );

    let stats = "GET /_all/_stats/_all";
    let condition = json!({
        "condition": {"path": "_all.total.merges.current", "expected-value": 0},
        "retry-until-success": true, "retry-wait-period": 0.01,
    });
    let merging = r#"{"_all":{"total":{"merges":{"current":2}}}}"#;
    let done = r#"{"_all":{"total":{"merges":{"current":0}}}}"#;
    let rate =
        check_on(&track, "index-stats", condition, answers(merging, done), &[stats, stats, stats]).unwrap();
    assert_eq!(rate, 0.0);
}

#[test]
fn force_merge_polls_its_task() {
    let polled = std::sync::atomic::AtomicUsize::new(0);
    let responder = move |asked: &Asked| match asked.target.as_str() {
        target if target.starts_with("/logs/_forcemerge") => Some((200, r#"{"task":"n:7"}"#.to_owned())),
        "/_tasks/n:7" => {
            let completed = polled.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0;
            Some((200, json!({ "completed": completed }).to_string()))
        }
        _ => None,
    };
    let expected =
        ["GET /", "POST /logs/_forcemerge?wait_for_completion=false", "GET /_tasks/n:7", "GET /_tasks/n:7"];
    let params = json!({"mode": "polling", "poll-period": 0.01});
    assert_eq!(check_on(&track(1), "force-merge", params, responder, &expected).unwrap(), 0.0);
}

#[test]
fn scrolls_are_read_to_their_end_and_closed() {
    let responder = |asked: &Asked| match (asked.method.as_str(), asked.target.as_str()) {
        ("GET", "/_search/scroll") if asked.body.contains("\"s2\"") => None,
        ("GET", target) if target.starts_with("/logs/_search") => {
            Some((200, r#"{"_scroll_id":"s1","took":1,"hits":{"total":{"value":5},"hits":[{}]}}"#.to_owned()))
        }
        ("GET", "/_search/scroll") => Some((200, r#"{"took":1,"hits":{"hits":[]}}"#.to_owned())),
        _ => None,
    };
    let expected = [
        r#"GET /logs/_search?sort=_doc&scroll=10s&size=2 {"size":2}"#,
        r#"GET /_search/scroll {"scroll_id":"s1","scroll":"10s"}"#,
        r#"DELETE /_search/scroll {"scroll_id":["s1"]}"#,
    ];
    let params = json!({"pages": 25, "results-per-page": 2});
    for kind in ["search", "scroll-search"] {
        assert_eq!(check_on(&track(1), kind, params.clone(), responder, &expected).unwrap(), 0.0);
    }
}

#[test]
fn assertions_end_the_race_when_they_fail() {
    let params = |expected: u64| {
        json!({
            "detailed-results": true,
            "assertions": [{"property": "hits", "condition": "==", "value": expected}],
        })
    };
    let track = track(1);
    check_on(&track, "search", params(3), |_| None, &["GET /logs/_search"]).unwrap();
    let error = check_on(&track, "search", params(4), |_| None, &["GET /logs/_search"]).unwrap_err();
    assert!(error.to_string().contains("Expected [hits] to be == [4] but was [3]."), "{error}");
}

#[test]
fn raw_requests_ignore_what_they_are_told_to() {
    let missing = |_: &Asked| Some((404, String::new()));
    let params = json!({"path": "/x", "ignore": [400, 404]});
    assert_eq!(check_on(&track(1), "raw-request", params, missing, &["GET /x"]).unwrap(), 0.0);
    assert_eq!(check_on(&track(1), "raw-request", json!({"path": "/x"}), missing, &["GET /x"]).unwrap(), 1.0);
}

#[test]
fn bulks_retry_only_what_was_rejected() {
    let responder = |asked: &Asked| {
        let is_first = asked.body.contains("\"n\":0}");
        let rejected = r#"{"errors":true,"items":[{"index":{"status":201}},{"index":{"status":429}}]}"#;
        Some((200, if is_first { rejected.to_owned() } else { r#"{"errors":false}"#.to_owned() }))
    };
    let action = r#"{"index": {"_index": "logs"}}"#;
    let first = format!("PUT /_bulk {action}\n{{\"n\":0}}\n{action}\n{{\"n\":1}}");
    let again = format!("PUT /_bulk {action}\n{{\"n\":1}}");
    let params = json!({"bulk-size": 2, "retries_on_429": 3});
    assert_eq!(check_on(&track(2), "bulk", params, responder, &[&first, &again]).unwrap(), 0.0);
}

/// Checks that the driver has every operation that the loader accepts.
#[test]
fn loader_and_driver_know_the_same_operations() {
    for (name, _) in KINDS {
        assert!(operation_type(name).is_some(), "{name}");
    }
    for known in OPERATION_TYPES {
        assert!(KINDS.iter().any(|(name, _)| *name == known.name), "{}", known.name);
    }
}

/// Uses answers that are too large for one read. The client looks only at their start when that is enough.
#[test]
fn large_answers_are_waited_for_whatever_is_read_of_them() {
    let item = r#"{"index":{"status":201}},"#.repeat(40_000);
    let failed = r#"{"index":{"status":400,"error":{"reason":"bad"}}}"#;
    let answers = [
        (200, format!(r#"{{"errors":false,"took":1,"items":[{item}{{}}]}}"#)),
        (200, format!(r#"{{"took":1,"errors":true,"items":[{item}{failed}]}}"#)),
        (200, format!(r#"{{"took":1,"items":[{item}{{}}],"errors":false}}"#)),
        (500, format!(r#"{{"errors":false,"reason":"{item}"}}"#)),
    ];
    let count = std::sync::atomic::AtomicUsize::new(0);
    let stub = Stub::start(move |_| {
        let next = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Some(answers[next % answers.len()].clone())
    });
    let track = track(80);
    let schedule = [task("bulk", json!({"bulk-size": 10}), |_| {}), task("search", json!({}), |_| {})];
    let results = race(&track, &schedule, &config(&stub)).unwrap();
    // There are two rounds of the four answers: the second and the fourth of each are failures.
    let bulk = &results[0].statistics;
    assert_eq!((bulk.service_time.count(), bulk.failures()), (8, 4), "{:?}", bulk.error_lines());
    assert_eq!(results[1].statistics.failures(), 0);
    let kinds = ["2 x api, HTTP status 500", "2 x bulk: HTTP status: 400, message: bad"];
    for (line, kind) in bulk.error_lines().iter().zip(kinds) {
        assert!(line.starts_with(kind), "{line}");
    }
    assert_eq!(stub.asked().len(), 9);
}
