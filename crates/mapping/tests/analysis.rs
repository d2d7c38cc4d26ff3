//! Analyzers against what Elasticsearch 8.19.13 answered to `_analyze`.

use limber_mapping::analysis::Analyzers;
use serde_json::{Value, json};

#[test]
fn tokens_are_elasticsearchs() {
    let analyzers = Analyzers::built_in();
    let mut wrong = Vec::new();
    for line in include_str!("analysis.ndjson").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let name = case["analyzer"].as_str().unwrap();
        let tokens: Vec<Value> = analyzers
            .get(name)
            .unwrap()
            .analyze(case["text"].as_str().unwrap())
            .into_iter()
            .map(|token| {
                json!([token.token, token.start_offset, token.end_offset, token.kind, token.position])
            })
            .collect();
        let expected = case["tokens"].as_array().unwrap();
        if tokens != *expected {
            let place = (0..).find(|&at| tokens.get(at) != expected.get(at)).unwrap();
            wrong.push(format!(
                "{name} {}: token {place} is {:?}, found {:?}",
                case["text"],
                expected.get(place).map(Value::to_string),
                tokens.get(place).map(Value::to_string)
            ));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
