//! Pairs of [`crate::together`] in which the node works for itself, because of a policy, beside a request.

use std::sync::Arc;
use std::time::Duration;

use limber_engine::*;
use limber_store::repository::MemoryBlobs;
use limber_store::sync;
use serde_json::{Value, json};

use crate::common::{get, index, search, write};
use crate::together::{Pair, both};

/// Groups of the transform's source; a page has [`PAGE`] of them.
const GROUPS: usize = 25;
const PAGE: usize = 10;

/// A transform that is started: its run has several pages.
fn transforming(node: &Arc<Node>) -> Result<()> {
    for number in 0..GROUPS {
        let source = json!({"k": format!("k{number}"), "v": number}).to_string();
        write(node, index("source", &number.to_string(), source.as_bytes()))?;
    }
    node.refresh("source", IndicesOptions::BROADCAST)?;
    put_transform(node, "made")?;
    node.start_transform("t")
}

fn put_transform(node: &Arc<Node>, destination: &str) -> Result<()> {
    let body = json!({
        "source": {"index": "source"},
        "dest": {"index": destination},
        "settings": {"max_page_search_size": PAGE},
        "pivot": {
            "group_by": {"k": {"terms": {"field": "k.keyword"}}},
            "aggregations": {"v": {"sum": {"field": "v"}}},
        },
    });
    node.put_transform("t", &body, false)
}

fn transform_tick(node: &Arc<Node>) -> Result<()> {
    node.transform_tick();
    Ok(())
}

/// A data stream of time series.
fn series(node: &Arc<Node>) -> Result<()> {
    let body = json!({"index_patterns": ["s"], "data_stream": {}, "template": {
        "settings": {"index.mode": "time_series"},
        "mappings": {"properties": {"host": {"type": "keyword", "time_series_dimension": true}}},
    }});
    node.put_index_template("s", &body, false)?;
    node.create_data_stream("s")
}

/// Adds a document that moves the end of the newest index, which was half an hour ahead.
fn add_late(node: &Arc<Node>) -> Result<()> {
    let source = json!({"@timestamp": 1_700_000_000_000u64 + 31 * 60_000, "host": "a"}).to_string();
    write(node, BulkOperation::new(OperationKind::Create, "s", source.as_bytes())).map(drop)
}

fn with_a_repository(node: &Arc<Node>) -> Result<()> {
    write(node, index("t", "1", b"{}"))?;
    node.put_repository_on("r", Arc::new(MemoryBlobs::default()))
}

/// Notes a number in a document.
fn note(node: &Node, what: &str, number: &Value) -> Result<()> {
    write(node, index("noted", what, json!({"number": number}).to_string().as_bytes())).map(drop)
}

fn noted(node: &Node, what: &str) -> Option<u64> {
    get(node, "noted", what)?.1["number"].as_u64()
}

fn put_snapshot_policy(node: &Arc<Node>, max_count: u64) -> Result<()> {
    let body = json!({
        "name": "snap", "schedule": "0 30 1 * * ?", "repository": "r", "config": {"indices": "t"},
        "retention": {"max_count": max_count},
    });
    node.put_snapshot_policy("p", &body)
}

/// A policy with three snapshots, of which retention keeps one.
fn with_snapshots(node: &Arc<Node>) -> Result<()> {
    with_a_repository(node)?;
    put_snapshot_policy(node, 1)?;
    for _ in 0..3 {
        node.execute_snapshot_policy("p")?;
        while !node.tasks().list().is_empty() {
            std::thread::yield_now();
        }
    }
    Ok(())
}

fn snapshot_count(node: &Node) -> Result<usize> {
    let all = SnapshotQuery { snapshots: "_all".into(), ..SnapshotQuery::default() };
    Ok(node.get_snapshots("r", &all)?["snapshots"].as_array().map_or(0, Vec::len))
}

fn is_there(node: &Node, name: &str) -> bool {
    node.index_exists(name, IndicesOptions::METADATA).unwrap_or(false)
}

