//! Pipelines that call themselves, double their input, or match forever.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Victim, nested};

fn put(victim: &mut Victim, name: &str, processors: Value) {
    victim.ok("PUT", &format!("/_ingest/pipeline/{name}"), json!({"processors": processors}).to_string());
}

#[test]
fn calls() {
    let mut victim = Victim::start();
    put(&mut victim, "itself", json!([{"pipeline": {"name": "itself"}}]));
    put(&mut victim, "ping", json!([{"pipeline": {"name": "pong"}}]));
    put(&mut victim, "pong", json!([{"pipeline": {"name": "ping"}}]));
    for level in 0..30 {
        let next = json!({"pipeline": {"name": format!("level{}", level + 1), "ignore_failure": true}});
        put(&mut victim, &format!("level{level}"), json!([next, next]));
    }
    put(&mut victim, "level30", json!([]));
    for name in ["itself", "ping", "level0"] {
        victim.refused(&[400, 500], "PUT", &format!("/i/_doc/1?pipeline={name}"), "{}");
    }
    victim.refused(
        &[400],
        "PUT",
        "/_ingest/pipeline/deep",
        format!(
            "{{\"processors\":{}}}",
            nested("[{\"set\":{\"field\":\"a\",\"value\":1,\"on_failure\":", "[]", "}}]", 1_000)
        ),
    );
    victim.refused(
        &[400],
        "PUT",
        "/_ingest/pipeline/deep",
        format!(
            "{{\"processors\":[{{\"set\":{{\"field\":\"a\",\"value\":{}}}}}]}}",
            nested("[", "", "]", 100_000)
        ),
    );
}

#[test]
fn growth() {
    let mut victim = Victim::start();
    let times = |count: usize, processor: Value| Value::from(vec![processor; count]);
    let gsub = |pattern: &str, replacement: &str| json!({"gsub": {"field": "a", "pattern": pattern, "replacement": replacement}});
    put(&mut victim, "grow", times(20, gsub("", &"x".repeat(10_000))));
    put(&mut victim, "append", times(40, json!({"append": {"field": "a", "value": ["{{{a}}}", "{{{a}}}"]}})));
    put(&mut victim, "set", times(40, json!({"set": {"field": "a", "value": "{{{a}}}{{{a}}}"}})));
    put(&mut victim, "copy", times(60, json!({"set": {"field": "b.b", "copy_from": "b"}})));
    put(&mut victim, "move", json!([{"set": {"field": "_index", "value": "../../x"}}]));
    put(&mut victim, "id", json!([{"set": {"field": "_id", "value": "x".repeat(600)}}]));
    let source = json!({"a": "a".repeat(1_000), "b": {"x": 1}}).to_string();
    for name in ["grow", "append", "set"] {
        victim.refused(&[400, 429], "PUT", &format!("/i/_doc/1?pipeline={name}"), &source);
    }
    for name in ["move", "id"] {
        victim.bad("PUT", &format!("/i/_doc/1?pipeline={name}"), &source);
    }
    let status = victim.send("PUT", "/i/_doc/1?pipeline=copy", &source).status;
    assert!(matches!(status, 201 | 400), "{status}");
}

#[test]
fn patterns() {
    let mut victim = Victim::start();
    let bomb = "a".repeat(30_000);
    for (name, processor) in [
        ("gsub", json!({"gsub": {"field": "a", "pattern": "(a*)*b", "replacement": "$0$0"}})),
        ("grok", json!({"grok": {"field": "a", "patterns": ["(?:%{DATA}%{DATA}%{DATA})*x%{GREEDYDATA}y"]}})),
        ("plus", json!({"grok": {"field": "a", "patterns": ["(a+a+)+y"]}})),
        ("reference", json!({"grok": {"field": "a", "patterns": ["(a|a?)+\\1(?=b)(?<!c)$"]}})),
        ("split", json!({"split": {"field": "a", "separator": "(a+)+$"}})),
        ("pieces", json!({"split": {"field": "a", "separator": ""}})),
    ] {
        put(&mut victim, name, json!([processor]));
        let start = Instant::now();
        let status =
            victim.send("PUT", &format!("/i/_doc/1?pipeline={name}"), json!({"a": bomb}).to_string()).status;
        assert!(matches!(status, 200 | 201 | 400), "{name}: {status}");
        assert!(start.elapsed() < Duration::from_secs(10), "{name}: {:?}", start.elapsed());
    }
    let doubled: serde_json::Map<String, Value> = (0..40)
        .map(|n| (format!("A{n}"), json!(format!("%{{A{0}}}%{{A{0}}}", n + 1))))
        .chain([("A40".into(), json!("x"))])
        .collect();
    for grok in [
        json!({"field": "a", "patterns": ["%{A}"], "pattern_definitions": {"A": "%{B}", "B": "%{A}"}}),
        json!({"field": "a", "patterns": ["%{A0}"], "pattern_definitions": doubled}),
        json!({"field": "a", "patterns": ["(".repeat(2_000) + &")".repeat(2_000)]}),
    ] {
        victim.bad("PUT", "/_ingest/pipeline/x", json!({"processors": [{"grok": grok}]}).to_string());
    }
}
