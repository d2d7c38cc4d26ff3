//! Tests that acknowledged writes are kept: under other mappings, other settings, damage, and shards that
//! fail while requests wait.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::*;
use limber_engine::environment::ManualClock;
use limber_engine::*;
use limber_store::{CrashDisk, Disk, Fault};
use serde_json::{Value, json};

fn create(node: &Node, name: &str, body: Value) {
    node.create_index(name, &body).expect("created");
}

/// Documents are indexed with a lenient mapping and replayed with every stricter mapping that the API allows
/// to change it to.
#[test]
fn replay_never_judges_an_acknowledged_document_again() {
    let nested = json!([{"n": 1}, {"n": 2}, {"n": 3}]);
    let sources = [
        json!({"a": "no number", "k": "found"}),
        json!({"a": {"b": 1}, "k": "found"}),
        json!({"a": [1, "x", null], "unknown": {"deep": [1, {"er": 2}]}, "k": "found"}),
        json!({"items": nested, "k": "found"}),
    ];
    for dynamic in ["false", "strict", "true", "runtime"] {
        let disk = CrashDisk::new(3);
        let node = open_on(&disk, 3).expect("opens");
        let properties = json!({"k": {"type": "keyword"}, "items": {"type": "nested", "properties": {"n": {"type": "long"}}}});
        create(
            &node,
            "t",
            json!({"settings": {"number_of_replicas": 0}, "mappings": {"dynamic": "false", "properties": properties}}),
        );
        for (number, source) in sources.iter().enumerate() {
            write(&node, index("t", &number.to_string(), source.to_string().as_bytes())).expect("written");
        }
        let stricter = json!({"dynamic": dynamic, "properties": {"a": {"type": "long"}}});
        node.put_mapping("t", IndicesOptions::METADATA_OPEN_CLOSED, false, &stricter).expect("mapped");
        let limits = json!({"index.mapping.nested_objects.limit": 1, "index.mapping.total_fields.limit": 1});
        let _ = node.put_settings("t", IndicesOptions::METADATA_OPEN_CLOSED, &limits, false);
        drop(node);
        disk.crash();
        let node = open_on(&disk, 4).expect("opens");
        for (number, source) in sources.iter().enumerate() {
            let found = get(&node, "t", &number.to_string()).map(|(_, source)| source);
            assert_eq!(found.as_ref(), Some(source), "dynamic: {dynamic}");
        }
        node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
        assert_eq!(search(&node, "t", json!({"term": {"k": "found"}})).len(), sources.len(), "{dynamic}");
        assert_eq!(search(&node, "t", json!({"term": {"a": 1}})).len(), 1, "{dynamic}: what fits is indexed");
        node.flush("t", IndicesOptions::BROADCAST, true).expect("flushes");
    }
}

#[test]
fn switching_from_async_to_request_makes_durable_what_was_acknowledged() {
    let disk = CrashDisk::new(9);
    let node = open_on(&disk, 9).expect("opens");
    create(
        &node,
        "t",
        json!({"settings": {"number_of_replicas": 0, "translog.durability": "async", "translog.sync_interval": "1h"}}),
    );
    for number in 0..20 {
        write(&node, index("t", &number.to_string(), b"{}")).expect("written");
    }
    let settings = json!({"index.translog.durability": "request"});
    node.put_settings("t", IndicesOptions::METADATA_OPEN_CLOSED, &settings, false).expect("changed");
    drop(node);
    disk.crash();
    let node = open_on(&disk, 9).expect("opens");
    (0..20).for_each(|number| assert!(get(&node, "t", &number.to_string()).is_some(), "{number}"));
}

