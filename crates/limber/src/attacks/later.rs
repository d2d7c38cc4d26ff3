//! A user lets the server do later what the user may not do: with transforms, enrich policies and lifecycles.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Attacked, PASSWORD};

/// Contained in every hidden document, in every hidden field, and in the index `other`.
const SECRET: &str = "sesame";

impl Attacked {
    fn mallory(&self, method: &str, path: &str, body: &Value) -> (u16, String) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.send(Some("mallory"), method, path, &body);
        assert!(!answer.text.contains(SECRET), "{method} {path}: {}", answer.text);
        (answer.status, answer.text)
    }

    fn check(&self, expected: u16, method: &str, path: &str, body: Value) -> String {
        let (status, text) = self.mallory(method, path, &body);
        assert_eq!(status, expected, "{method} {path}: {text}");
        text
    }

    /// Returns the answer to a GET of `elastic`, whatever its status.
    fn seen(&self, path: &str) -> String {
        self.send(Some("elastic"), "GET", path, "").text
    }

    fn status(&self, path: &str) -> u16 {
        self.send(Some("elastic"), "GET", path, "").status
    }

    /// Starts a transform and waits until its run has ended.
    fn run(&self, id: &str) {
        let node = self.server.as_ref().expect("running").node();
        node.start_transform(id).expect("started");
        let start = Instant::now();
        loop {
            node.transform_tick();
            let stats = node.transform_stats(id, false, (0, 1)).expect("known");
            let state = &stats["transforms"][0]["state"];
            if state == "stopped" || state == "failed" {
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{stats}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn lifecycle_rounds(&self) {
        let node = self.server.as_ref().expect("running").node();
        (0..3).for_each(|_| node.lifecycle_round());
    }
}

fn prepared() -> Attacked {
    let attacked = Attacked::start();
    let keyword = json!({"type": "keyword"});
    let properties = json!({"owner": keyword, "raw": keyword, "h_keyword": keyword, "n": {"type": "long"}});
    attacked.elastic("PUT", "/docs", json!({"mappings": {"properties": properties}}));
    for (id, owner, raw) in [(1, "mallory", "mine"), (2, "alice", SECRET)] {
        let document = json!({"owner": owner, "raw": raw, "h_keyword": SECRET, "n": 1});
        attacked.elastic("PUT", &format!("/docs/_doc/{id}?refresh"), document);
    }
    attacked.elastic("PUT", "/other/_doc/1?refresh", json!({"raw": SECRET, "n": 1}));
    attacked.elastic("PUT", "/mine/_doc/1?refresh", json!({"raw": "mine", "n": 1}));
    let role = json!({
    "cluster": ["monitor", "manage_transform", "manage_enrich", "manage_ilm", "manage_slm", "manage_pipeline"],
    "indices": [
        {"names": ["docs"], "privileges": ["read", "view_index_metadata"], "query": {"term": {"owner": "mallory"}},
         "field_security": {"grant": ["*"], "except": ["h_*"]}},
        {"names": ["mine*"], "privileges": ["all"]},
    ]});
    attacked.elastic("PUT", "/_security/role/limited", role);
    attacked.elastic("PUT", "/_security/user/mallory", json!({"password": PASSWORD, "roles": ["limited"]}));
    attacked
}

fn latest(source: &str, dest: &str) -> Value {
    json!({"source": {"index": source}, "dest": {"index": dest}, "latest": {"unique_key": ["raw"], "sort": "n"}})
}

#[test]
fn transforms_of_others_show_and_delete_nothing() {
    let attacked = prepared();
    for id in ["b", "c"] {
        let mapping =
            json!({"mappings": {"properties": {"raw": {"type": "keyword"}, "n": {"type": "long"}}}});
        attacked.elastic("PUT", &format!("/boss_{id}"), mapping);
        let body = json!({"source": {"index": "other"}, "dest": {"index": format!("boss_{id}")},
            "latest": {"unique_key": ["raw.keyword"], "sort": "n"}});
        attacked.elastic("PUT", &format!("/_transform/{id}"), body);
        attacked.run(id);
        assert!(attacked.seen(&format!("/boss_{id}/_search")).contains(SECRET));
    }
    attacked.check(403, "POST", "/_transform/b/_preview", Value::Null);
    attacked.check(403, "POST", "/_transform/_preview", latest("other", "mine_x"));
    attacked.check(403, "DELETE", "/_transform/b?delete_dest_index=true&force=true", Value::Null);
    attacked.check(403, "POST", "/_transform/c/_reset?force=true", Value::Null);
    attacked.check(403, "POST", "/_transform/b/_start", Value::Null);
    for path in ["/_transform/b", "/_transform/c", "/boss_b", "/boss_c"] {
        assert_eq!(attacked.status(path), 200, "{path}");
    }
    // Transforms themselves are hers to manage.
    let own = json!({"source": {"index": "mine"}, "dest": {"index": "mine_d"},
        "latest": {"unique_key": ["raw.keyword"], "sort": "n"}});
    attacked.check(200, "PUT", "/_transform/own", own);
    attacked.run("own");
    assert_eq!(attacked.status("/mine_d"), 200);
    attacked.check(200, "DELETE", "/_transform/own?delete_dest_index=true", Value::Null);
    assert_eq!(attacked.status("/mine_d"), 404);
    attacked.check(200, "DELETE", "/_transform/b?force=true", Value::Null);
}

#[test]
fn transforms_see_what_their_author_sees() {
    let attacked = prepared();
    attacked.check(200, "PUT", "/_transform/t", latest("docs", "mine_t"));
    attacked.run("t");
    let seen = attacked.seen("/mine_t/_search");
    assert!(seen.contains("\"raw\":\"mine\"") && !seen.contains(SECRET), "{seen}");
    // Whoever starts it, it has the rights of its author, whose name is not shown.
    let shown = attacked.seen("/_transform/t");
    assert!(!shown.contains("author"), "{shown}");
    attacked.elastic("PUT", "/_transform/b", latest("docs", "boss_t"));
    attacked.run("b");
    assert!(attacked.seen("/boss_t/_search").contains(SECRET));
    attacked.check(200, "POST", "/_transform/b/_update", json!({"dest": {"index": "mine_b"}}));
    attacked.run("b");
    let seen = attacked.seen("/mine_b/_search");
    assert!(seen.contains("\"raw\":\"mine\"") && !seen.contains(SECRET), "{seen}");
    // Patterns stand for what she may read.
    attacked.check(403, "POST", "/_transform/b/_update", json!({"source": {"index": "other"}}));
    attacked.check(
        200,
        "POST",
        "/_transform/b/_update",
        json!({"source": {"index": ["oth*", "docs"]}, "dest": {"index": "mine_o"}}),
    );
    attacked.run("b");
    let seen = attacked.seen("/mine_o/_search");
    assert!(seen.contains("\"raw\":\"mine\"") && !seen.contains(SECRET), "{seen}");
    // Rights that are taken away are gone in the next run.
    let other = json!({"indices": [{"names": ["mine*"], "privileges": ["all"]}]});
    attacked.elastic("PUT", "/_security/role/limited", other);
    attacked.elastic("PUT", "/_transform/keep", latest("docs", "boss_k"));
    attacked.run("t");
    let stats = attacked.seen("/_transform/t/_stats");
    assert!(stats.contains("\"state\":\"failed\""), "{stats}");
    attacked.run("keep");
    assert!(attacked.seen("/boss_k/_search").contains(SECRET));
}

#[test]
fn enrich_policies_read_what_the_user_reads() {
    let attacked = prepared();
    let policy = |indices: &str| json!({"match": {"indices": indices, "match_field": "n", "enrich_fields": ["h_keyword", "raw"]}});
    for (name, indices) in [("whole", "docs"), ("pattern", "*")] {
        attacked.check(200, "PUT", &format!("/_enrich/policy/{name}"), policy(indices));
        attacked.check(200, "PUT", &format!("/_enrich/policy/{name}/_execute"), Value::Null);
        let seen = attacked.seen(&format!("/.enrich-{name}/_search"));
        assert!(seen.contains("mine") && !seen.contains(SECRET), "{seen}");
    }
    attacked.check(403, "PUT", "/_enrich/policy/others", policy("other"));
    attacked.elastic("PUT", "/_enrich/policy/boss", policy("other"));
    attacked.check(403, "PUT", "/_enrich/policy/boss/_execute", Value::Null);
    attacked.elastic("PUT", "/_enrich/policy/boss/_execute", Value::Null);
    assert!(attacked.seen("/.enrich-boss/_search").contains(SECRET));
    attacked.check(200, "DELETE", "/_enrich/policy/whole", Value::Null);
    assert_eq!(attacked.status("/.enrich-whole"), 404);
}

#[test]
fn lifecycles_do_what_the_author_of_the_policy_may_do() {
    let attacked = prepared();
    let harmless = || json!({"policy": {"phases": {"hot": {"actions": {}}}}});
    let deleting = || json!({"policy": {"phases": {"hot": {"actions": {}}, "delete": {"min_age": "0ms", "actions": {"delete": {}}}}}});
    attacked.elastic("PUT", "/_ilm/policy/shared", harmless());
    for index in ["other", "mine"] {
        attacked.elastic("PUT", &format!("/{index}/_settings"), json!({"index.lifecycle.name": "shared"}));
    }
    attacked.lifecycle_rounds();
    attacked.check(403, "DELETE", "/other", Value::Null);
    attacked.check(200, "PUT", "/_ilm/policy/shared", deleting());
    attacked.lifecycle_rounds();
    assert_eq!((attacked.status("/other"), attacked.status("/mine")), (200, 404));
    let explained = attacked.seen("/other/_ilm/explain");
    assert!(explained.contains("security_exception") && explained.contains("mallory"), "{explained}");
    assert!(!explained.contains("\"author\"") && !attacked.seen("/_ilm/policy/shared").contains("author"));
    // What she defined does not get the rights of the next user who changes the policy.
    attacked.elastic("PUT", "/_ilm/policy/shared", harmless());
    attacked.lifecycle_rounds();
    assert_eq!(attacked.status("/other"), 200);
    attacked.elastic("PUT", "/_ilm/policy/shared", deleting());
    attacked.lifecycle_rounds();
    assert_eq!(attacked.status("/other"), 404);
}

#[test]
fn snapshot_policies_need_the_right_to_take_snapshots() {
    let attacked = prepared();
    attacked.elastic("PUT", "/_snapshot/r", json!({"type": "fs", "settings": {"location": "r"}}));
    let policy = json!({"schedule": "0 0 0 1 1 ?", "name": "s", "repository": "r"});
    let run = |word: &str| {
        let start = Instant::now();
        loop {
            let shown = attacked.seen("/_slm/policy/p");
            if shown.contains(word) {
                return shown;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{shown}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    attacked.check(200, "PUT", "/_slm/policy/p", policy.clone());
    attacked.check(200, "PUT", "/_slm/policy/p/_execute", Value::Null);
    let shown = run("last_failure");
    assert!(shown.contains("security_exception") && !shown.contains("\"author\""), "{shown}");
    attacked.elastic("PUT", "/_slm/policy/p", policy);
    attacked.elastic("PUT", "/_slm/policy/p/_execute", Value::Null);
    run("last_success");
}
