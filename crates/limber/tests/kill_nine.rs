//! `kill -9` at random instants during bulk requests: no acknowledged document is lost, and every index opens
//! again.
//!
//! `LIMBER_KILL_ROUNDS=50 LIMBER=$PWD/target/release/limber cargo test -p limber --test kill_nine` runs the
//! long form with a release build.

mod support;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use support::{Client, ServerProcess};

const WRITERS: usize = 3;
const IDS_PER_WRITER: u64 = 400;

/// What a writer knows about an id: the last value that the server acknowledged, and the values sent without
/// a response.
#[derive(Debug, Default, Clone)]
struct Known {
    acknowledged: Option<i64>,
    in_doubt: Vec<Option<i64>>,
}

type Ledger = BTreeMap<String, Known>;

#[test]
fn no_acknowledged_write_is_lost() {
    let rounds: u64 =
        std::env::var("LIMBER_KILL_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ledgers: Vec<Arc<Mutex<Ledger>>> = (0..WRITERS).map(|_| Arc::default()).collect();
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for round in 0..rounds {
        let mut server = ServerProcess::start(folder.path(), &[]);
        if round == 0 {
            let settings = json!({"settings": {"number_of_shards": 2, "number_of_replicas": 0, "refresh_interval": "100ms",
                "translog": {"flush_threshold_size": "256kb"}}});
            server.client().expect(200, "PUT", "/ledger", settings);
        } else {
            verify(&mut server.client(), &ledgers, round);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = ledgers
            .iter()
            .enumerate()
            .map(|(writer, ledger)| {
                let (ledger, stop, address, seed) = (ledger.clone(), stop.clone(), server.address, next());
                thread::spawn(move || {
                    write_until_killed(Client::connect(address), writer, seed, &ledger, &stop)
                })
            })
            .collect();
        thread::sleep(Duration::from_millis(100 + next() % 500));
        server.kill();
        stop.store(true, Ordering::Relaxed);
        for writer in writers {
            writer.join().expect("a writer ends by itself");
        }
    }
    let server = ServerProcess::start(folder.path(), &[]);
    verify(&mut server.client(), &ledgers, rounds);
}

/// Sends bulk requests with index and delete operations until the connection breaks.
fn write_until_killed(
    mut client: Client,
    writer: usize,
    seed: u64,
    ledger: &Mutex<Ledger>,
    stop: &AtomicBool,
) {
    let mut random = seed | 1;
    let mut next = move || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 33
    };
    while !stop.load(Ordering::Relaxed) {
        let mut body = String::new();
        let mut writes: Vec<(String, Option<i64>)> = Vec::new();
        for _ in 0..1 + next() % 50 {
            let id = format!("{writer}-{}", next() % IDS_PER_WRITER);
            if next() % 5 == 0 {
                body.push_str(&format!("{{\"delete\":{{\"_index\":\"ledger\",\"_id\":\"{id}\"}}}}\n"));
                writes.push((id, None));
            } else {
                let value = next() as i64;
                body.push_str(&format!(
                    "{{\"index\":{{\"_index\":\"ledger\",\"_id\":\"{id}\"}}}}\n{{\"value\":{value},\"text\":\"value {value}\"}}\n"
                ));
                writes.push((id, Some(value)));
            }
        }
        let outcome = client.try_send("POST", "/_bulk", &[], body.as_bytes());
        let mut ledger = ledger.lock().expect("no writer panicked");
        match outcome {
            Ok(answer) => {
                assert_eq!(answer.status, 200, "{}", answer.text());
                for ((id, value), item) in
                    writes.into_iter().zip(answer.json()["items"].as_array().expect("items"))
                {
                    let status = item
                        .as_object()
                        .and_then(|o| o.values().next())
                        .map_or(0, |i| i["status"].as_u64().unwrap_or(0));
                    assert!(matches!(status, 200 | 201 | 404), "{item}");
                    ledger.insert(id, Known { acknowledged: value, in_doubt: Vec::new() });
                }
            }
            Err(_) => {
                for (id, value) in writes {
                    ledger.entry(id).or_default().in_doubt.push(value);
                }
                return;
            }
        }
    }
}

/// Checks that every id has the last acknowledged value, or one that was sent later without a response, and
/// that search agrees with get.
fn verify(client: &mut Client, ledgers: &[Arc<Mutex<Ledger>>], round: u64) {
    client.expect(200, "POST", "/ledger/_refresh", Value::Null);
    let mut live = 0;
    for ledger in ledgers {
        let mut ledger = ledger.lock().expect("no writer panicked");
        let ids: Vec<String> = ledger.keys().cloned().collect();
        for chunk in ids.chunks(500) {
            let answer = client.expect(200, "POST", "/ledger/_mget", json!({"ids": chunk}));
            for doc in answer["docs"].as_array().expect("docs") {
                let id = doc["_id"].as_str().expect("an id");
                let found = doc["_source"]["value"].as_i64();
                let known = ledger.get_mut(id).expect("only known ids were asked for");
                let possible = found == known.acknowledged || known.in_doubt.contains(&found);
                assert!(possible, "round {round}: {id} holds {found:?}, but {known:?} was written");
                *known = Known { acknowledged: found, in_doubt: Vec::new() };
                live += u64::from(found.is_some());
            }
        }
    }
    let count = client.expect(200, "GET", "/ledger/_count", Value::Null)["count"].as_u64();
    assert_eq!(count, Some(live), "round {round}: search and get agree");
}
