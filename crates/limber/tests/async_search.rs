//! Searches that are started, polled, fetched and deleted.

mod support;

use serde_json::{Value, json};
use support::ServerProcess;

#[test]
fn an_answer_is_fetched_when_it_is_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(folder.path(), &[]);
    let mut client = server.client();
    let lines: String = (0..50).map(|number| format!("{{\"index\":{{}}}}\n{{\"n\":{number}}}\n")).collect();
    assert_eq!(client.send("POST", "/i/_bulk?refresh=true", lines).json()["errors"], json!(false));

    let body = json!({"size": 0, "aggs": {"n": {"max": {"field": "n"}}}}).to_string();
    let at_once = client.send("POST", "/i/_async_search", &*body);
    let answer = at_once.json();
    assert_eq!((at_once.status, answer.get("id")), (200, None));
    assert_eq!((&answer["is_partial"], &answer["is_running"]), (&json!(false), &json!(false)));
    assert_eq!(answer["response"]["aggregations"]["n"]["value"], json!(49.0));
    assert!(answer["completion_time_in_millis"].as_u64() >= answer["start_time_in_millis"].as_u64());

    let kept = client.send("POST", "/i/_async_search?keep_on_completion=true&keep_alive=2m", &*body).json();
    let id = kept["id"].as_str().expect("an id").to_owned();
    let fetched = client.send("GET", &format!("/_async_search/{id}?keep_alive=10m"), "").json();
    assert_eq!(fetched["response"]["hits"]["total"], json!({"value": 50, "relation": "eq"}));
    assert!(fetched["expiration_time_in_millis"].as_u64() > kept["expiration_time_in_millis"].as_u64());
    let status = client.send("GET", &format!("/_async_search/status/{id}"), "").json();
    assert_eq!((&status["completion_status"], &status["_shards"]["total"]), (&json!(200), &json!(1)));
    assert_eq!(status.get("response"), None);
    let deleted = client.send("DELETE", &format!("/_async_search/{id}"), "");
    assert_eq!((deleted.status, deleted.json()), (200, json!({"acknowledged": true})));
    for path in [format!("/_async_search/{id}"), format!("/_async_search/status/{id}")] {
        let gone = client.send("GET", &path, "");
        assert_eq!(gone.status, 404);
        assert_eq!(gone.json()["error"]["type"], "resource_not_found_exception");
    }

    // A request that does not wait: the search is running, or has ended in the meantime.
    let started =
        client.send("POST", "/i/_async_search?wait_for_completion_timeout=0&keep_on_completion=true", &*body);
    let id = started.json()["id"].as_str().expect("an id").to_owned();
    let end = client.send("GET", &format!("/_async_search/{id}?wait_for_completion_timeout=30s"), "").json();
    assert_eq!((&end["is_running"], &end["response"]["hits"]["total"]["value"]), (&json!(false), &json!(50)));

    let failing = json!({"query": {"range": {"n": {"gte": "x"}}}}).to_string();
    let failed = client.send("POST", "/i/_async_search?keep_on_completion=true", failing);
    let body: Value = failed.json();
    assert_eq!((failed.status, &body["is_partial"], &body["is_running"]), (400, &json!(true), &json!(false)));
    assert_eq!(body["error"]["type"], "search_phase_execution_exception");

    for (path, status) in [
        ("/absent/_async_search", 404),
        ("/i/_async_search?keep_alive=999ms", 400),
        ("/i/_async_search?scroll=1m", 400),
    ] {
        assert_eq!(client.send("POST", path, "{}").status, status, "{path}");
    }
}
