//! Tests transforms on a whole node, with a clock that the test advances.

mod common;

use std::sync::Arc;

use common::*;
use limber_engine::environment::{Environment, ManualClock, SystemRandomness};
use limber_engine::*;
use limber_store::{Disk, FsDisk};
use serde_json::json;

const START_MS: u64 = 1_700_000_000_000;

/// Lets two minutes pass, runs what is due, and waits for its end.
fn run(node: &Arc<Node>, clock: &ManualClock) {
    clock.advance_ms(120_000);
    node.transform_tick();
    while node.is_transforming("t").expect("an answer") {
        std::thread::yield_now();
    }
}

#[test]
fn documents_that_become_visible_later_are_included() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(ManualClock::at(START_MS));
    let disk: Arc<dyn Disk> = Arc::new(FsDisk::open(folder.path()).expect("a folder"));
    let environment = Environment { clock: clock.clone(), randomness: Arc::new(SystemRandomness), disk };
    let node = Node::open_with(config(folder.path()), environment).expect("opens");
    let properties = json!({"k": {"type": "keyword"}, "v": {"type": "long"}, "t": {"type": "date"}});
    let body = json!({"settings": {"refresh_interval": "-1"}, "mappings": {"properties": properties}});
    node.create_index("source", &body).expect("created");
    let add = |id: &str| {
        let source = json!({"k": id, "v": 1, "t": START_MS}).to_string();
        write(&node, index("source", id, source.as_bytes())).expect("written");
    };
    let made = || search(&node, "made", json!({"match_all": {}})).len();
    add("a");
    node.refresh("source", IndicesOptions::BROADCAST).expect("refreshed");
    let config = json!({
        "source": {"index": "source"},
        "dest": {"index": "made"},
        "frequency": "1s",
        "sync": {"time": {"field": "t", "delay": "1s"}},
        "pivot": {"group_by": {"k": {"terms": {"field": "k"}}}, "aggregations": {"v": {"sum": {"field": "v"}}}},
    });
    node.put_transform("t", &config, false).expect("put");
    node.start_transform("t").expect("started");
    run(&node, &clock);
    assert_eq!(made(), 1);
    add("b");
    (0..3).for_each(|_| run(&node, &clock));
    assert_eq!(made(), 1, "searches do not see it yet");
    node.refresh("source", IndicesOptions::BROADCAST).expect("refreshed");
    run(&node, &clock);
    assert_eq!(made(), 2);
    let stats = node.transform_stats("t", true, (0, 1)).expect("statistics");
    let times = &stats["transforms"][0]["checkpointing"];
    assert!(times["changes_last_detected_at"].as_u64() > Some(START_MS), "a date: {times}");
    assert!(times["last_search_time"].as_u64() >= times["changes_last_detected_at"].as_u64(), "{times}");
}

#[test]
fn a_transform_goes_with_its_destination_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = open(folder.path());
    write(&node, index("source", "1", br#"{"k": "a"}"#)).expect("written");
    let config = json!({
        "source": {"index": "source"}, "dest": {"index": "made"},
        "pivot": {"group_by": {"k": {"terms": {"field": "k.keyword"}}}, "aggregations": {"n": {"value_count": {"field": "k.keyword"}}}},
    });
    let there = |node: &Node| {
        let index = node.index_exists("made", IndicesOptions::METADATA).expect("an answer");
        (node.get_transforms("t", true, false, (0, 10)).is_ok(), index)
    };
    node.put_transform("t", &config, false).expect("put");
    node.create_index("made", &json!({})).expect("created");
    node.add_block("made", IndicesOptions::METADATA, "read_only").expect("blocked");
    for error in [node.delete_transform("t", true, true), node.reset_transform("t", true)] {
        assert_eq!(error.expect_err("the destination is read-only").kind, "cluster_block_exception");
        assert_eq!(there(&node), (true, true));
    }
    node.remove_block("made", IndicesOptions::METADATA, "read_only").expect("lifted");
    node.reset_transform("t", true).expect("reset");
    assert_eq!(there(&node), (true, false));
    node.create_index("made", &json!({})).expect("created");
    node.delete_transform("t", false, true).expect("deleted");
    assert_eq!(there(&node), (false, false));
    node.put_transform("t", &config, false).expect("put");
    node.delete_transform("t", false, true).expect("deleted without a destination");
    drop(node);
    assert_eq!(there(&open(folder.path())), (false, false));
}
