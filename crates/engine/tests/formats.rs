//! Data folders of earlier formats live on: each frozen one opens, is complete, and is upgraded by the first change.
//!
//! A fixture is made once, by the code of its time: `LIMBER_FIXTURE=<folder> cargo test -p limber-engine --test formats -- --ignored`.

mod common;

use std::path::Path;

use common::*;
use limber_engine::*;
use serde_json::json;

/// Fills an empty folder with a little of everything that the node's state and the metadata of indices hold.
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