pub fn pairs() -> Vec<Pair> {
    vec![
        Pair {
            name: "a run of a transform, which is reset",
            set_up: transforming,
            acts: [transform_tick, |node| node.reset_transform("t", true)],
            wrong: |node, outcomes| {
                let stats = node.transform_stats("t", true, (0, 10)).expect("statistics").to_string();
                let is_new = stats.contains(r#""state":"stopped""#) && stats.contains(r#""checkpoint":0"#);
                both(outcomes, is_new && !is_there(node, "made")).map(|why| format!("{why} {stats}"))
            },
        },
        Pair {
            name: "a run of a transform, which is deleted with its destination",
            set_up: transforming,
            acts: [transform_tick, |node| node.delete_transform("t", true, true)],
            wrong: |node, outcomes| both(outcomes, !is_there(node, "made")),
        },
        Pair {
            name: "a run of a transform, which is deleted and put again with another destination",
            set_up: transforming,
            acts: [transform_tick, |node| {
                node.delete_transform("t", true, true)?;
                put_transform(node, "other")?;
                node.start_transform("t")?;
                node.transform_tick();
                Ok(())
            }],
            wrong: |node, outcomes| {
                let found = search(node, "other", json!({"match_all": {}})).len();
                both(outcomes, found == GROUPS && !is_there(node, "made")).map(|why| format!("{why} {found}"))
            },
        },
        Pair {
            name: "a run of a transform, whose destination is deleted",
            set_up: transforming,
            acts: [transform_tick, |node| {
                // The run may not have made it yet.
                let _ = node.delete_index("made", IndicesOptions::DELETE);
                Ok(())
            }],
            wrong: |node, outcomes| {
                let stats = node.transform_stats("t", true, (0, 10)).expect("statistics").to_string();
                // It may have been deleted after the run. A run that says that it is complete leaves all or
                // nothing.
                let is_done = stats.contains(r#""checkpoint":1"#) && is_there(node, "made");
                let is_whole = || search(node, "made", json!({"match_all": {}})).len() == GROUPS;
                both(outcomes, !is_done || is_whole()).map(|why| format!("{why} {stats}"))
            },
        },
        Pair {
            name: "an enrich policy that is executed, and its index that is deleted",
            set_up: |node| {
                transforming(node)?;
                let body = json!({"match": {"indices": "source", "match_field": "k.keyword", "enrich_fields": ["v"]}});
                node.put_enrich_policy("join", &body)
            },
            acts: [
                |node| node.execute_enrich_policy("join", true).map(drop),
                |node| {
                    for _ in 0..20 {
                        let made = node.get_index(".enrich-join-*", IndicesOptions::LENIENT)?;
                        if let Some(index) = made.first() {
                            // It may be gone already.
                            let _ = node.delete_index(&index.name, IndicesOptions::DELETE);
                            break;
                        }
                        sync::sleep(Duration::from_micros(200));
                    }
                    Ok(())
                },
            ],
            wrong: |node, outcomes| {
                // The alias is on an index with all documents, or there is none.
                let is_there = is_there(node, ".enrich-join");
                let count = || search(node, ".enrich-join", json!({"match_all": {}})).len();
                (is_there && count() != GROUPS).then(|| format!("{outcomes:?}"))
            },
        },
        Pair {
            name: "a document that moves the end of time series, which are rolled over",
            set_up: series,
            acts: [add_late, |node| node.rollover("s", &RolloverRequest::default()).map(drop)],
            wrong: |node, outcomes| {
                let made = node.get_index(".ds-s-*", IndicesOptions::LENIENT).expect("indices");
                let setting = |at: usize, key: &str| made.get(at).map(|index| index.settings[key].clone());
                let end = setting(0, "index.time_series.end_time");
                let start = setting(1, "index.time_series.start_time");
                let is_twice = add_late(node).is_ok();
                both(outcomes, end.is_some() && end == start && !is_twice)
                    .map(|why| format!("{why} {end:?} {start:?}, twice: {is_twice}"))
            },
        },
        Pair {
            name: "a snapshot, and its repository that is unregistered",
            set_up: with_a_repository,
            acts: [
                |node| {
                    let taken = node.create_snapshot("r", "s", &json!({"indices": "t"}), true)?;
                    note(node, "taken", &taken["snapshot"]["end_time_in_millis"])
                },
                |node| {
                    node.delete_repositories("r")?;
                    let since_ms = sync::now_nanos().unwrap_or(0) / 1_000_000;
                    note(node, "unregistered", &(1_700_000_000_000 + since_ms).into())
                },
            ],
            wrong: |node, outcomes| match outcomes {
                [Ok(()), Ok(())] => {
                    let (taken, unregistered) = (noted(node, "taken")?, noted(node, "unregistered")?);
                    (taken > unregistered).then(|| format!("{taken} is after {unregistered}"))
                }
                [Err(one), Err(other)] => Some(format!("{one}, {other}")),
                _ => None,
            },
        },
        Pair {
            name: "retention, and a policy that keeps more from now on",
            set_up: with_snapshots,
            acts: [
                |node| node.start_retention(),
                |node| {
                    put_snapshot_policy(node, 9)?;
                    note(node, "left", &snapshot_count(node)?.into())
                },
            ],
            wrong: |node, outcomes| {
                let (left, now) = (noted(node, "left"), snapshot_count(node).ok());
                both(outcomes, now.map(|count| count as u64) == left)
                    .map(|why| format!("{why} {left:?} were left, {now:?} are there"))
            },
        },
        Pair {
            name: "two snapshots of a policy at once",
            set_up: |node| {
                with_a_repository(node)?;
                put_snapshot_policy(node, 9)
            },
            acts: [
                |node| node.execute_snapshot_policy("p").map(drop),
                |node| node.execute_snapshot_policy("p").map(drop),
            ],
            wrong: |node, outcomes| {
                let shown = node.get_snapshot_policies("p", false).expect("shown");
                let is_over = shown["p"]["in_progress"].is_null();
                both(outcomes, is_over && shown["p"]["stats"]["snapshots_taken"] == 2)
                    .map(|why| format!("{why} {shown}"))
            },
        },
    ]
}
