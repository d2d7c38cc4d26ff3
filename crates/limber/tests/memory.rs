//! The ledger's pools account for the memory of the process: under load, the usage in `_nodes/stats` agrees
//! with the memory that the system reports.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Client, ServerProcess};

const MIB: u64 = 1 << 20;
/// Memory of an idle process that no pool accounts for: the program's data, the stacks of some 40 threads,
/// jemalloc's own tables. A newly started process has 5 MiB of it.
const BASE_BYTES: u64 = 8 * MIB;
/// The documented tolerance of the memory limit. Memory that is in no pool must stay below the smaller
/// [`UNCHARGED_BYTES_MAX`], because the load is small.
const TOLERANCE_BYTES: u64 = 64 * MIB;
const TOLERANCE_PERCENT: u64 = 10;
const UNCHARGED_BYTES_MAX: u64 = 24 * MIB;
/// Minimum and maximum duration of the load. In a debug build it takes some seconds until buffers are large,
/// and more on a machine with other work.
const LOAD: Duration = Duration::from_secs(6);
const LOAD_MAX: Duration = Duration::from_secs(40);
/// The pools must reach this for the comparison to be meaningful.
const LOAD_BYTES: u64 = 48 * MIB;

/// Returns `RssAnon` of the process: its own memory. `VmRSS` also includes the pages of mapped segments,
/// which are the system's page cache: they come and go as files are read and memory is needed, so no pool can
/// account for them.
fn anonymous_bytes(server: &ServerProcess) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process_id())).expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("RssAnon");
    let kib = line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).expect("a number");
    kib << 10
}

/// Returns the section `limber.memory` of `_nodes/stats`.
fn memory(stats: &Value) -> Value {
    let node = stats["nodes"].as_object().and_then(|nodes| nodes.values().next()).expect("a node");
    node["limber"]["memory"].clone()
}

