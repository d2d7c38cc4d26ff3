//! Tests data streams and rollovers on a whole node: what is written where, and what survives a restart or a
//! crash.

mod common;

use common::*;
use limber_engine::*;
use limber_mapping::ErrorClass;
use limber_store::{CrashDisk, Fault};
use serde_json::{Value, json};

fn template(node: &Node, name: &str, pattern: &str) {
    let body = json!({
        "index_patterns": [pattern], "data_stream": {},
        "template": {"settings": {"number_of_replicas": 0}, "mappings": {"properties": {"k": {"type": "keyword"}}}},
    });
    node.put_index_template(name, &body, false).expect("a template");
}

fn create<'a>(stream: &'a str, id: &'a str, source: &'a [u8]) -> BulkOperation<'a> {
    let mut operation = BulkOperation::new(OperationKind::Create, stream, source);
    operation.id = Some(id.into());
    operation
}

fn rollover(node: &Node, target: &str) -> Value {
    node.rollover(target, &RolloverRequest::default()).expect("rolled over")
}

/// Returns the generation and the indices of a data stream, without the dates in their names.
fn shape(node: &Node, stream: &str) -> (u64, Vec<String>) {
    let shown = node.get_data_streams(stream, IndicesOptions::METADATA, false).expect("there");
    let shown = &shown["data_streams"][0];
    let indices = shown["indices"].as_array().expect("a list").iter();
    let number = |index: &Value| {
        index["index_name"].as_str().and_then(|name| name.rsplit('-').next()).map(str::to_owned)
    };
    (shown["generation"].as_u64().expect("a number"), indices.filter_map(number).collect())
}

fn refused<T: std::fmt::Debug>(outcome: Result<T>, class: ErrorClass, reason: &str) {
    let error = outcome.expect_err(reason);
    assert_eq!((error.class, error.reason.as_str()), (class, reason));
}

