//! Makes every call to the disk fail once, and cuts the power at every moment: what was acknowledged must be
//! kept.

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::*;
use limber_engine::*;
use limber_mapping::ErrorClass;
use limber_store::{CrashDisk, Fault};
use serde_json::{Value, json};

/// The sources that each id may have; `None` means that it may be absent. There is one entry after an
/// acknowledged write.
type Allowed = BTreeMap<String, Vec<Option<Value>>>;

fn note(allowed: &mut Allowed, id: &str, new: Option<Value>, outcome: &Result<WriteResponse>) {
    let states = allowed.entry(id.to_owned()).or_insert_with(|| vec![None]);
    match outcome {
        Ok(_) => *states = vec![new],
        // The write failed, so it may or may not be visible.
        Err(_) => states.push(new),
    }
}

/// Writes, refreshes, flushes and merges. Errors are recorded, and the scenario continues.
fn scenario(node: &Node, allowed: &mut Allowed, rounds: std::ops::Range<u32>) {
    for round in rounds {
        for number in 0..4u32 {
            let id = format!("d{}", (round * 3 + number) % 10);
            let source = json!({"n": round * 10 + number});
            let outcome = write(node, index("t", &id, source.to_string().as_bytes()));
            note(allowed, &id, Some(source), &outcome);
        }
        let id = format!("d{}", round % 10);
        let outcome = write(node, delete("t", &id));
        note(allowed, &id, None, &outcome);
        let _ = match round % 4 {
            0 => node.refresh("t", IndicesOptions::BROADCAST),
            1 => node.flush("t", IndicesOptions::BROADCAST, false),
            2 => node.force_merge(
                "t",
                IndicesOptions::BROADCAST,
                &ForceMergeRequest { max_num_segments: Some(1), ..Default::default() },
            ),
            _ => node.refresh("t", IndicesOptions::BROADCAST),
        };
    }
}

fn verify(node: &Node, allowed: &Allowed, what: &str) {
    node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
    let hits: BTreeMap<String, Value> = search(node, "t", json!({"match_all": {}})).into_iter().collect();
    for (id, states) in allowed {
        let got = get(node, "t", id).map(|(_, source)| source);
        assert!(states.contains(&got), "{what}: {id} is {got:?}, allowed are {states:?}");
        assert_eq!(hits.get(id), got.as_ref(), "{what}: get and search of {id}");
    }
}

const BODY: &str =
    r#"{"settings": {"number_of_replicas": 0}, "mappings": {"properties": {"n": {"type": "long"}}}}"#;

fn fresh(disk: &CrashDisk, seed: u64) -> Arc<Node> {
    let node = open_on(disk, seed).expect("opens");
    node.create_index("t", &serde_json::from_str(BODY).expect("JSON")).expect("created");
    node
}

