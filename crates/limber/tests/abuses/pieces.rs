//! One text that is taken apart: into names, lines, characters and tags, each of which takes many times its
//! size.

use serde_json::{Value, json};

use super::Victim;

/// As many names of one letter as fit into a body that the server reads, and a hundred times too many for a
/// list of them.
const NAMES: usize = 8 << 20;
const ANY: &[u16] = &[400, 413, 429];

fn victim() -> Victim {
    let mut victim = Victim::start();
    let properties = json!({"t": {"type": "text"}, "d": {"type": "date"}, "g": {"type": "geo_point"}});
    victim.ok("PUT", "/i", json!({"mappings": {"properties": properties}}).to_string());
    victim
}

#[test]
fn lists_in_a_text() {
    let mut victim = victim();
    let list = || Value::from("a,".repeat(NAMES) + "a");
    let mut check = |method: &str, path: &str, body: Value| {
        victim.refused(ANY, method, path, body.to_string());
    };
    check("POST", "/_aliases", json!({"actions": [{"add": {"index": "i", "alias": list()}}]}));
    check("PUT", "/sorted", json!({"settings": {"index.sort.field": list()}}));
    let stop = json!({"type": "stop", "stopwords": list()});
    check("POST", "/_analyze", json!({"tokenizer": "standard", "filter": [stop], "text": "a"}));
    let flattened = json!({"type": "flattened", "time_series_dimensions": list()});
    check("PUT", "/series", json!({"mappings": {"properties": {"f": flattened}}}));
    check("PUT", "/i/_doc/1", json!({"g": list()}));
    let formats = "y||".repeat(NAMES) + "y";
    check("POST", "/i/_search", json!({"query": {"range": {"d": {"gte": "2020", "format": formats}}}}));
}

#[test]
fn lines_characters_and_tags() {
    let mut victim = victim();
    let lines = "{}".to_owned() + &"\n".repeat(2 * NAMES);
    victim.bad("POST", "/_msearch", lines);
    let brackets =
        json!({"query": {"simple_query_string": {"query": "(".repeat(2 * NAMES), "fields": ["t"]}}});
    victim.send("POST", "/i/_search", brackets.to_string());
    let tags = json!({"source": "{{a}}".repeat(NAMES / 2)});
    victim.send("POST", "/_render/template", tags.to_string());
    let set = json!({"set": {"field": "b", "value": "{{a}}".repeat(NAMES / 2)}});
    victim.send("PUT", "/_ingest/pipeline/p", json!({"processors": [set]}).to_string());
}
