//! Compares highlights with the words of the documents.

mod support;

use serde_json::{Value, json};
use support::{recorded_shards, search};

/// Returns the highlights of all hits, by `_id` - 1.
fn highlights(mapping: &Value, documents: &[Value], segment_documents: usize, body: &Value) -> Vec<Value> {
    let (_kept, shards) = recorded_shards(mapping, &json!([documents]), segment_documents);
    let mut shown = vec![Value::Null; documents.len()];
    for hit in search(&shards, body).hits {
        let id: usize = hit.id.expect("an id").parse().expect("a number");
        shown[id - 1] = *hit.highlight.unwrap_or_default();
    }
    shown
}

#[test]
fn keys_of_a_flattened_field_are_told_apart() {
    let mapping = json!({"properties": {"f": {"type": "flattened"}}});
    let documents = [json!({"f": {"a": "x", "b": "x"}})];
    let body = json!({"query": {"term": {"f.a": "x"}}, "highlight": {"fields": {"f.a": {}, "f.b": {}}}});
    assert_eq!(highlights(&mapping, &documents, 1, &body), [json!({"f.a": ["<em>x</em>"]})]);
}

/// A clause is highlighted only in documents that it matches, for each of many hits of several segments.
#[test]
fn a_clause_marks_the_documents_that_it_matches() {
    let mapping = json!({"properties": {"t": {"type": "text"}, "u": {"type": "text"}}});
    let documents: Vec<Value> = (0..700)
        .map(|id| json!({"t": format!("w{} common x{} y{}", id % 7, id % 3, id % 5), "u": "common"}))
        .collect();
    let body = json!({
        "size": 1000,
        "query": {"bool": {"should": [
            {"match": {"u": "common"}},
            {"bool": {"must": [{"term": {"t": "w1"}}, {"term": {"t": "x2"}}]}},
            {"prefix": {"t": "y3"}},
            {"bool": {"must_not": [{"term": {"t": "w2"}}], "filter": [{"match_phrase": {"t": "common x1"}}]}},
        ]}},
        "highlight": {"fields": {"t": {}}},
    });
    let expected = (0..700).map(|id| {
        let (w, x, y) = (id % 7, id % 3, id % 5);
        let mark = |word: String, is_marked: bool| if is_marked { format!("<em>{word}</em>") } else { word };
        let both = w == 1 && x == 2;
        let common = if w != 2 && x == 1 {
            "<em>common x1</em>".to_owned()
        } else {
            format!("common {}", mark(format!("x{x}"), both))
        };
        let text = format!("{} {common} {}", mark(format!("w{w}"), both), mark(format!("y{y}"), y == 3));
        if text.contains("<em>") { json!({"t": [text]}) } else { Value::Null }
    });
    assert_eq!(highlights(&mapping, &documents, 600, &body), expected.collect::<Vec<_>>());
}

#[test]
fn every_sentence_of_a_long_text_may_be_shown() {
    let mapping = json!({"properties": {"t": {"type": "text"}}});
    let documents = [json!({"t": "Ein Fuß läuft. Hier nicht 𝄞. ".repeat(5_000)})];
    let body = json!({
        "query": {"match_phrase": {"t": "fuß läuft"}},
        "highlight": {"fields": {"t": {"fragment_size": 10, "number_of_fragments": 1_000_000}}},
    });
    let shown = highlights(&mapping, &documents, 1, &body);
    let fragments = shown[0]["t"].as_array().expect("fragments");
    assert_eq!(fragments.len(), 5_000);
    assert!(fragments.iter().all(|fragment| fragment == "Ein <em>Fuß läuft</em>"), "{:?}", fragments[0]);
}
