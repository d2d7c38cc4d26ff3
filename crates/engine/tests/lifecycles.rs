//! Tests lifecycle policies on a whole node, with a clock that the test advances.

mod common;

use std::path::Path;
use std::sync::Arc;

use common::*;
use limber_engine::environment::{Environment, ManualClock, SystemRandomness};
use limber_engine::*;
use limber_mapping::ErrorClass;
use limber_store::{Disk, FsDisk};
use serde_json::{Value, json};

const START_MS: u64 = 1_700_000_000_000;
const DAY_MS: u64 = 86_400_000;

fn open_at(path: &Path, clock: &Arc<ManualClock>) -> Arc<Node> {
    let disk: Arc<dyn Disk> = Arc::new(FsDisk::open(path).expect("a folder"));
    let environment = Environment { clock: clock.clone(), randomness: Arc::new(SystemRandomness), disk };
    Node::open_with(config(path), environment).expect("opens")
}

fn template(node: &Node, settings: Value) {
    let body = json!({"index_patterns": ["logs-*"], "data_stream": {}, "template": {"settings": settings}});
    node.put_index_template("t", &body, false).expect("a template");
}

fn add(node: &Node, stream: &str, source: &[u8]) -> Arc<str> {
    let operation = BulkOperation::new(OperationKind::Create, stream, source);
    let written = write(node, operation).expect("written");
    node.refresh(stream, IndicesOptions::BROADCAST).expect("refreshed");
    written.index
}

fn explain(node: &Node, index: &str) -> Value {
    let all = node
        .explain_lifecycles(index, IndicesOptions::METADATA, ExplainFilter::default())
        .expect("explained");
    all["indices"][index].clone()
}

/// Returns phase, action and step of an index.
fn place(node: &Node, index: &str) -> String {
    let shown = explain(node, index);
    let part = |key: &str| shown[key].as_str().unwrap_or("-").to_owned();
    format!("{}/{}/{}", part("phase"), part("action"), part("step"))
}

fn exists(node: &Node, name: &str) -> bool {
    node.index_exists(name, IndicesOptions::METADATA).expect("asked")
}