#[test]
fn documents_go_to_the_newest_index_and_streams_survive_restarts() {
    let folder = tempfile::tempdir().expect("tempdir");
    let node = open(folder.path());
    template(&node, "t", "logs-*");
    // The first document creates the data stream.
    write(&node, create("logs-a", "1", br#"{"@timestamp": 1, "k": "x"}"#)).expect("written");
    rollover(&node, "logs-a");
    let second = write(&node, create("logs-a", "2", br#"{"@timestamp": 2}"#)).expect("written");
    assert!(second.index.starts_with(".ds-logs-a-") && second.index.ends_with("-000002"));
    node.update_aliases(
        &json!({"actions": [{"add": {"index": "logs-a", "alias": "all", "filter": {"term": {"k": "x"}}}}]}),
    )
    .expect("an alias");
    drop(node);
    let node = open(folder.path());
    assert_eq!(shape(&node, "logs-a"), (2, vec!["000001".into(), "000002".into()]));
    node.refresh("logs-a", IndicesOptions::BROADCAST).expect("refreshed");
    assert_eq!(search(&node, "logs-a", json!({"match_all": {}})).len(), 2);
    assert_eq!(search(&node, "logs-*", json!({"match_all": {}})).len(), 2);
    assert_eq!(search(&node, "all", json!({"match_all": {}})).len(), 1);
    // An old index can be deleted, but not the write index.
    let indices = node.resolve("logs-a", IndicesOptions::SEARCH).expect("two");
    refused(
        node.delete_index(&indices[1].name, IndicesOptions::DELETE),
        ErrorClass::BadRequest,
        &format!(
            "index [{}] is the write index for data stream [logs-a] and cannot be deleted",
            indices[1].name
        ),
    );
    node.delete_index(&indices[0].name, IndicesOptions::DELETE).expect("deleted");
    assert_eq!(shape(&node, "logs-a").1, ["000002"]);
    drop(node);
    let node = open(folder.path());
    assert_eq!(shape(&node, "logs-a").1, ["000002"]);
    node.delete_data_streams("logs-*", IndicesOptions::METADATA).expect("deleted");
    drop(node);
    let node = open(folder.path());
    let all = IndicesOptions { expand_hidden: true, ..IndicesOptions::METADATA_OPEN_CLOSED };
    assert_eq!(node.resolve("*", all).expect("nothing").len(), 0);
    assert_eq!(node.get_data_streams("*", all, false).expect("none")["data_streams"], json!([]));
}

#[test]
fn only_new_documents_go_into_a_stream() {
    let folder = tempfile::tempdir().expect("tempdir");
    let node = open(folder.path());
    template(&node, "t", "logs-*");
    let only_create = "only write ops with an op_type of create are allowed in data streams";
    refused(write(&node, index("logs-a", "1", br#"{"@timestamp": 1}"#)), ErrorClass::BadRequest, only_create);
    refused(write(&node, delete("logs-a", "1")), ErrorClass::BadRequest, only_create);
    refused(write(&node, update("logs-a", "1", br#"{"doc": {}}"#)), ErrorClass::BadRequest, only_create);
    let written = write(&node, create("logs-a", "1", br#"{"@timestamp": 1}"#)).expect("written");
    let backing = written.index.to_string();
    refused(
        write(&node, create(&backing, "2", br#"{"@timestamp": 1}"#)),
        ErrorClass::BadRequest,
        "index request with op_type=create targeting backing indices is disallowed, target corresponding data stream [logs-a] instead",
    );
    refused(
        write(&node, index(&backing, "1", br#"{"@timestamp": 2}"#)),
        ErrorClass::BadRequest,
        "index request with op_type=index and no if_primary_term and if_seq_no set targeting backing indices is disallowed, target \
         corresponding data stream [logs-a] instead",
    );
    // Existing documents can be changed through their backing index.
    let mut changed = index(&backing, "1", br#"{"@timestamp": 3}"#);
    (changed.if_seq_no, changed.if_primary_term) = (Some(0), Some(1));
    assert_eq!(write(&node, changed).expect("written").outcome.identity.version, 2);
    let mut routed = create("logs-a", "3", br#"{"@timestamp": 1}"#);
    routed.routing = Some("r".into());
    let error = write(&node, routed).expect_err("no routing");
    assert!(error.reason.contains("[allow_custom_routing] setting was not enabled"), "{}", error.reason);
    let missing = node.get(&GetRequest::new("logs-a", "1")).expect_err("by its index alone");
    assert_eq!((missing.class, &missing.metadata["excluded_ds"]), (ErrorClass::NotFound, &json!("true")));
    for (source, what) in [
        (
            &br#"{"k": "x"}"#[..],
            "[1:10] failed to parse: data stream timestamp field [@timestamp] is missing",
        ),
        (
            br#"{"@timestamp": [1, 2]}"#,
            "[1:22] failed to parse: data stream timestamp field [@timestamp] encountered multiple values",
        ),
        (
            br#"{"@timestamp": null}"#,
            "[1:20] failed to parse: data stream timestamp field [@timestamp] is missing",
        ),
    ] {
        refused(write(&node, create("logs-a", "4", source)), ErrorClass::BadRequest, what);
    }
}

#[test]
fn templates_make_streams() {
    let folder = tempfile::tempdir().expect("tempdir");
    let node = open(folder.path());
    refused(
        node.create_data_stream("none"),
        ErrorClass::BadRequest,
        "no matching index template found for data stream [none]",
    );
    node.put_index_template("plain", &json!({"index_patterns": ["plain*"]}), false).expect("a template");
    refused(
        node.create_data_stream("plain-1"),
        ErrorClass::BadRequest,
        "matching index template [plain] for data stream [plain-1] has no data stream template",
    );
    template(&node, "t", "logs-*");
    for (name, why) in [
        ("LOGS", "must be lowercase"),
        (".ds-x", "must not start with '.ds-'"),
        ("_x", "must not start with '_', '-', or '+'"),
    ] {
        refused(
            node.create_data_stream(name),
            ErrorClass::BadRequest,
            &format!("data_stream [{name}] {why}"),
        );
    }
    refused(
        node.create_index("logs-a", &json!({})).map(drop),
        ErrorClass::BadRequest,
        "cannot create index with name [logs-a], because it matches with template [t] that creates data streams only, use create data \
         stream api instead",
    );
    node.create_data_stream("logs-a").expect("made");
    refused(node.create_data_stream("logs-a"), ErrorClass::BadRequest, "data_stream [logs-a] already exists");
    let error = node.create_index("logs-a", &json!({})).expect_err("a stream has the name");
    assert!(error.reason.starts_with("cannot create index with name [logs-a]"), "{error}");
    refused(
        node.delete_index_template("t"),
        ErrorClass::BadRequest,
        "unable to remove composable templates [t] as they are in use by a data streams [logs-a]",
    );
    refused(
        node.put_index_template("over", &json!({"index_patterns": ["logs-*"], "priority": 9}), false),
        ErrorClass::BadRequest,
        "composable template [over] with index patterns [logs-*], priority [9] would cause data streams [logs-a] to no longer match a data \
         stream template",
    );
    let bad = |timestamp: Value, why: &str| {
        let body = json!({
            "index_patterns": ["bad*"], "data_stream": {}, "template": {"mappings": {"properties": {"@timestamp": timestamp}}},
        });
        let reason = format!("data stream timestamp field [@timestamp] {why}");
        let error = node.put_index_template("bad", &body, false).expect_err(why);
        assert_eq!(error.class, ErrorClass::BadRequest);
        let mut cause = &error;
        while let Some(deeper) = &cause.caused_by {
            cause = deeper;
        }
        assert_eq!(cause.reason, reason);
    };
    bad(json!({"type": "keyword"}), "is of type [keyword], but [date,date_nanos] is expected");
    bad(json!({"type": "date", "index": false}), "is not indexed");
    bad(json!({"type": "date", "doc_values": false}), "doesn't have doc values");
    bad(json!({"type": "date", "null_value": 0}), "has disallowed [null_value] attribute specified");
    bad(
        json!({"type": "date", "ignore_malformed": true}),
        "has disallowed [ignore_malformed] attribute specified",
    );
    bad(json!({"type": "date", "store": true}), "has disallowed attributes: [store]");
}

#[test]
fn indices_are_moved_in_and_out() {
    let folder = tempfile::tempdir().expect("tempdir");
    let node = open(folder.path());
    template(&node, "t", "logs-*");
    node.create_data_stream("logs-a").expect("made");
    rollover(&node, "logs-a");
    let mappings = json!({"mappings": {"properties": {"@timestamp": {"type": "date"}}}});
    node.create_index("old", &mappings).expect("an index");
    write(&node, index("old", "1", br#"{"@timestamp": 0}"#)).expect("written");
    let first = node.resolve("logs-a", IndicesOptions::SEARCH).expect("two")[0].name.to_string();
    let action = |kind: &str, index: &str| json!({kind: {"data_stream": "logs-a", "index": index}});
    let actions =
        json!({"actions": [action("add_backing_index", "old"), action("remove_backing_index", &first)]});
    node.modify_data_streams(&actions).expect("modified");
    assert_eq!(shape(&node, "logs-a"), (4, vec!["old".into(), "000002".into()]));
    let hidden = |name: &str| {
        let info = node.get_index(name, IndicesOptions::METADATA).expect("there").remove(0);
        (info.settings["index.hidden"].clone(), info.data_stream.is_some())
    };
    assert_eq!((hidden("old"), hidden(&first)), ((json!("true"), true), (json!("false"), false)));
    drop(node);
    let node = open(folder.path());
    assert_eq!(shape(&node, "logs-a"), (4, vec!["old".into(), "000002".into()]));
    let last = node.resolve("logs-a", IndicesOptions::SEARCH).expect("two")[0].name.to_string();
    refused(
        node.modify_data_streams(&json!({"actions": [action("remove_backing_index", &last)]})),
        ErrorClass::BadRequest,
        &format!(
            "cannot remove backing index [{last}] of data stream [logs-a] because it is the write index"
        ),
    );
    // Documents without a timestamp cannot be in a data stream.
    node.create_index("dateless", &json!({})).expect("an index");
    refused(
        node.modify_data_streams(&json!({"actions": [action("add_backing_index", "dateless")]})),
        ErrorClass::BadRequest,
        "data stream timestamp field [@timestamp] does not exist",
    );
}

#[test]
fn aliases_roll_over() {
    let folder = tempfile::tempdir().expect("tempdir");
    let node = open(folder.path());
    node.create_index("x-000001", &json!({"aliases": {"x": {"is_write_index": true}}})).expect("an index");
    node.create_index("y-9", &json!({"aliases": {"y": {"filter": {"term": {"k": "v"}}}}})).expect("an index");
    assert_eq!(rollover(&node, "x")["new_index"], "x-000002");
    assert_eq!(rollover(&node, "y")["new_index"], "y-000010");
    drop(node);
    let node = open(folder.path());
    let aliases = |name: &str| {
        Value::Object(node.get_index(name, IndicesOptions::METADATA).expect("there").remove(0).aliases)
    };
    assert_eq!(aliases("x-000001"), json!({"x": {"is_write_index": false}}));
    assert_eq!(aliases("x-000002"), json!({"x": {"is_write_index": true}}));
    assert_eq!(aliases("y-9"), json!({}));
    // As in Elasticsearch, the filter does not move.
    assert_eq!(aliases("y-000010"), json!({"y": {}}));
    write(&node, index("x", "1", br#"{"a": 1}"#)).expect("written");
    let mut request = RolloverRequest::parse(&json!({"conditions": {"max_docs": 2}})).expect("valid");
    let answer = node.rollover("x", &request).expect("judged");
    assert_eq!(
        (&answer["rolled_over"], &answer["conditions"]),
        (&json!(false), &json!({"[max_docs: 2]": false}))
    );
    request.dry_run = true;
    assert_eq!(node.rollover("x", &request).expect("judged")["dry_run"], true);
    refused(node.rollover("none", &request), ErrorClass::NotFound, "rollover target [none] does not exist");
    refused(
        node.rollover("y-9", &request),
        ErrorClass::BadRequest,
        "rollover target is a [concrete index] but one of [alias,data_stream] was expected",
    );
}

#[test]
fn a_lazy_rollover_waits_for_the_next_document() {
    let folder = tempfile::tempdir().expect("tempdir");
    let node = open(folder.path());
    template(&node, "t", "logs-*");
    node.create_data_stream("logs-a").expect("made");
    let mut request = RolloverRequest::default();
    request.lazy = true;
    let answer = node.rollover("logs-a", &request).expect("marked");
    assert_eq!(
        (&answer["acknowledged"], &answer["rolled_over"], &answer["lazy"]),
        (&json!(true), &json!(false), &json!(true))
    );
    assert_eq!(shape(&node, "logs-a").0, 1);
    write(&node, create("logs-a", "1", br#"{"@timestamp": 1}"#)).expect("written");
    assert_eq!(shape(&node, "logs-a").0, 2);
    write(&node, create("logs-a", "2", br#"{"@timestamp": 1}"#)).expect("written");
    assert_eq!(shape(&node, "logs-a").0, 2);
    // An operation that is refused and adds no document does not keep a later one from rolling over.
    node.rollover("logs-a", &request).expect("marked");
    let operations =
        [index("logs-a", "3", br#"{"@timestamp": 1}"#), create("logs-a", "4", br#"{"@timestamp": 1}"#)];
    let bulk = BulkRequest { operations: &operations, pipeline: None, refresh: RefreshPolicy::None };
    let answer = node.bulk(bulk).expect("an answer");
    assert!(answer.items[0].outcome.is_err() && answer.items[1].outcome.is_ok());
    assert_eq!(shape(&node, "logs-a").0, 3);
}

/// Creates a data stream, rolls it over, deletes its oldest index, and then the whole stream. Stops at the
/// first failure.
fn life_of_a_stream(node: &Node) -> Result<()> {
    node.create_data_stream("logs-a")?;
    node.rollover("logs-a", &RolloverRequest::default())?;
    node.rollover("logs-a", &RolloverRequest::default())?;
    let oldest = node.resolve("logs-a", IndicesOptions::SEARCH)?[0].name.clone();
    node.delete_index(&oldest, IndicesOptions::DELETE)?;
    node.delete_data_streams("logs-a", IndicesOptions::METADATA)
}

/// Cuts the power at any call to the disk: afterwards every data stream has all its indices, none of its
/// other indices remain, and it can be written to.
#[test]
fn a_crash_leaves_whole_streams() {
    let start = |disk: &CrashDisk, seed: u64| open_on(disk, seed).expect("opens");
    let disk = CrashDisk::new(1);
    let node = start(&disk, 1);
    template(&node, "t", "logs-*");
    let before = disk.call_count();
    life_of_a_stream(&node).expect("nothing fails");
    let calls = disk.call_count() - before;
    for call in (0..calls).step_by(3) {
        for fault in [Fault::Io, Fault::SyncLost] {
            let what = format!("{fault:?} at call {call}");
            let disk = CrashDisk::new(call);
            let node = start(&disk, call);
            template(&node, "t", "logs-*");
            disk.fail_call(call, fault);
            let _ = life_of_a_stream(&node);
            drop(node);
            disk.crash();
            let node = start(&disk, call + 1);
            let listed = node.get_data_streams("*", IndicesOptions::METADATA, false).expect("shown");
            let hidden = IndicesOptions { expand_hidden: true, ..IndicesOptions::METADATA };
            let indices = node.resolve("*", hidden).expect("resolved").len();
            let of_streams = listed["data_streams"].as_array().expect("a list").iter();
            let of_streams: usize =
                of_streams.map(|stream| stream["indices"].as_array().map_or(0, Vec::len)).sum();
            assert_eq!(indices, of_streams, "{what}: {listed}");
            let outcome = write(&node, create("logs-a", "9", br#"{"@timestamp": 1}"#));
            assert!(outcome.is_ok(), "{what}: {outcome:?}");
        }
    }
}

/// Cuts the power at any call: afterwards an alias has exactly one write index.
#[test]
fn a_crash_leaves_aliases_with_one_write_index() {
    for call in (0..120).step_by(2) {
        let disk = CrashDisk::new(call);
        let start = || open_on(&disk, call).expect("opens");
        let node = start();
        node.create_index("x-1", &json!({"aliases": {"x": {"is_write_index": true}}})).expect("made");
        node.create_index("y-1", &json!({"aliases": {"y": {}}})).expect("made");
        disk.fail_call(call, Fault::Io);
        let rolled = ["x", "y"]
            .iter()
            .try_for_each(|alias| node.rollover(alias, &RolloverRequest::default()).map(drop));
        drop((rolled, node));
        disk.crash();
        let node = start();
        for alias in ["x", "y"] {
            let outcome = write(&node, index(alias, "1", br#"{"a": 1}"#));
            assert!(outcome.is_ok(), "call {call}: {outcome:?}");
        }
    }
}
