//! Files of a running server are truncated or changed from outside: the process survives, other indices
//! respond, and no response contains data from a damaged file.

mod support;

use std::fmt::Write as _;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Client, ServerProcess};

const DOCUMENTS: u64 = 3000;

fn fill(client: &mut Client, index: &str) {
    client.expect(200, "PUT", &format!("/{index}"), json!({"settings": {"number_of_replicas": 0, "refresh_interval": "-1"},
        "mappings": {"properties": {"k": {"type": "keyword"}, "n": {"type": "long"}, "t": {"type": "text"}}}}));
    let mut body = String::new();
    for n in 0..DOCUMENTS {
        let _ = writeln!(body, "{{\"index\":{{\"_id\":\"{n}\"}}}}");
        let _ = writeln!(
            body,
            "{}",
            json!({"n": n, "k": format!("key-{}", n * 7919 % 3001), "t": format!("all of word{} and {}", n % 50, n)})
        );
    }
    let answer = client.send("POST", &format!("/{index}/_bulk"), body).json();
    assert_eq!(answer["errors"], false);
    client.expect(200, "POST", &format!("/{index}/_forcemerge?max_num_segments=1&flush=true"), Value::Null);
}

/// Returns the largest segment file of an index.
fn segment_file(data: &Path, client: &mut Client, index: &str) -> PathBuf {
    let settings = client.expect(200, "GET", &format!("/{index}/_settings"), Value::Null);
    let uuid = settings[index]["settings"]["index"]["uuid"].as_str().expect("a uuid").to_owned();
    let files = std::fs::read_dir(data.join("indices").join(uuid).join("0")).expect("lists");
    let files = files
        .map(|file| file.expect("reads").path())
        .filter(|file| file.extension().is_some_and(|end| end == "seg"));
    files.max_by_key(|file| file.metadata().map_or(0, |metadata| metadata.len())).expect("a segment")
}

/// Returns searches that read every part of a segment.
fn searches() -> Vec<Value> {
    vec![
        json!({"query": {"match": {"t": "word7"}}, "size": 5, "sort": ["n"]}),
        json!({"query": {"term": {"k": "key-1"}}}),
        json!({"query": {"range": {"n": {"gte": 2900}}}, "size": 3, "sort": [{"n": "desc"}]}),
        json!({"size": 0, "track_total_hits": true, "aggs": {"sum": {"sum": {"field": "n"}}}}),
        json!({"size": 0, "aggs": {"keys": {"terms": {"field": "k", "size": 3, "order": {"_key": "desc"}}}}}),
        json!({"query": {"prefix": {"k": "key-29"}}, "size": 0}),
        json!({"query": {"match_phrase": {"t": "word3 and 1503"}}, "_source": ["n"]}),
        json!({"query": {"bool": {"must_not": {"exists": {"field": "k"}}}}, "size": 0}),
        json!({"query": {"match_all": {}}, "from": 2990, "size": 10, "sort": [{"k": "asc"}]}),
    ]
}

fn without_took(mut answer: Value) -> Value {
    answer.as_object_mut().map(|answer| answer.remove("took"));
    answer
}