#[test]
fn a_failing_call_loses_nothing_that_was_acknowledged() {
    let disk = CrashDisk::new(1);
    let node = fresh(&disk, 1);
    let before = disk.call_count();
    scenario(&node, &mut Allowed::new(), 0..6);
    let calls = disk.call_count() - before;
    drop(node);
    assert!(calls > 100, "{calls}");
    for (shift, fault) in [Fault::Io, Fault::NoSpace, Fault::SyncLost].into_iter().enumerate() {
        let mut refused = 0;
        // The step is a prime and the start differs for each fault, so that all kinds of calls are covered
        // while the suite stays fast.
        for call in (0..calls).skip(shift).step_by(7) {
            let what = format!("{fault:?} at call {call}");
            let disk = CrashDisk::new(call);
            let node = fresh(&disk, call);
            let mut allowed = Allowed::new();
            disk.fail_call(call, fault);
            scenario(&node, &mut allowed, 0..6);
            refused += u32::from(allowed.values().any(|states| states.len() > 1));
            // Reading continues, whatever has failed.
            let _ = search(&node, "t", json!({"match_all": {}}));
            if call % 2 == 0 {
                node.maintain();
                let outcome = write(&node, index("t", "after", br#"{"n": 1}"#));
                assert!(outcome.is_ok(), "{what}: {outcome:?}");
                note(&mut allowed, "after", Some(json!({"n": 1})), &outcome);
                verify(&node, &allowed, &format!("{what}, recovered in place"));
                scenario(&node, &mut allowed, 6..8);
            }
            drop(node);
            disk.crash();
            let node = open_on(&disk, call).expect("opens again");
            verify(&node, &allowed, &format!("{what}, after the crash"));
        }
        assert!(refused > 0, "{fault:?} is noticed");
    }
}

#[test]
fn the_power_goes_at_any_round() {
    for seed in 0..40u64 {
        let disk = CrashDisk::new(seed);
        let mut node = fresh(&disk, seed);
        let mut allowed = Allowed::new();
        let mut round = 0;
        for life in 0..3 {
            let rounds = 1 + (seed as u32 + life) % 5;
            scenario(&node, &mut allowed, round..round + rounds);
            round += rounds;
            drop(node);
            disk.crash();
            node = open_on(&disk, seed + 1).expect("opens again");
            verify(&node, &allowed, &format!("seed {seed}, life {life}"));
        }
    }
}

#[test]
fn a_full_disk_refuses_writes_and_serves_reads_until_there_is_room() {
    let disk = CrashDisk::new(5);
    let node = fresh(&disk, 5);
    let mut allowed = Allowed::new();
    scenario(&node, &mut allowed, 0..3);
    disk.set_available_bytes(300);
    let mut refused = None;
    for number in 0..20 {
        let id = format!("full{number}");
        let source = json!({"n": number});
        let outcome = write(&node, index("t", &id, source.to_string().as_bytes()));
        note(&mut allowed, &id, Some(source), &outcome);
        refused = outcome.err().or(refused);
    }
    let error = refused.expect("the disk is full");
    assert_eq!(
        (error.class, error.kind),
        (ErrorClass::TooManyRequests, "cluster_block_exception"),
        "{error}"
    );
    assert!(!search(&node, "t", json!({"match_all": {}})).is_empty(), "reads go on");
    node.maintain();
    assert!(write(&node, index("t", "still", b"{}")).is_err(), "still full");
    disk.set_available_bytes(u64::MAX);
    node.maintain();
    node.maintain();
    let outcome = write(&node, index("t", "again", br#"{"n": 1}"#));
    assert!(outcome.is_ok(), "{outcome:?}");
    note(&mut allowed, "again", Some(json!({"n": 1})), &outcome);
    verify(&node, &allowed, "room again");
}

/// Writers continue while the disk fails now and then and the shard is opened again.
#[test]
fn writers_lose_nothing_while_the_shard_fails_and_recovers() {
    for seed in 0..6u64 {
        let disk = CrashDisk::new(seed);
        let node = fresh(&disk, seed);
        let done = std::sync::atomic::AtomicUsize::new(0);
        let per_thread: Vec<Allowed> = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..3)
                .map(|thread| {
                    let (node, done) = (&node, &done);
                    scope.spawn(move || {
                        let mut allowed = Allowed::new();
                        for n in 0..150u32 {
                            let id = format!("w{thread}-{}", n % 7);
                            let source = json!({"n": n});
                            let outcome = write(node, index("t", &id, source.to_string().as_bytes()));
                            note(&mut allowed, &id, Some(source), &outcome);
                            if outcome.is_err() {
                                std::thread::sleep(std::time::Duration::from_millis(1));
                            }
                        }
                        done.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        allowed
                    })
                })
                .collect();
            let mut round = seed;
            while done.load(std::sync::atomic::Ordering::SeqCst) < 3 {
                round += 1;
                let fault = [Fault::Io, Fault::NoSpace, Fault::SyncLost][(round % 3) as usize];
                disk.fail_call(round % 23, fault);
                node.maintain();
                let _ = node.flush("t", IndicesOptions::BROADCAST, false);
                let request = ForceMergeRequest { max_num_segments: Some(1), ..Default::default() };
                let _ = node.force_merge("t", IndicesOptions::BROADCAST, &request);
            }
            writers.into_iter().map(|writer| writer.join().expect("writes")).collect()
        });
        let mut allowed = Allowed::new();
        per_thread.into_iter().for_each(|part| allowed.extend(part));
        // If the fault has not occurred yet, it occurs here.
        for _ in 0..30 {
            let _ = node.flush("t", IndicesOptions::BROADCAST, true);
            node.maintain();
        }
        verify(&node, &allowed, &format!("seed {seed}, in place"));
        drop(node);
        disk.crash();
        let node = open_on(&disk, seed).expect("opens again");
        verify(&node, &allowed, &format!("seed {seed}, after the crash"));
    }
}

#[test]
fn an_index_whose_opening_panics_is_opened_again() {
    let (mut reopened, mut call) = (0, 0);
    loop {
        let disk = CrashDisk::new(call);
        let node = open_on(&disk, 1).expect("opens");
        node.create_index("t", &json!({"settings": {"number_of_shards": 1}})).expect("created");
        write(&node, index("t", "1", b"{}")).expect("written");
        node.close_index("t", IndicesOptions::METADATA).expect("closed");
        disk.fail_call(call, Fault::Panic);
        let opening =
            std::panic::AssertUnwindSafe(|| node.open_index("t", IndicesOptions::METADATA_OPEN_CLOSED));
        let has_panicked = std::panic::catch_unwind(opening).is_err();
        disk.heal();
        node.retry_failed_shards();
        let is_open = node.resolve("t", IndicesOptions::METADATA).expect("resolved")[0].open;
        if is_open {
            assert!(get(&node, "t", "1").is_some(), "a panic at call {call}");
            reopened += u32::from(has_panicked);
        }
        if !has_panicked && call > 3 {
            break;
        }
        call += 1;
    }
    assert!(reopened > 3, "{reopened} of {call}");
}
