//! Tests `_clone`, `_shrink` and `_split`: the target contains every document of its source, or there is no
//! target.

mod common;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use common::{get, index, open, open_on, write};
use limber_engine::*;
use limber_store::CrashDisk;
use serde_json::json;

/// Documents in the source. Half of them are refreshed.
const COUNT: usize = 8;

fn fill(node: &Node) -> Result<()> {
    node.create_index("from", &json!({"settings": {"number_of_shards": 2, "number_of_replicas": 0}}))?;
    for number in 0..COUNT {
        let (id, source) = (number.to_string(), json!({"n": number}).to_string());
        write(node, index("from", &id, source.as_bytes()))?;
        if number == COUNT / 2 {
            node.refresh("from", IndicesOptions::BROADCAST)?;
        }
    }
    let block = json!({"index.blocks.write": true});
    node.put_settings("from", IndicesOptions::METADATA_OPEN_CLOSED, &block, false).map(drop)
}

fn resize(node: &Arc<Node>, kind: Resize, shards: u32) -> Result<()> {
    let body = json!({"settings": {"index.number_of_shards": shards, "index.blocks.write": null}});
    let copies = ActiveCopies::Number(1);
    node.resize(kind, ("from", "to"), &body, copies, Arc::new(AtomicBool::new(false))).map(drop)
}

/// Returns how many of the source's documents the target contains.
fn copied(node: &Node) -> usize {
    (0..COUNT).filter(|number| get(node, "to", &number.to_string()).is_some()).count()
}

#[test]
fn documents_that_were_not_refreshed_are_copied() {
    for (kind, shards) in [(Resize::Clone, 2), (Resize::Shrink, 1), (Resize::Split, 4)] {
        let folder = tempfile::tempdir().expect("a folder");
        let node = open(folder.path());
        fill(&node).expect("a source");
        resize(&node, kind, shards).expect("a target");
        assert_eq!(copied(&node), COUNT, "{kind:?}");
    }
}

#[test]
fn a_target_is_whole_or_not_there_wherever_the_power_goes() {
    let calls = {
        let disk = CrashDisk::new(1);
        let node = open_on(&disk, 1).expect("opens");
        fill(&node).expect("a source");
        let before = disk.all_call_count();
        resize(&node, Resize::Split, 4).expect("a target");
        disk.all_call_count() - before
    };
    let (mut whole, mut absent) = (0, 0);
    for call in (0..calls).step_by(3).chain(calls - 3..calls + 2) {
        let disk = CrashDisk::new(call);
        let node = open_on(&disk, 1).expect("opens");
        fill(&node).expect("a source");
        disk.power_off_at(call);
        let acknowledged = resize(&node, Resize::Split, 4).is_ok();
        drop(node);
        disk.power_off();
        disk.crash();
        let node = open_on(&disk, 2).expect("opens again");
        match node.index_exists("to", IndicesOptions::METADATA).expect("an answer") {
            true => {
                assert_eq!(copied(&node), COUNT, "the power went at call {call}");
                whole += 1;
            }
            false => {
                assert!(!acknowledged, "an acknowledged target is gone after call {call}");
                absent += 1;
            }
        }
    }
    assert!(whole > 0 && absent > 0, "{whole} whole, {absent} absent");
}

#[test]
fn a_resize_that_is_cancelled_leaves_no_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = open(folder.path());
    fill(&node).expect("a source");
    let body = json!({"settings": {"index.blocks.write": null}});
    let cancelled = Arc::new(AtomicBool::new(true));
    let refused = node
        .resize(Resize::Clone, ("from", "to"), &body, ActiveCopies::Number(1), cancelled)
        .expect_err("cancelled");
    assert_eq!(refused.kind, "task_cancelled_exception");
    assert!(!node.index_exists("to", IndicesOptions::METADATA).expect("an answer"));
}

#[test]
fn what_was_copied_is_durable_whatever_the_target_promises_for_writes() {
    let disk = CrashDisk::new(5);
    let node = open_on(&disk, 1).expect("opens");
    fill(&node).expect("a source");
    let body = json!({"settings": {"index.translog.durability": "async", "index.blocks.write": null}});
    node.resize(
        Resize::Clone,
        ("from", "to"),
        &body,
        ActiveCopies::Number(1),
        Arc::new(AtomicBool::new(false)),
    )
    .expect("a target");
    let made = node.get_index("to", IndicesOptions::METADATA).expect("there").remove(0);
    assert_eq!(made.settings["index.translog.durability"], "async");
    disk.power_off();
    drop(node);
    disk.crash();
    let node = open_on(&disk, 2).expect("opens again");
    assert_eq!(copied(&node), COUNT);
}

#[test]
fn templates_change_nothing_in_a_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = open(folder.path());
    fill(&node).expect("a source");
    node.put_pipeline("drop", &json!({"processors": [{"drop": {}}]})).expect("put");
    let template = json!({
        "index_patterns": ["to*"],
        "template": {"settings": {"index.default_pipeline": "drop"}, "aliases": {"also": {}}},
    });
    node.put_index_template("t", &template, false).expect("put");
    resize(&node, Resize::Clone, 2).expect("a target");
    assert_eq!(copied(&node), COUNT);
    let made = node.get_index("to", IndicesOptions::METADATA).expect("there").remove(0);
    assert!(made.aliases.is_empty() && made.settings.get("index.default_pipeline").is_none());
}
