//! Excessive numbers of nested documents.

use serde_json::json;

use super::{Victim, list, nested};

#[test]
fn objects_without_end() {
    let mut victim = Victim::start();
    victim.ok("PUT", "/n", json!({"mappings": {"properties": {"a": {"type": "nested"}}}}).to_string());
    let objects = |count: usize| format!("{{\"a\":[{}]}}", list(count, |n| format!("{{\"x\":{n}}}")));
    victim.bad("PUT", "/n/_doc/1", objects(10_001));
    victim.ok("PUT", "/n/_doc/1?refresh=true", objects(10_000));
    victim.bad("PUT", "/n/_doc/2", format!("{{\"a\":{}}}", nested("[", "{}", "]", 100_000)));
    let shown =
        json!({"query": {"nested": {"path": "a", "query": {"match_all": {}}, "inner_hits": {"size": 100}}}});
    victim.ok("POST", "/n/_search", shown.to_string());
    let counted = victim.ok("GET", "/n/_count", "");
    assert_eq!(counted["count"], 1);
}

#[test]
fn mappings_without_end() {
    let mut victim = Victim::start();
    let paths = list(51, |n| format!("\"p{n}\":{{\"type\":\"nested\"}}"));
    victim.bad("PUT", "/m", format!("{{\"mappings\":{{\"properties\":{{{paths}}}}}}}"));
    let deep = nested("{\"type\":\"nested\",\"properties\":{\"a\":", "{\"type\":\"long\"}", "}}", 15);
    victim.ok("PUT", "/m", format!("{{\"mappings\":{{\"properties\":{{\"a\":{deep}}}}}}}"));
    let source = nested("{\"a\":[", "{\"a\":1}", "]}", 15);
    victim.ok("PUT", "/m/_doc/1?refresh=true", source);
    let path = "a.".repeat(14) + "a";
    let query =
        json!({"query": {"nested": {"path": path, "query": {"exists": {"field": format!("{path}.a")}}}}});
    let found = victim.ok("POST", "/m/_search", query.to_string());
    assert_eq!(found["hits"]["total"]["value"], 1);
}