/// After a failed fsync a shard is opened again with what the page cache has, which no later fsync of its log
/// writes. What relies on it is acknowledged only once a commit has it.
#[test]
fn what_a_failed_fsync_lost_is_committed_before_an_answer_relies_on_it() {
    type Relies = fn(&Node) -> Result<()>;
    let relies: [Relies; 2] = [
        |node| {
            let answer = write(node, update("t", "1", br#"{"doc": {"n": 2}}"#))?;
            assert_eq!(answer.outcome.result, WriteResult::Noop);
            Ok(())
        },
        |node| {
            let settings = json!({"index.translog.durability": "request"});
            node.put_settings("t", IndicesOptions::METADATA_OPEN_CLOSED, &settings, false)
        },
    ];
    for (seed, relies) in (11..).zip(relies) {
        let disk = CrashDisk::new(seed);
        let node = open_on(&disk, seed).expect("opens");
        create(&node, "t", json!({"settings": {"number_of_replicas": 0}}));
        write(&node, index("t", "1", br#"{"n": 1}"#)).expect("written");
        disk.fail_from(0, Fault::SyncLost);
        write(&node, index("t", "1", br#"{"n": 2}"#)).expect_err("not durable");
        disk.heal();
        node.retry_failed_shards();
        assert_eq!(get(&node, "t", "1").map(|(_, source)| source), Some(json!({"n": 2})), "the page cache");
        relies(&node).expect("answered");
        disk.power_off();
        drop(node);
        disk.crash();
        let node = open_on(&disk, seed).expect("opens");
        assert_eq!(get(&node, "t", "1").map(|(_, source)| source), Some(json!({"n": 2})), "seed {seed}");
    }
}

/// A failed shard still answers searches, even with writes that never reached its translog. No response may
/// claim that they are durable.
#[test]
fn a_switch_to_request_is_refused_while_the_shard_has_failed() {
    let disk = CrashDisk::new(10);
    let node = open_on(&disk, 10).expect("opens");
    create(
        &node,
        "t",
        json!({"settings": {"number_of_replicas": 0, "translog.durability": "async", "translog.sync_interval": "1h"}}),
    );
    write(&node, index("t", "1", b"{}")).expect("written");
    node.refresh("t", IndicesOptions::BROADCAST).expect("refreshed");
    write(&node, index("t", "2", b"{}")).expect("written");
    disk.fail_from(0, Fault::Io);
    let failed = node.refresh("t", IndicesOptions::BROADCAST);
    assert!(failed.is_err() || failed.is_ok_and(|answer| !answer.failures.is_empty()));
    disk.heal();
    let settings = json!({"index.translog.durability": "request"});
    let switch = || node.put_settings("t", IndicesOptions::METADATA_OPEN_CLOSED, &settings, false);
    for _ in 0..2 {
        assert!(switch().is_err(), "the shard waits to be opened again");
    }
    let others = json!({"index.max_inner_result_window": 77});
    node.put_settings("t", IndicesOptions::METADATA_OPEN_CLOSED, &others, false)
        .expect("asks for nothing of it");
    node.maintain();
    switch().expect("it is open");
    let there: Vec<String> =
        search(&node, "t", json!({"match_all": {}})).into_iter().map(|hit| hit.0).collect();
    drop(node);
    disk.crash();
    let node = open_on(&disk, 10).expect("opens");
    there.iter().for_each(|id| assert!(get(&node, "t", id).is_some(), "{id}"));
}

/// Flips one bit in any file of the shard, once with everything in the translog and once with everything in
/// segments: either all documents are there, or the damage is reported.
#[test]
fn rot_is_never_taken_for_a_torn_write() {
    for is_flushed in [false, true] {
        let make = || {
            let disk = CrashDisk::new(21);
            let node = open_on(&disk, 21).expect("opens");
            create(&node, "t", json!({"settings": {"number_of_replicas": 0}}));
            let bodies: Vec<String> =
                (0..40).map(|n| json!({"n": n, "t": format!("text {n}")}).to_string()).collect();
            for part in bodies.chunks(20) {
                let ids: Vec<String> = (0..part.len()).map(|n| format!("{}-{n}", part[0].len())).collect();
                let operations: Vec<BulkOperation<'_>> =
                    part.iter().zip(&ids).map(|(body, id)| index("t", id, body.as_bytes())).collect();
                let request =
                    BulkRequest { operations: &operations, pipeline: None, refresh: RefreshPolicy::None };
                assert!(!node.bulk(request).expect("written").errors);
            }
            if is_flushed {
                node.flush("t", IndicesOptions::BROADCAST, true).expect("flushes");
            }
            drop(node);
            disk
        };
        let disk = make();
        let uuid = disk.folders("indices").expect("lists").remove(0);
        let folder = format!("indices/{uuid}/0");
        let names = disk.folder(&folder).expect("opens").list().expect("lists");
        let ids = |disk: &CrashDisk| -> Option<usize> {
            let node = open_on(disk, 22).ok()?;
            node.refresh("t", IndicesOptions::BROADCAST).ok()?;
            let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                search(&node, "t", json!({"match_all": {}})).len()
            }));
            found.ok()
        };
        let whole = ids(&disk).expect("is sound");
        let mut named = 0;
        for name in &names {
            let len = disk.folder(&folder).expect("opens").len(name).expect("is there");
            for step in 0..24 {
                let disk = make();
                let byte = len * step / 24;
                if len == 0 || !disk.flip_bit(&folder, name, byte, (step % 8) as u8) {
                    continue;
                }
                match ids(&disk) {
                    Some(count) => assert_eq!(count, whole, "{name} byte {byte}, flushed: {is_flushed}"),
                    None => named += 1,
                }
            }
        }
        assert!(named > 10, "{named}");
        for name in &names {
            let disk = make();
            disk.folder(&folder).expect("opens").delete(name).expect("deletes");
            if let Some(count) = ids(&disk) {
                assert_eq!(count, whole, "{name} is missing, flushed: {is_flushed}");
            }
        }
    }
}

/// Runs bulks over several shards, split by updates, while the disk fails now and then and shards are opened
/// again.
#[test]
fn bulks_lose_nothing_while_shards_fail_and_recover() {
    for seed in 0..4u64 {
        let disk = CrashDisk::new(seed);
        let node = open_on(&disk, seed).expect("opens");
        create(
            &node,
            "t",
            json!({"settings": {"number_of_shards": 3, "number_of_replicas": 0},
                   "mappings": {"properties": {"n": {"type": "long"}}}}),
        );
        let done = AtomicUsize::new(0);
        let acknowledged: Vec<BTreeMap<String, Vec<Option<u64>>>> = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..4)
                .map(|thread| {
                    let (node, done) = (&node, &done);
                    scope.spawn(move || {
                        let states = write_bulks(node, thread);
                        done.fetch_add(1, Ordering::SeqCst);
                        states
                    })
                })
                .collect();
            let mut round = seed;
            while done.load(Ordering::SeqCst) < 4 {
                round += 1;
                let fault = [Fault::Io, Fault::NoSpace, Fault::SyncLost][(round % 3) as usize];
                disk.fail_call(round % 29, fault);
                node.maintain();
                let _ = node.flush("t", IndicesOptions::BROADCAST, false);
            }
            writers.into_iter().map(|writer| writer.join().expect("writes")).collect()
        });
        for _ in 0..40 {
            let _ = node.flush("t", IndicesOptions::BROADCAST, true);
            node.maintain();
        }
        drop(node);
        disk.crash();
        let node = open_on(&disk, seed).expect("opens again");
        for (id, states) in acknowledged.into_iter().flatten() {
            let found = get(&node, "t", &id).and_then(|(_, source)| source["n"].as_u64());
            assert!(states.contains(&found), "seed {seed}: {id} is {found:?}, allowed are {states:?}");
        }
    }
}