#[test]
fn a_stream_rolls_over_merges_and_ages_away() {
    let folder = tempfile::tempdir().expect("tempdir");
    let clock = Arc::new(ManualClock::at(START_MS));
    let node = open_at(folder.path(), &clock);
    let policy = json!({"policy": {"phases": {
        "hot": {"actions": {"set_priority": {"priority": 100}, "rollover": {"max_docs": 2}}},
        "warm": {"min_age": "1d", "actions": {"readonly": {}, "forcemerge": {"max_num_segments": 1}, "set_priority": {"priority": 50}}},
        "delete": {"min_age": "3d", "actions": {"delete": {}}},
    }}});
    node.put_policy("p", &policy).expect("a policy");
    template(&node, json!({"number_of_replicas": 0, "index.lifecycle.name": "p"}));
    let first = add(&node, "logs-a", br#"{"@timestamp": 1}"#);
    node.lifecycle_round();
    assert_eq!(place(&node, &first), "hot/rollover/check-rollover-ready");
    let setting = |index: &str, key: &str| {
        node.get_index(index, IndicesOptions::METADATA).expect("there").remove(0).settings[key].clone()
    };
    assert_eq!(setting(&first, "index.priority"), "100");
    add(&node, "logs-a", br#"{"@timestamp": 2}"#);
    clock.advance_ms(DAY_MS / 2);
    node.lifecycle_round();
    assert_eq!(place(&node, &first), "hot/complete/complete");
    assert_eq!(setting(&first, "index.lifecycle.indexing_complete"), "true");
    let second = add(&node, "logs-a", br#"{"@timestamp": 3}"#);
    assert!(second.ends_with("-000002"));
    // The age counts from the rollover and not from the creation.
    clock.advance_ms(DAY_MS - 1);
    node.lifecycle_round();
    assert_eq!(place(&node, &first), "hot/complete/complete");
    drop(node);
    let node = open_at(folder.path(), &clock);
    clock.advance_ms(1);
    node.lifecycle_round();
    assert_eq!(place(&node, &first), "warm/complete/complete");
    let shown = explain(&node, &first);
    assert_eq!(shown["lifecycle_date_millis"], START_MS + DAY_MS / 2);
    assert_eq!(shown["age"], "1d");
    assert_eq!(shown["phase_execution"]["phase_definition"]["min_age"], "1d");
    let setting = |index: &str, key: &str| {
        node.get_index(index, IndicesOptions::METADATA).expect("there").remove(0).settings[key].clone()
    };
    assert_eq!(setting(&first, "index.blocks.write"), "true");
    assert_eq!(setting(&first, "index.priority"), "50");
    assert_eq!(setting(&first, "index.routing.allocation.include._tier_preference"), "data_warm,data_hot");
    let segments = node.segments(&first, IndicesOptions::BROADCAST).expect("shown");
    assert_eq!(segments["indices"][&*first]["shards"]["0"][0]["num_search_segments"], 1);
    clock.advance_ms(2 * DAY_MS);
    node.lifecycle_round();
    assert!(!exists(&node, &first) && exists(&node, &second));
}

#[test]
fn an_index_rolls_over_by_its_alias() {
    let folder = tempfile::tempdir().expect("tempdir");
    let clock = Arc::new(ManualClock::at(START_MS));
    let node = open_at(folder.path(), &clock);
    let policy = json!({"policy": {"phases": {"hot": {"actions": {"rollover": {"max_age": "7d"}}}}}});
    node.put_policy("p", &policy).expect("a policy");
    let settings =
        json!({"index.lifecycle.name": "p", "index.lifecycle.rollover_alias": "x", "number_of_replicas": 0});
    let body = json!({"index_patterns": ["x-*"], "template": {"settings": settings}});
    node.put_index_template("t", &body, false).expect("a template");
    node.create_index("x-000001", &json!({"aliases": {"x": {"is_write_index": true}}})).expect("made");
    clock.advance_ms(7 * DAY_MS);
    node.lifecycle_round();
    // An empty index is not rolled over.
    assert_eq!(place(&node, "x-000001"), "hot/rollover/check-rollover-ready");
    write(&node, index("x", "1", b"{}")).expect("written");
    node.refresh("x", IndicesOptions::BROADCAST).expect("refreshed");
    node.lifecycle_round();
    assert_eq!(place(&node, "x-000001"), "hot/complete/complete");
    assert!(exists(&node, "x-000002"));
    // Without the alias the step fails, and is retried.
    node.create_index("x-lost", &json!({})).expect("made");
    write(&node, index("x-lost", "1", b"{}")).expect("written");
    node.lifecycle_round();
    let shown = explain(&node, "x-lost");
    assert_eq!((&shown["step"], &shown["failed_step"]), (&json!("ERROR"), &json!("check-rollover-ready")));
    assert_eq!(
        shown["step_info"]["reason"],
        "index.lifecycle.rollover_alias [x] does not point to index [x-lost]"
    );
    node.retry_lifecycles("x-lost").expect("tried");
    assert_eq!(explain(&node, "x-lost")["failed_step_retry_count"], 1);
    assert!(node.stagnating_indices().is_empty());
    (0..100).for_each(|_| node.lifecycle_round());
    assert_eq!(node.stagnating_indices(), ["x-lost"]);
    assert_eq!(node.remove_lifecycles("x-lost").expect("removed")["has_failures"], false);
    assert_eq!(explain(&node, "x-lost"), json!({"index": "x-lost", "managed": false}));
}

#[test]
fn replicas_and_write_indices_are_waited_for() {
    let folder = tempfile::tempdir().expect("tempdir");
    let clock = Arc::new(ManualClock::at(START_MS));
    let node = open_at(folder.path(), &clock);
    let policy = json!({"policy": {"phases": {"warm": {"actions": {"allocate": {"number_of_replicas": 1}, "forcemerge": {"max_num_segments": 1}}}}}});
    node.put_policy("p", &policy).expect("a policy");
    node.create_index("i", &json!({"settings": {"index.lifecycle.name": "p", "number_of_replicas": 0}}))
        .expect("made");
    node.lifecycle_round();
    assert_eq!(place(&node, "i"), "warm/allocate/check-allocation");
    assert_eq!(explain(&node, "i")["step_info"]["number_of_replicas"], 1);
    // The phase continues with the actions that it began with, but with their new parameters.
    let policy = json!({"policy": {"phases": {"warm": {"actions": {"allocate": {"number_of_replicas": 0}, "forcemerge": {"max_num_segments": 1}}}}}});
    node.put_policy("p", &policy).expect("a policy");
    let body = json!({"index": {"number_of_replicas": 0}});
    node.put_settings("i", IndicesOptions::METADATA, &body, false).expect("set");
    node.lifecycle_round();
    assert_eq!(place(&node, "i"), "warm/complete/complete");
    assert_eq!(explain(&node, "i")["phase_execution"]["version"], 2);
    template(&node, json!({"index.lifecycle.name": "p", "number_of_replicas": 0}));
    let written = add(&node, "logs-a", br#"{"@timestamp": 1}"#);
    node.lifecycle_round();
    assert_eq!(place(&node, &written), "warm/forcemerge/check-not-write-index");
    node.rollover("logs-a", &RolloverRequest::default()).expect("rolled over");
    node.lifecycle_round();
    assert_eq!(place(&node, &written), "warm/complete/complete");
}

#[test]
fn policies_come_and_go() {
    let folder = tempfile::tempdir().expect("tempdir");
    let clock = Arc::new(ManualClock::at(START_MS));
    let node = open_at(folder.path(), &clock);
    let policy = json!({"policy": {"phases": {"delete": {"min_age": "1d", "actions": {"delete": {}}}}, "_meta": {"a": 1}}});
    node.put_policy("p", &policy).expect("a policy");
    node.put_policy("p", &policy).expect("a policy");
    template(&node, json!({"index.lifecycle.name": "p", "number_of_replicas": 0}));
    let index = add(&node, "logs-a", br#"{"@timestamp": 1}"#);
    drop(node);
    let node = open_at(folder.path(), &clock);
    let shown = node.get_policies("p").expect("there");
    assert_eq!(shown["p"]["version"], 2);
    assert_eq!(shown["p"]["modified_date"], "2023-11-14T22:13:20.000Z");
    assert_eq!(
        shown["p"]["in_use_by"],
        json!({"indices": [&*index], "data_streams": ["logs-a"], "composable_templates": ["t"]})
    );
    let error = node.delete_policy("p").expect_err("in use");
    assert_eq!(
        error.reason,
        format!("Cannot delete policy [p]. It is in use by one or more indices: [{index}]")
    );
    node.stop_lifecycles().expect("stopped");
    assert_eq!(node.lifecycle_mode(), "STOPPING");
    node.start_lifecycles().expect("started");
    clock.advance_ms(DAY_MS);
    node.lifecycle_round();
    // Deleting the last index of a data stream deletes the stream.
    assert!(!exists(&node, &index));
    assert_eq!(
        node.get_data_streams("*", IndicesOptions::METADATA, false).expect("none")["data_streams"],
        json!([])
    );
    node.delete_policy("p").expect("deleted");
    let error = node.get_policies("p").expect_err("gone");
    assert_eq!((error.class, error.reason.as_str()), (ErrorClass::NotFound, "Lifecycle policy not found: p"));
    // An index may name a policy that does not exist (yet).
    node.create_index("early", &json!({"settings": {"index.lifecycle.name": "p"}})).expect("made");
    node.lifecycle_round();
    assert_eq!(explain(&node, "early")["step_info"]["reason"], "policy [p] does not exist");
}

#[test]
fn a_stream_keeps_its_documents_as_long_as_its_lifecycle_says() {
    let folder = tempfile::tempdir().expect("tempdir");
    let clock = Arc::new(ManualClock::at(START_MS));
    let node = open_at(folder.path(), &clock);
    let component = json!({"template": {"lifecycle": {"data_retention": "10d"}}});
    node.put_component_template("kept", &component, false).expect("a template");
    let body = json!({"index_patterns": ["logs-*"], "composed_of": ["kept"], "priority": 1});
    let error = node.put_index_template("plain", &body, false).expect_err("no stream to keep");
    assert!(error.reason.contains("can only be used in combination with a data stream"), "{error}");
    let template = |lifecycle: Value| {
        json!({
            "index_patterns": ["logs-*"], "data_stream": {}, "composed_of": ["kept"],
            "template": {"settings": {"number_of_replicas": 0}, "lifecycle": lifecycle},
        })
    };
    node.put_index_template("t", &template(json!({"data_retention": "2d"})), false).expect("a template");
    let first = add(&node, "logs-a", br#"{"@timestamp": 1}"#);
    let shown = |name: &str| {
        node.get_stream_lifecycles(name, IndicesOptions::METADATA, true).expect("shown")["data_streams"][0]
            .clone()
    };
    let lifecycle = &shown("logs-a")["lifecycle"];
    assert_eq!(
        (&lifecycle["data_retention"], &lifecycle["rollover"]["max_age"]),
        (&json!("2d"), &json!("1d"))
    );
    node.stream_lifecycle_round();
    assert_eq!(node.resolve("logs-a", IndicesOptions::SEARCH).expect("one").len(), 1);
    clock.advance_ms(DAY_MS);
    node.stream_lifecycle_round();
    let second = node.resolve("logs-a", IndicesOptions::SEARCH).expect("two")[1].name.clone();
    // An empty index is kept, however old it is. Retention counts from the rollover.
    clock.advance_ms(2 * DAY_MS - 1);
    drop(node);
    let node = open_at(folder.path(), &clock);
    node.stream_lifecycle_round();
    assert!(exists(&node, &first));
    let explained =
        node.explain_stream_lifecycles("logs-a", IndicesOptions::METADATA, false).expect("explained");
    assert_eq!(explained["indices"][&*first]["rollover_date_millis"], START_MS + DAY_MS);
    assert_eq!(explained["indices"][&*second]["managed_by_lifecycle"], true);
    clock.advance_ms(1);
    node.stream_lifecycle_round();
    assert!(!exists(&node, &first) && exists(&node, &second));
    // Without a lifecycle, or with a disabled one, nothing happens.
    let off = json!({"enabled": false, "data_retention": "1h"});
    node.put_stream_lifecycle("logs-*", IndicesOptions::METADATA, &off).expect("put");
    add(&node, "logs-a", br#"{"@timestamp": 2}"#);
    clock.advance_ms(40 * DAY_MS);
    node.stream_lifecycle_round();
    assert_eq!(node.resolve("logs-a", IndicesOptions::SEARCH).expect("one").len(), 1);
    node.delete_stream_lifecycle("logs-a", IndicesOptions::METADATA).expect("deleted");
    let left = node.get_stream_lifecycles("logs-a", IndicesOptions::METADATA, false).expect("shown");
    assert_eq!(left["data_streams"], json!([{"name": "logs-a"}]));
}

#[test]
fn a_policy_goes_before_a_lifecycle_unless_it_is_not_preferred() {
    let folder = tempfile::tempdir().expect("tempdir");
    let clock = Arc::new(ManualClock::at(START_MS));
    let node = open_at(folder.path(), &clock);
    let policy = json!({"policy": {"phases": {"hot": {"actions": {"rollover": {"max_docs": 1}}}}}});
    node.put_policy("p", &policy).expect("a policy");
    for (stream, prefers, managing) in
        [("logs-a", "true", "Index Lifecycle Management"), ("logs-b", "false", "Data stream lifecycle")]
    {
        let settings = json!({"index.lifecycle.name": "p", "index.lifecycle.prefer_ilm": prefers, "number_of_replicas": 0});
        let body = json!({
            "index_patterns": [stream], "data_stream": {}, "template": {"settings": settings, "lifecycle": {}},
        });
        node.put_index_template(stream, &body, false).expect("a template");
        add(&node, stream, br#"{"@timestamp": 1}"#);
        let shown = node.get_data_streams(stream, IndicesOptions::METADATA, false).expect("shown");
        let shown = &shown["data_streams"][0];
        assert_eq!(
            (&shown["indices"][0]["managed_by"], &shown["next_generation_managed_by"]),
            (&json!(managing), &json!(managing))
        );
    }
    node.lifecycle_round();
    let count = |stream: &str| node.resolve(stream, IndicesOptions::SEARCH).expect("there").len();
    assert_eq!((count("logs-a"), count("logs-b")), (2, 1));
}

#[test]
fn an_index_is_moved_to_a_step() {
    let folder = tempfile::tempdir().expect("tempdir");
    let clock = Arc::new(ManualClock::at(START_MS));
    let node = open_at(folder.path(), &clock);
    let phases = json!({
        "hot": {"actions": {"set_priority": {"priority": 3}}},
        "warm": {"min_age": "30d", "actions": {"readonly": {}, "set_priority": {"priority": 2}}},
    });
    node.put_policy("p", &json!({"policy": {"phases": phases}})).expect("a policy");
    node.create_index("i", &json!({"settings": {"index.lifecycle.name": "p"}})).expect("created");
    node.lifecycle_round();
    assert_eq!(place(&node, "i"), "hot/complete/complete");
    let moves = |next: Value| {
        let now = json!({"phase": "hot", "action": "complete", "name": "complete"});
        node.move_to_step("i", &json!({"current_step": now, "next_step": next}))
    };
    for next in [
        json!({"phase": "cold"}),
        json!({"phase": "warm", "action": "shrink"}),
        json!({"phase": "warm", "action": "readonly", "name": "no"}),
    ] {
        let error = moves(next).expect_err("no such step");
        assert!(error.reason.ends_with("for index [i] with policy [p] does not exist"), "{error}");
    }
    moves(json!({"phase": "warm", "action": "readonly", "name": "readonly"})).expect("moved");
    // It continued from there, until a step waits for a node of the next tier.
    assert_eq!(place(&node, "i"), "warm/migrate/check-migration");
    let shown = node.get_index("i", IndicesOptions::METADATA).expect("an index");
    assert!(
        Value::Object(shown[0].settings.clone()).to_string().contains("write"),
        "{:?}",
        shown[0].settings
    );
    assert!(moves(json!({"phase": "warm"})).is_err(), "it is there no more");
}

#[test]
fn a_policy_that_cannot_be_read_any_more_stays_stored_and_stops_no_start() {
    let folder = tempfile::tempdir().expect("tempdir");
    let clock = Arc::new(ManualClock::at(START_MS));
    let node = open_at(folder.path(), &clock);
    let policy = json!({"policy": {"phases": {"warm": {"actions": {"readonly": {}}}}}});
    node.put_policy("known", &policy).expect("put");
    node.put_policy("strange", &policy).expect("put");
    node.create_index("i", &json!({"settings": {"index.lifecycle.name": "strange"}})).expect("created");
    node.close();
    drop(node);
    let file = folder.path().join("state/node.json");
    let stored = |edit: &dyn Fn(&mut Value)| -> Value {
        let text = std::fs::read_to_string(&file).expect("reads");
        let (first, body) = text.split_once('\n').expect("two lines");
        let mut state: Value = serde_json::from_str(body).expect("JSON");
        edit(&mut state["policies"]);
        let (body, version) = (state.to_string(), first.split(' ').nth(1).expect("a version").to_owned());
        let crc = limber_codec::checksum::crc32(body.as_bytes());
        std::fs::write(&file, format!("limber-node {version} {crc:08x} {}\n{body}", body.len()))
            .expect("writes");
        state["policies"].clone()
    };
    // An action that this build does not know.
    stored(&|policies| policies["strange"]["policy"]["phases"]["warm"]["actions"] = json!({"unheard": {}}));
    let node = open_at(folder.path(), &clock);
    assert!(node.get_policies("known").is_ok());
    assert_eq!(node.get_policies("strange").expect_err("unknown").class, ErrorClass::NotFound);
    node.lifecycle_round();
    assert!(write(&node, index("i", "1", b"{}")).is_ok(), "nothing was done to the index");
    node.put_policy("another", &policy).expect("put");
    node.delete_policy("known").expect("deleted");
    let kept = stored(&|_| {});
    let names: Vec<&String> = kept.as_object().expect("policies").keys().collect();
    assert_eq!(names, ["strange", "another"]);
    assert_eq!(kept["strange"]["policy"]["phases"]["warm"]["actions"], json!({"unheard": {}}));
    node.put_policy("strange", &policy).expect("put anew");
    node.lifecycle_round();
    assert!(write(&node, index("i", "2", b"{}")).is_err(), "it is read-only by its policy");
}

#[test]
fn retention_minds_blocks_and_managers_and_each_index_alone() {
    let folder = tempfile::tempdir().expect("tempdir");
    let clock = Arc::new(ManualClock::at(START_MS));
    let node = open_at(folder.path(), &clock);
    template(&node, json!({"number_of_replicas": 0}));
    let first = add(&node, "logs-a", br#"{"@timestamp": 1}"#);
    node.rollover("logs-a", &RolloverRequest::default()).expect("rolled over");
    let second = add(&node, "logs-a", br#"{"@timestamp": 2}"#);
    node.rollover("logs-a", &RolloverRequest::default()).expect("rolled over");
    let third = add(&node, "logs-a", br#"{"@timestamp": 3}"#);
    let lifecycle = json!({"data_retention": "1d"});
    node.put_stream_lifecycle("logs-a", IndicesOptions::METADATA, &lifecycle).expect("put");
    node.add_block(&first, IndicesOptions::METADATA, "metadata").expect("blocked");
    clock.advance_ms(2 * DAY_MS);
    node.stream_lifecycle_round();
    let there = [&first, &second, &third].map(|name| {
        let all = node.get_index(name, IndicesOptions::LENIENT).expect("asked");
        !all.is_empty()
    });
    // The one that is blocked stays, and does not keep the next one.
    assert_eq!(there, [true, false, true]);
    node.stream_lifecycle_round();
    let failing = node.failing_backing_indices().expect("two rounds");
    let since = START_MS + 2 * DAY_MS;
    assert_eq!(
        failing,
        [json!({"index_name": &*first, "first_occurrence_timestamp": since, "retry_count": 1})]
    );
    assert_eq!(node.stream_lifecycle_stats(false)["data_streams"][0]["backing_indices_in_error"], 1);
}
