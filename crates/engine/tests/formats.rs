//! Tests data folders of earlier formats: each stored one opens, is complete, and is upgraded by the first
//! change.
//!
//! A fixture is made once, with the code of its time:
//! `LIMBER_FIXTURE=<folder> cargo test -p limber-engine --test formats -- --ignored`.

mod common;

use std::path::Path;

use common::*;
use limber_engine::*;
use serde_json::json;

/// Fills an empty folder with some of everything that the node's state and the metadata of indices contain.
#[test]
#[ignore = "makes a fixture; see the head of this file"]
fn make_a_fixture() {
    let folder = std::env::var("LIMBER_FIXTURE").expect("LIMBER_FIXTURE names an empty folder");
    let node = open(Path::new(&folder));
    let body = json!({
        "settings": {"number_of_replicas": 0},
        "mappings": {"properties": {"n": {"type": "long"}}},
        "aliases": {"both": {}, "written": {"is_write_index": true}},
    });
    node.create_index("first", &body).expect("created");
    let body = json!({"settings": {"number_of_shards": 2, "number_of_replicas": 0}, "aliases": {"both": {}}});
    node.create_index("second", &body).expect("created");
    node.put_pipeline("tag", &json!({"processors": [{"set": {"field": "tag", "value": "x"}}]})).expect("put");
    let template = json!({
        "index_patterns": ["logs*"],
        "data_stream": {},
        "template": {"settings": {"number_of_replicas": 0}},
    });
    node.put_index_template("logs", &template, false).expect("put");
    node.create_data_stream("logs").expect("created");
    node.rollover("logs", &RolloverRequest::default()).expect("rolled over");
    node.put_policy("keep", &json!({"policy": {"phases": {"hot": {"actions": {}}}}})).expect("put");
    for n in 0..5 {
        let id = n.to_string();
        let source = json!({"n": n, "text": format!("number {n}")}).to_string();
        write(&node, index("first", &id, source.as_bytes())).expect("written");
        write(&node, index("second", &id, source.as_bytes())).expect("written");
    }
    node.close_index("second", IndicesOptions::METADATA).expect("closed");
    node.close();
}

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("made");
    for entry in std::fs::read_dir(from).expect("lists") {
        let entry = entry.expect("lists");
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copied(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).expect("copies")),
        }
    }
}

/// The fixture has files without checksums and no list of indices.
#[test]
fn a_folder_of_version_1_opens_and_is_upgraded_by_the_first_change() {
    let temporary = tempfile::tempdir().expect("tempdir");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/data-folder-1");
    copied(&fixture, temporary.path());
    let state_file = temporary.path().join("state/node.json");
    let begins_with = |text: &str| std::fs::read(&state_file).expect("reads").starts_with(text.as_bytes());
    let check = |node: &Node, documents: usize| {
        node.refresh("first", IndicesOptions::BROADCAST).expect("refreshed");
        assert_eq!(search(node, "first", json!({"match_all": {}})).len(), documents);
        let both = node.get_index("both", IndicesOptions::METADATA).expect("shown");
        assert_eq!(both.iter().map(|index| &*index.name).collect::<Vec<_>>(), ["first", "second"]);
        assert!(!both[1].open && both[0].aliases["written"]["is_write_index"] == true);
        let streams = node.get_data_streams("logs", IndicesOptions::METADATA, false).expect("shown");
        assert_eq!(streams["data_streams"][0]["indices"].as_array().map(Vec::len), Some(2));
        assert_eq!(node.get_pipelines("tag").expect("shown").len(), 1);
        assert!(node.get_policies("keep").is_ok() && node.get_index_templates("logs").is_ok());
    };
    assert!(begins_with("{\"format\":1"));
    let node = open(temporary.path());
    check(&node, 5);
    // A mapping update affects only one index. Its file is the first to be upgraded, while the state still
    // lists nothing.
    write(&node, index("first", "new", br#"{"n": 9, "more": "text"}"#)).expect("written");
    assert!(begins_with("{\"format\":1"));
    drop(node);
    let node = open(temporary.path());
    check(&node, 6);
    node.put_alias("first", "third", &json!({})).expect("put");
    assert!(begins_with("limber-node 2 "));
    node.open_index("second", IndicesOptions::METADATA).expect("opened");
    node.refresh("second", IndicesOptions::BROADCAST).expect("refreshed");
    assert_eq!(search(&node, "second", json!({"match_all": {}})).len(), 5);
    node.close_index("second", IndicesOptions::METADATA).expect("closed");
    drop(node);
    let node = open(temporary.path());
    check(&node, 6);
    node.close();
    drop(node);
    let report = check_data_folder(temporary.path()).expect("reads");
    assert_eq!(report.problem_count, 0, "{:#?}", report.lines);
}