fn ask(client: &mut Client, index: &str, search: &Value) -> (u16, Value) {
    let answer = client.send("POST", &format!("/{index}/_search"), search.to_string());
    (answer.status, without_took(answer.json()))
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_segment_that_is_cut_under_a_running_server() {
    let temporary = tempfile::tempdir().expect("tempdir");
    let mut server = ServerProcess::start(temporary.path(), &[]);
    let mut client = server.client();
    fill(&mut client, "cut");
    fill(&mut client, "fine");
    let expected: Vec<(u16, Value)> =
        searches().iter().map(|search| ask(&mut client, "cut", search)).collect();
    let of_fine: Vec<(u16, Value)> =
        searches().iter().map(|search| ask(&mut client, "fine", search)).collect();
    assert!(expected.iter().all(|(status, answer)| *status == 200 && answer["_shards"]["failed"] == 0));

    let file = segment_file(temporary.path(), &mut client, "cut");
    let len = file.metadata().expect("is there").len();
    assert!(len > 100_000, "{len}");
    let cut = std::fs::File::options().write(true).open(&file).expect("opens");
    // The file gets a little shorter each time.
    for cut_to in [len - 1, len - 100].into_iter().chain((0..20).rev().map(|part| len * part / 20)) {
        cut.set_len(cut_to).expect("cuts");
        for (search, expected) in searches().iter().zip(&expected) {
            let (status, answer) = ask(&mut client, "cut", search);
            if status == 200 {
                assert_eq!(answer, expected.1, "{search}");
                continue;
            }
            assert_eq!(status, 500, "{answer}");
            let text = answer.to_string();
            assert!(text.contains("corrupt_index_exception") && text.contains(".seg"), "{text}");
        }
        assert!(server.is_running());
    }
    for (search, expected) in searches().iter().zip(&of_fine) {
        assert_eq!(ask(&mut client, "fine", search), *expected, "{search}");
        // Both indices together: the failed shard is named, and the response contains nothing from it.
        let (status, both) = ask(&mut client, "cut,fine", search);
        assert_eq!(status, 200);
        assert_eq!(both["_shards"]["failed"], 1, "{both}");
        assert_eq!(both["_shards"]["failures"][0]["index"], "cut");
        assert_eq!(both["hits"]["total"], expected.1["hits"]["total"]);
        assert_eq!(both["hits"]["hits"], expected.1["hits"]["hits"]);
        assert_eq!(both["aggregations"], expected.1["aggregations"]);
    }
    assert_eq!(client.send("GET", "/cut/_doc/7", "").status, 500);
    assert_eq!(client.send("GET", "/fine/_doc/7", "").status, 200);
    wait_until("health says so", || {
        client.expect(200, "GET", "/_cluster/health/cut", Value::Null)["status"] == "red"
    });
    let rows = client.send("GET", "/_cat/shards/cut?h=index,state,unassigned.details", "").text();
    assert!(rows.contains("corrupt file _"), "{rows}");
    // New documents go into new segments.
    client.expect(201, "POST", "/fine/_doc?refresh=true", json!({"n": 1}));
    let merged = client.send("POST", "/cut/_forcemerge?max_num_segments=1", "").json().to_string();
    assert!(merged.contains("corrupt_index_exception"), "{merged}");
    assert!(server.is_running());
}

#[test]
fn rot_is_found_by_the_scrub_of_a_running_server() {
    let temporary = tempfile::tempdir().expect("tempdir");
    let scrub = ["-E", "indices.scrub.interval=1s", "-E", "indices.scrub.max_bytes_per_sec=1gb"];
    let mut server = ServerProcess::start(temporary.path(), &scrub);
    let mut client = server.client();
    fill(&mut client, "rots");
    wait_until("a pass", || {
        let stats = client.expect(200, "GET", "/_nodes/stats/limber", Value::Null).to_string();
        !stats.contains("\"passes\":0")
    });
    assert_eq!(client.expect(200, "GET", "/_cluster/health", Value::Null)["status"], "green");
    let file = segment_file(temporary.path(), &mut client, "rots");
    let (middle, mut byte) = (file.metadata().expect("is there").len() / 2, [0]);
    let open = std::fs::File::options().read(true).write(true).open(&file).expect("opens");
    open.read_exact_at(&mut byte, middle).expect("reads");
    open.write_all_at(&[byte[0] ^ 0x10], middle).expect("writes");
    wait_until("the scrub finds it", || {
        client.expect(200, "GET", "/_cluster/health", Value::Null)["status"] == "red"
    });
    let stats = client.expect(200, "GET", "/_nodes/stats/limber", Value::Null).to_string();
    assert!(stats.contains("\"damage\":[{") && stats.contains("checksum"), "{stats}");
    let name = file.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(stats.contains(&name), "{stats}");
    client.expect(
        200,
        "PUT",
        "/_cluster/settings",
        json!({"transient": {"indices.scrub.max_bytes_per_sec": "0"}}),
    );
    assert!(server.is_running());
}