/// Returns pseudo-random numbers.
fn mixed(number: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

/// Returns a string that does not compress.
fn noise() -> String {
    (0..1224 << 10).map(|at| format!("{:016x}", mixed(at))).collect()
}

/// Returns 100 documents of 24 KiB with new ids, and updates of earlier ones.
fn bulk_body(noise: &str, round: u64, client: u64) -> String {
    const NOISE_BYTES: usize = 24 << 10;
    let mut body = String::new();
    for number in 0..100 {
        let id =
            client * 1_000_000 + if number % 10 == 9 { round * 10 + number } else { round * 100 + number };
        let start = mixed(id + round) as usize % (noise.len() - NOISE_BYTES);
        let source = json!({"n": id, "k": format!("key {}", mixed(id)), "t": format!("some words {} of a text", id % 1000),
                            "noise": {"text": &noise[start..start + NOISE_BYTES]}});
        body.push_str(&format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{source}\n"));
    }
    body
}

fn searches(number: u64) -> Value {
    match number % 4 {
        0 => {
            json!({"size": 0, "aggs": {"k": {"terms": {"field": "k", "size": 10_000}, "aggs": {"n": {"cardinality": {"field": "n"}}}}}})
        }
        1 => json!({"size": 2000, "query": {"match": {"t": "words"}}, "sort": [{"k": "asc"}]}),
        2 => json!({"size": 10, "query": {"prefix": {"k": "key 1"}}}),
        _ => {
            json!({"size": 0, "aggs": {"h": {"histogram": {"field": "n", "interval": 5000}, "aggs": {"p": {"percentiles": {"field": "n"}}}}}})
        }
    }
}

/// The measurements at one moment.
#[derive(Debug)]
struct Sample {
    anonymous_bytes: u64,
    pools: Vec<(String, u64)>,
}

impl Sample {
    /// Reads the bytes of all pools in one request, between two measurements of the process's memory.
    fn take(server: &ServerProcess, client: &mut Client) -> Sample {
        let before = anonymous_bytes(server);
        let stats = client.expect(200, "GET", "/_nodes/stats/limber", Value::Null);
        let after = anonymous_bytes(server);
        let pools = memory(&stats)["pools"].as_object().expect("pools").clone();
        let used = |pool: &Value| pool["used_in_bytes"].as_u64().expect("bytes");
        Sample {
            anonymous_bytes: before.midpoint(after),
            pools: pools.iter().map(|(name, pool)| (name.clone(), used(pool))).collect(),
        }
    }

    fn explained_bytes(&self) -> u64 {
        BASE_BYTES + self.pools.iter().map(|(_, bytes)| bytes).sum::<u64>()
    }

    fn unexplained_bytes(&self) -> u64 {
        self.anonymous_bytes.abs_diff(self.explained_bytes())
    }

    /// Whether the pools account for the memory. Charges are estimates made in advance: they may be higher
    /// than what is used in the end, but hardly lower.
    fn is_explained(&self) -> bool {
        let within = |bytes_max: u64| bytes_max.max(self.anonymous_bytes * TOLERANCE_PERCENT / 100);
        let uncharged_bytes = self.anonymous_bytes.saturating_sub(self.explained_bytes());
        uncharged_bytes <= within(UNCHARGED_BYTES_MAX) && self.unexplained_bytes() <= within(TOLERANCE_BYTES)
    }

    fn of(&self, pool: &str) -> u64 {
        self.pools.iter().find(|(name, _)| name == pool).expect("a pool of this name").1
    }
}

/// Sends requests until told to stop. A refusal for lack of memory is an acceptable response.
fn work(
    server: &ServerProcess,
    stop: &AtomicBool,
    pause: Duration,
    mut request: impl FnMut(u64) -> (&'static str, String),
) {
    let mut client = server.client();
    for round in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let (path, body) = request(round);
        std::thread::sleep(pause);
        let answer = client.send("POST", path, body);
        assert!(matches!(answer.status, 200 | 429), "{path}: {}", answer.text());
    }
}

#[test]
fn the_pools_explain_the_memory_of_the_process_under_load() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // The allocator returns freed memory at once, so that the remaining memory is really in use.
    let settings = ["-E", "indices.memory.index_buffer_size=40%", "-E", "memory.freed.keep=0"];
    let server = ServerProcess::start(folder.path(), &settings);
    let mut client = server.client();
    let noise = noise();
    let idle = Sample::take(&server, &mut client);
    // The first two refreshes make documents searchable; later ones stay in memory.
    let index = json!({"settings": {"number_of_shards": 2, "number_of_replicas": 0, "refresh_interval": "3s", "translog.durability": "async"},
        "mappings": {"properties": {"n": {"type": "long"}, "k": {"type": "keyword"}, "t": {"type": "text"},
                                    "noise": {"enabled": false}}}});
    client.expect(200, "PUT", "/i", index);
    client.send("POST", "/i/_bulk?refresh=true", bulk_body(&noise, 0, 0));
    for _ in 0..20 {
        client.expect(200, "POST", "/i/_search?scroll=1m", json!({"size": 100, "sort": ["_doc"]}));
    }
    let stop = AtomicBool::new(false);
    let mut samples = Vec::new();
    std::thread::scope(|scope| {
        for number in 0..3 {
            let (server, stop, noise) = (&server, &stop, &noise);
            scope.spawn(move || {
                work(server, stop, Duration::ZERO, |round| ("/i/_bulk", bulk_body(noise, round, number)))
            });
        }
        for number in 0..2 {
            let (server, stop) = (&server, &stop);
            scope.spawn(move || {
                work(server, stop, Duration::from_millis(50), |round| {
                    ("/i/_search", searches(round + number).to_string())
                });
            });
        }
        let start = Instant::now();
        let mut is_paused = false;
        let is_loaded =
            |samples: &[Sample]| samples.iter().any(|sample| sample.explained_bytes() > LOAD_BYTES);
        while start.elapsed() < LOAD || (!is_loaded(&samples) && start.elapsed() < LOAD_MAX) {
            std::thread::sleep(Duration::from_millis(20));
            samples.push(Sample::take(&server, &mut client));
            if !is_paused && start.elapsed() > LOAD / 3 {
                is_paused = true;
                client.expect(200, "PUT", "/i/_settings", json!({"index.refresh_interval": "-1"}));
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let worst = samples.iter().max_by_key(|sample| sample.unexplained_bytes()).expect("samples");
    let largest = samples.iter().max_by_key(|sample| sample.explained_bytes()).expect("samples");
    eprintln!("{} samples; idle {idle:?}\nworst {worst:?}\nlargest {largest:?}", samples.len());
    assert!(
        samples.iter().all(Sample::is_explained),
        "{} MiB are not explained: {worst:?}",
        worst.unexplained_bytes() / MIB
    );
    // Checks that there was a load: buffers, bodies, and searches.
    for (pool, least_bytes) in [
        ("indexing", 16 * MIB),
        ("in_flight_requests", MIB),
        ("request", MIB),
        ("segments", 1),
        ("segment_memory", 1),
    ] {
        let most = samples.iter().map(|sample| sample.of(pool)).max().expect("samples");
        assert!(most >= least_bytes, "{pool} had at most {most} bytes");
    }
    assert!(largest.anonymous_bytes > LOAD_BYTES / 2, "too little to compare: {largest:?}");
}

#[test]
fn statistics_have_every_pool_the_counters_of_the_cache_and_the_process() {
    const POOLS: [&str; 10] = [
        "indexing",
        "segment_writes",
        "segments",
        "metadata",
        "segment_memory",
        "queries.cache",
        "requests.cache",
        "stored_blocks.cache",
        "request",
        "in_flight_requests",
    ];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(folder.path(), &["-E", "indices.breaker.total.limit=50%"]);
    let mut client = server.client();
    let stats = client.expect(200, "GET", "/_nodes/stats/limber,breaker,process", Value::Null);
    let node = stats["nodes"].as_object().and_then(|nodes| nodes.values().next()).expect("a node");
    let memory = &node["limber"]["memory"];
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value} in {memory}"));
    for pool in POOLS {
        for member in ["used_in_bytes", "limit_in_bytes", "trips"] {
            number(&memory["pools"][pool][member]);
        }
        for member in ["estimated_size_in_bytes", "limit_size_in_bytes", "tripped"] {
            number(&node["breakers"][pool][member]);
        }
    }
    assert_eq!(memory["pools"].as_object().map(|pools| pools.len()), Some(POOLS.len()));
    assert_eq!(node["breakers"]["parent"]["limit_size_in_bytes"], 256 * MIB);
    for member in [
        "hit_count",
        "miss_count",
        "load_count",
        "eviction_count",
        "budget_in_bytes",
        "resident_size_in_bytes",
    ] {
        number(&memory["term_index_cache"][member]);
    }
    let resident = number(&node["process"]["mem"]["resident_in_bytes"]);
    let anonymous = number(&node["process"]["mem"]["anonymous_in_bytes"]);
    assert!(MIB < anonymous && anonymous < resident, "{anonymous} of {resident}");
    number(&memory["unexplained_in_bytes"]);
    let allocator = |name: &str| number(&memory["allocator"][name]);
    assert!(allocator("allocated_in_bytes") > 0);
    assert!(allocator("allocated_in_bytes") <= allocator("active_in_bytes"));
    assert!(allocator("active_in_bytes") <= allocator("resident_in_bytes"));
}

#[test]
fn the_limit_of_all_pools_is_dynamic_and_refuses_with_429() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(folder.path(), &[]);
    let mut client = server.client();
    client.expect(
        200,
        "PUT",
        "/_cluster/settings",
        json!({"persistent": {"indices.breaker.total.limit": "1kb"}}),
    );
    let body = json!({"t": "a".repeat(2000)});
    let refused = client.expect(429, "POST", "/i/_doc", body.clone());
    assert_eq!(refused["error"]["type"], "circuit_breaking_exception", "{refused}");
    assert!(
        refused["error"]["reason"].as_str().is_some_and(|reason| reason.starts_with("[parent]")),
        "{refused}"
    );
    let stats =
        client.expect(200, "GET", "/_nodes/stats/breaker?filter_path=nodes.*.breakers.parent", Value::Null);
    assert!(stats.to_string().contains("\"tripped\":1"), "{stats}");
    client.expect(
        200,
        "PUT",
        "/_cluster/settings",
        json!({"persistent": {"indices.breaker.total.limit": null}}),
    );
    client.expect(201, "POST", "/i/_doc", body);
}

/// A connection gets its buffers with its first byte.
#[test]
fn connections_that_say_nothing_take_little_memory() {
    const COUNT: usize = 500;
    /// With its buffers a connection takes three times as much.
    const BYTES_MAX: u64 = 7 << 10;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(folder.path(), &[]);
    let mut client = server.client();
    let mut open_count = || {
        let stats = client.expect(200, "GET", "/_nodes/stats/http", Value::Null);
        let node = stats["nodes"].as_object().and_then(|nodes| nodes.values().next()).expect("a node");
        node["http"]["current_open"].as_u64().expect("a number")
    };
    open_count();
    let before = anonymous_bytes(&server);
    let _idle: Vec<Client> = (0..COUNT).map(|_| server.client()).collect();
    let until = Instant::now() + Duration::from_secs(30);
    while open_count() <= COUNT as u64 {
        assert!(Instant::now() < until, "connections are accepted");
    }
    let grown = anonymous_bytes(&server).saturating_sub(before);
    assert!(grown < COUNT as u64 * BYTES_MAX, "{grown} bytes for {COUNT} connections");
}
