//! By-query requests as tasks: they are polled, rethrottled and cancelled while they run. Copying documents
//! while others are written.

mod support;

use std::time::Duration;

use serde_json::{Value, json};
use support::{Client, ServerProcess};

fn fill(client: &mut Client, index: &str, count: usize) {
    let settings = json!({"settings": {"number_of_shards": 2, "number_of_replicas": 0}});
    assert_eq!(client.send("PUT", &format!("/{index}"), settings.to_string()).status, 200);
    let lines: String = (0..count)
        .map(|number| format!("{{\"index\":{{\"_id\":\"{number}\"}}}}\n{{\"n\":{number}}}\n"))
        .collect();
    let answer = client.send("POST", &format!("/{index}/_bulk?refresh=true"), lines);
    assert_eq!(answer.json()["errors"], json!(false));
}

/// Polls the task for at most half a minute until `is_wanted` accepts its state, and returns that state.
fn wait_for(client: &mut Client, task: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..600 {
        let state = client.send("GET", &format!("/_tasks/{task}"), "").json();
        if is_wanted(&state) {
            return state;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("task {task} never became what was waited for")
}

#[test]
fn a_task_is_watched_sped_up_and_cancelled() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(folder.path(), &[]);
    let mut client = server.client();
    fill(&mut client, "from", 40);
    let slow = "wait_for_completion=false&requests_per_second=0.5";
    let body = |to: &str| json!({"source": {"index": "from", "size": 10}, "dest": {"index": to}}).to_string();

    let started = client.send("POST", &format!("/_reindex?{slow}"), body("sped_up")).json();
    let task = started["task"].as_str().expect("a task's id").to_owned();
    let state = wait_for(&mut client, &task, |state| state["task"]["status"]["created"] == json!(10));
    let status = &state["task"]["status"];
    assert_eq!(
        (&state["completed"], &status["total"], &status["batches"]),
        (&json!(false), &json!(40), &json!(1))
    );
    assert_eq!(status["requests_per_second"], json!(0.5));
    assert_eq!(state["task"]["action"], "indices:data/write/reindex");
    assert_eq!(state["task"]["description"], "reindex from [from] to [sped_up]");
    let answer = client.send("POST", &format!("/_reindex/{task}/_rethrottle?requests_per_second=-1"), "");
    assert_eq!(answer.status, 200);
    let end = wait_for(&mut client, &task, |state| state["completed"] == json!(true));
    assert_eq!((&end["response"]["created"], &end["response"]["failures"]), (&json!(40), &json!([])));
    assert!(end["response"]["throttled_millis"].as_u64().is_some_and(|ms| ms > 0));

    let started = client.send("POST", &format!("/_reindex?{slow}&slices=2"), body("cancelled")).json();
    let task = started["task"].as_str().expect("a task's id").to_owned();
    wait_for(&mut client, &task, |state| state["task"]["status"]["created"] == json!(20));
    let answer = client.send("POST", &format!("/_tasks/{task}/_cancel"), "").json();
    assert!(answer["nodes"].as_object().is_some_and(|nodes| nodes.len() == 1));
    let end = wait_for(&mut client, &task, |state| state["completed"] == json!(true));
    assert_eq!(end["response"]["canceled"], "by user request");
    assert_eq!((&end["response"]["created"], &end["response"]["failures"]), (&json!(20), &json!([])));
    assert_eq!(end["response"]["slices"].as_array().map(Vec::len), Some(2));

    let answer = client.send("POST", "/_reindex/none:7/_rethrottle?requests_per_second=-1", "");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["node_failures"][0]["caused_by"]["type"], "no_such_node_exception");
}

/// As in Elasticsearch, a destination that is deleted is created again by the next batch. An index whose
/// documents are changed in place is not.
#[test]
fn what_is_deleted_midway_is_created_again_only_as_a_destination() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(folder.path(), &[]);
    let mut client = server.client();
    fill(&mut client, "from", 40);
    let slow = "wait_for_completion=false&requests_per_second=0.5";
    let copy = json!({"source": {"index": "from", "size": 10}, "dest": {"index": "to"}}).to_string();
    let requests = [
        (format!("/_reindex?{slow}"), copy, "to", "created"),
        (format!("/from/_update_by_query?{slow}&scroll_size=10"), "{}".to_owned(), "from", "updated"),
    ];
    for (path, body, deleted, counter) in requests {
        let started = client.send("POST", &path, body).json();
        let task = started["task"].as_str().unwrap_or_else(|| panic!("{path}: {started}")).to_owned();
        wait_for(&mut client, &task, |state| state["task"]["status"][counter] == json!(10));
        assert_eq!(client.send("DELETE", &format!("/{deleted}"), "").status, 200);
        let answer = client.send("POST", &format!("/_reindex/{task}/_rethrottle?requests_per_second=-1"), "");
        assert_eq!(answer.status, 200, "{}", answer.text());
        let end = wait_for(&mut client, &task, |state| state["completed"] == json!(true));
        let failures = end["response"]["failures"].as_array().map_or(0, Vec::len);
        match deleted {
            "to" => {
                assert_eq!((&end["response"][counter], failures), (&json!(40), 0), "{end}");
                client.send("POST", "/to/_refresh", "");
                assert_eq!(client.send("GET", "/to/_count", "").json()["count"], json!(30));
            }
            _ => {
                assert!(end["response"][counter] == json!(10) && failures > 0, "{end}");
                assert_eq!(client.send("HEAD", "/from", "").status, 404);
            }
        }
    }
}

#[test]
fn a_task_about_no_index_ends_with_the_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(folder.path(), &[]);
    let mut client = server.client();
    let reindex = json!({"source": {"index": "none"}, "dest": {"index": "to"}});
    for (path, body) in [
        ("/none/_delete_by_query", json!({"query": {"match_all": {}}})),
        ("/none/_update_by_query", json!({})),
        ("/_reindex", reindex),
    ] {
        let path = format!("{path}?wait_for_completion=false");
        let answer = client.send("POST", &path, body.to_string());
        assert_eq!(answer.status, 200, "{path}");
        let task = answer.json()["task"].as_str().expect("a task's id").to_owned();
        let end = wait_for(&mut client, &task, |state| state["completed"] == json!(true));
        assert_eq!(end["error"]["type"], "index_not_found_exception", "{path}");
    }
}

/// Every document is either as the update by query left it, or as a writer changed it later: nothing is lost
/// and nothing is done twice.
#[test]
fn writers_beside_an_update_lose_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(folder.path(), &[]);
    let mut client = server.client();
    fill(&mut client, "busy", 3000);
    let writer = std::thread::spawn({
        let mut client = server.client();
        move || {
            for number in (0..3000).step_by(7) {
                let body = json!({"n": number, "later": true}).to_string();
                assert_eq!(client.send("PUT", &format!("/busy/_doc/{number}"), body).status, 200);
            }
        }
    });
    let path = "/busy/_update_by_query?conflicts=proceed&slices=3&scroll_size=100&refresh=true";
    let answer = client.send("POST", path, "");
    assert_eq!(answer.status, 200);
    writer.join().expect("the writer ends");
    let answer = answer.json();
    let count = |name: &str| answer[name].as_u64().expect("a counter");
    assert_eq!(count("updated") + count("version_conflicts"), 3000);
    assert_eq!(client.send("POST", "/busy/_refresh", "").status, 200);
    assert_eq!(client.send("GET", "/busy/_count", "").json()["count"], json!(3000));
    let later = client.send("GET", "/busy/_count?q=later:true", "").json();
    assert_eq!(later["count"], json!(3000_u64.div_ceil(7)));
}
