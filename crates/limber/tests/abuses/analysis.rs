//! Patterns and replacements of analyzers whose worst case is quadratic in the length of the text.

use serde_json::json;

use super::Victim;

/// Each `a` starts a match that searches for `x` up to the end of the text.
const QUADRATIC: &str = ".*?x|.";

#[test]
fn patterns_that_take_too_long() {
    let mut victim = Victim::start();
    let long = "a".repeat(300_000);
    let filter = json!({"type": "pattern_replace", "pattern": QUADRATIC, "replacement": "b"});
    let request = json!({"tokenizer": "keyword", "char_filter": [filter], "text": long});
    assert_eq!(victim.bad("POST", "/_analyze", request.to_string()), "illegal_argument_exception");
    let analysis = json!({"char_filter": {"p": filter}, "analyzer": {"a": {"tokenizer": "keyword", "char_filter": ["p"]}}});
    let index = json!({"settings": {"analysis": analysis}, "mappings": {"properties": {"t": {"type": "text", "analyzer": "a"}}}});
    victim.ok("PUT", "/i", index.to_string());
    victim.bad("PUT", "/i/_doc/1", json!({"t": long}).to_string());
    victim.ok("PUT", "/i/_doc/2?refresh=true", json!({"t": "aaxaa"}).to_string());
    assert_eq!(victim.ok("GET", "/i/_count", "")["count"], 1, "the refused document left nothing");
}

#[test]
fn many_mappings() {
    let mut victim = Victim::start();
    let rules: Vec<String> = (1..1_500).map(|count| format!("{} => b", "a".repeat(count))).collect();
    let request = json!({"tokenizer": "keyword", "char_filter": [{"type": "mapping", "mappings": rules}], "text": "a".repeat(1_499 * 3)});
    let tokens = victim.ok("POST", "/_analyze", request.to_string());
    assert_eq!(tokens["tokens"][0]["token"], "bbb", "the longest wins");
}