/// Writes bulks. Returns the values that each id may have: the last acknowledged one, and later ones whose
/// outcome is unknown.
fn write_bulks(node: &Node, thread: u32) -> BTreeMap<String, Vec<Option<u64>>> {
    let mut states: BTreeMap<String, Vec<Option<u64>>> = BTreeMap::new();
    for round in 0..40u64 {
        let steps: Vec<(String, String, bool)> = (0..21u64)
            .map(|n| {
                let id = format!("w{thread}-{}", (round * 5 + n) % 30);
                let value = round * 100 + n;
                match n % 4 {
                    3 => (id, json!({"doc": {"n": value}, "doc_as_upsert": true}).to_string(), true),
                    _ => (id, json!({"n": value}).to_string(), false),
                }
            })
            .collect();
        let operations: Vec<BulkOperation<'_>> = steps
            .iter()
            .map(|(id, body, is_update)| match is_update {
                true => update("t", id, body.as_bytes()),
                false => index("t", id, body.as_bytes()),
            })
            .collect();
        let request = BulkRequest { operations: &operations, pipeline: None, refresh: RefreshPolicy::None };
        let Ok(response) = node.bulk(request) else { continue };
        let mut refused = false;
        for (n, (item, (id, ..))) in response.items.iter().zip(&steps).enumerate() {
            let value = Some(round * 100 + n as u64);
            let states = states.entry(id.clone()).or_insert_with(|| vec![None]);
            match &item.outcome {
                Ok(_) => *states = vec![value],
                Err(_) => {
                    refused = true;
                    states.push(value);
                }
            }
        }
        if refused {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
    states
}

/// A flush to a full disk is not tried again in every round of the scheduler.
#[test]
fn a_flush_that_fails_rests() {
    let (disk, clock) = (CrashDisk::new(21), Arc::new(ManualClock::at(1_700_000_000_000)));
    let node =
        Node::open_with(config(Path::new("/crash")), environment(clock.clone(), Arc::new(disk.clone()), 21))
            .expect("opens");
    create(&node, "t", json!({"settings": {"translog": {"flush_threshold_size": "128b"}}}));
    let source = json!({"text": "a word ".repeat(40)}).to_string();
    write(&node, index("t", "1", source.as_bytes())).expect("written");
    let flushes = || {
        let stats = node.stats("t", IndicesOptions::BROADCAST, &StatsRequest::default()).expect("stats");
        stats["_all"]["primaries"]["flush"]["periodic"].as_u64().expect("a count")
    };
    disk.fail_from(0, Fault::NoSpace);
    for _ in 0..5 {
        node.run_round(Round::Flush);
    }
    assert_eq!(flushes(), 1);
    disk.heal();
    clock.advance_ms(5_001);
    node.run_round(Round::Flush);
    node.run_round(Round::Flush);
    assert_eq!(flushes(), 2, "it is tried again, and once more is not needed");
}
