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
    let properties = json!({
        "t": {"type": "text"}, "d": {"type": "date"}, "g": {"type": "geo_point"}, "s": {"type": "geo_shape"},
        "c": {"type": "completion"}, "j": {"type": "join", "relations": {"a": "b"}},
        "r": {"type": "long_range"}, "w": {"type": "text", "analyzer": "parts"},
    });
    let parts = json!({"tokenizer": "keyword", "filter": ["word_delimiter_graph"]});
    let settings = json!({"analysis": {"analyzer": {"parts": parts}}});
    let index = json!({"settings": settings, "mappings": {"properties": properties}});
    victim.ok("PUT", "/i", index.to_string());
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
fn lists_of_short_items() {
    let mut victim = victim();
    let sorts = json!({"sort": vec!["a"; 1 << 20]});
    victim.refused(ANY, "POST", "/i/_search", sorts.to_string());
    // Elasticsearch has no limit for these, so they are refused only if there is no room.
    let functions = json!({"function_score": {"functions": vec![json!({"weight": 1}); 300_000]}});
    victim.send("POST", "/i/_search", json!({"query": functions}).to_string());
    let templates = vec![json!({"a": {"mapping": {}}}); 200_000];
    victim.send("PUT", "/dynamic", json!({"mappings": {"dynamic_templates": templates}}).to_string());
    let set = json!({"set": {"field": "a.".repeat(NAMES), "value": 1}});
    victim.refused(ANY, "PUT", "/_ingest/pipeline/p", json!({"processors": [set]}).to_string());
    let mapping = "{\"properties\":[".to_owned() + &"[],".repeat(NAMES / 2) + "[]]}";
    let template = json!({"index_patterns": ["x-*"], "mappings": mapping});
    victim.refused(ANY, "PUT", "/_template/x", template.to_string());
}

#[test]
fn texts_of_queries() {
    let mut victim = victim();
    let words = || Value::from("a ".repeat(NAMES / 4));
    let mut check = |query: Value| {
        let body = json!({"query": query}).to_string();
        victim.refused(ANY, "POST", "/i/_search", body);
    };
    check(json!({"match": {"t": words()}}));
    check(json!({"match_phrase": {"t": words()}}));
    check(json!({"multi_match": {"query": words(), "fields": ["t"], "type": "cross_fields"}}));
    check(json!({"intervals": {"t": {"match": {"query": words()}}}}));
    check(json!({"query_string": {"query": words(), "fields": ["t"]}}));
    let stars = json!({"query": {"wildcard": {"t": "a*".repeat(NAMES)}}});
    victim.refused(ANY, "POST", "/i/_search", stars.to_string());
    let pattern = json!({"suggest": {"s": {"regex": "a".repeat(2 * NAMES), "completion": {"field": "c"}}}});
    victim.refused(ANY, "POST", "/i/_search", pattern.to_string());
}

#[test]
fn values_and_tokens_of_documents() {
    let mut victim = victim();
    // Each value is read as a tree of seventy times its size.
    let lists = "[".to_owned() + &"[],".repeat(NAMES / 2) + "[]]";
    for (field, inside) in [("s", "coordinates"), ("c", "input"), ("j", "name"), ("r", "gte")] {
        let document = format!("{{\"{field}\":{{\"{inside}\":{lists},\"type\":\"multipoint\"}}}}");
        victim.refused(ANY, "PUT", "/i/_doc/1?routing=1", document);
    }
    let lines = "(1 1,2 2),".repeat(1 << 20) + "(1 1,2 2)";
    victim.send("PUT", "/i/_doc/1?routing=1", json!({"s": format!("MULTILINESTRING ({lines})")}).to_string());
    let word = json!({"w": "ab1-".repeat(NAMES / 2)});
    victim.refused(ANY, "PUT", "/i/_doc/1?routing=1", word.to_string());
    let grams = json!({"type": "ngram", "min_gram": 5, "max_gram": 6});
    let body = json!({"tokenizer": "keyword", "filter": [grams], "text": "ab1-".repeat(NAMES / 2)});
    victim.refused(ANY, "POST", "/_analyze", body.to_string());
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
