//! A process with a low limit of open files: shards get the descriptors they need, whatever clients hold.

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Client, ServerProcess};

const INDICES: usize = 4;

fn connections(client: &mut Client) -> Value {
    let stats = client.expect(200, "GET", "/_nodes/stats/limber,process", Value::Null);
    let node = stats["nodes"].as_object().and_then(|nodes| nodes.values().next()).expect("a node");
    let mut connections = node["limber"]["connections"].clone();
    connections["descriptors"] = node["process"]["open_file_descriptors"].clone();
    connections
}

/// Sends bulks, gets, searches, refreshes, flushes and merges over several indices. `number` determines the
/// documents of a round.
fn load(client: &mut Client, number: usize, rounds: usize) {
    for round in 0..rounds {
        let mut lines = String::new();
        for index in 0..INDICES {
            for document in 0..20 {
                let id = format!("{number}-{round}-{document}");
                lines.push_str(&format!("{{\"index\":{{\"_index\":\"i{index}\",\"_id\":\"{id}\"}}}}\n"));
                lines.push_str(&format!("{{\"n\":{document},\"t\":\"some words {round}\"}}\n"));
            }
        }
        let answer = client.send("POST", "/_bulk", lines);
        assert_eq!((answer.status, &answer.json()["errors"]), (200, &json!(false)), "{}", answer.text());
        for index in 0..INDICES {
            let path = format!("/i{index}/_doc/{number}-{round}-0");
            client.expect(200, "GET", &path, Value::Null);
            client.expect(200, "POST", &format!("/i{index}/_refresh"), Value::Null);
            if round % 5 == 4 {
                client.expect(200, "POST", &format!("/i{index}/_flush"), Value::Null);
                client.expect(200, "POST", &format!("/i{index}/_forcemerge?max_num_segments=1"), Value::Null);
            }
        }
        let body = json!({"query": {"match": {"t": "words"}}, "aggs": {"n": {"terms": {"field": "n"}}}});
        let found = client.expect(200, "POST", "/i*/_search", body);
        assert_eq!(found["_shards"]["failed"], 0, "{found}");
    }
}

#[test]
fn shards_work_beside_hundreds_of_idle_connections() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start_with_limit("-n 128", folder.path(), &[]);
    let mut first = server.client();
    for index in 0..INDICES {
        let settings = json!({"settings": {"number_of_shards": 2, "number_of_replicas": 0}});
        first.expect(200, "PUT", &format!("/i{index}"), settings);
    }
    // More connections than descriptors: those beyond the limit are refused or replace others.
    let mut idle: Vec<TcpStream> = Vec::new();
    for number in 0..300 {
        let mut stream = TcpStream::connect(server.address).expect("the server listens");
        // Some have sent the beginning of a request; some have sent a whole one and do not read the response.
        match number % 3 {
            0 => {}
            1 => stream.write_all(b"GET / HTTP/1.1\r\nhost").expect("sent"),
            _ => drop(stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")),
        }
        idle.push(stream);
    }
    // Longer than the idle time, so that idle connections may be closed.
    std::thread::sleep(Duration::from_millis(1_500));
    std::thread::scope(|scope| {
        for number in 0..4 {
            let server = &server;
            scope.spawn(move || load(&mut server.client(), number, 15));
        }
    });
    let mut client = server.client();
    let counted = client.expect(200, "GET", "/i*/_count", Value::Null);
    assert_eq!(counted["count"], 4 * 15 * 20 * INDICES);
    assert_eq!(counted["_shards"]["failed"], 0);
    let shown = connections(&mut client);
    let number = |key: &str| shown[key].as_u64().unwrap_or_else(|| panic!("{key} in {shown}"));
    assert!(number("max") < 100 && number("allowed") <= number("max"), "{shown}");
    assert!(number("open") <= number("allowed") + 4, "{shown}");
    assert!(number("refused") + number("closed_idle") > 150, "{shown}");
    assert!(number("descriptors") < 128, "{shown}");
    assert_eq!(number("accept_failures"), 0, "{shown}");
    drop(idle);
}

#[test]
fn a_connection_beyond_the_limit_is_told_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(folder.path(), &["-E", "http.max_connections=3"]);
    // Three busy connections: their requests wait for a cluster health of many nodes, which never comes.
    let busy: Vec<TcpStream> = (0..3)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).expect("the server listens");
            stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout can be set");
            stream
                .write_all(b"GET /_cluster/health?wait_for_nodes=7&timeout=5s HTTP/1.1\r\nhost: a\r\n\r\n")
                .expect("sent");
            stream
        })
        .collect();
    let patience = Instant::now() + Duration::from_secs(60);
    let refused = loop {
        assert!(Instant::now() < patience, "nothing is refused");
        let mut stream = TcpStream::connect(server.address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout can be set");
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        if !answer.starts_with("HTTP/1.1 200") {
            break answer;
        }
    };
    assert!(refused.starts_with("HTTP/1.1 429"), "{refused}");
    let (head, body) = refused.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.contains("x-elastic-product") || head.contains("X-elastic-product"), "{head}");
    let body: Value = serde_json::from_str(body).expect("JSON");
    assert_eq!(body["error"]["type"], "es_rejected_execution_exception");
    assert_eq!(body["status"], 429);
    // The busy connections get their responses; after that there is capacity again.
    for mut stream in busy {
        let mut head = [0; 12];
        stream.read_exact(&mut head).expect("an answer");
        assert_eq!(&head, b"HTTP/1.1 408");
    }
    std::thread::sleep(Duration::from_millis(1_500));
    server.client().expect(200, "GET", "/", Value::Null);
}

#[test]
fn the_limit_is_raised_to_what_the_process_may_have() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let check = |ulimit: &str, expected: &[u64]| {
        let server = ServerProcess::start_with_limit(ulimit, folder.path(), &[]);
        let path = format!("/proc/{}/limits", server.process_id());
        let limits = std::fs::read_to_string(path).expect("the limits of a process");
        let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("a line");
        let found: Vec<u64> = line.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert_eq!(found, expected, "soft and hard limit after {ulimit}");
    };
    check("-S -n 100 && ulimit -H -n 300", &[300, 300]);
    check("-n 200", &[200, 200]);
}
