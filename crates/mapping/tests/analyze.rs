//! Compares tokenizers, filters and analyzers with the responses of Elasticsearch 8.19.13 (9.4.3 for the
//! positions of `path_hierarchy`) to `_analyze` (`tests/peers/analysis/record`).

use limber_mapping::analysis::{AnalyzerParts, Analyzers, type_names};
use serde_json::{Map, Value, json};

/// Returns the components of a request; those that it defines get names.
fn parts(request: &Value) -> AnalyzerParts {
    let mut parts = AnalyzerParts { tokenizer: "keyword".into(), ..AnalyzerParts::default() };
    for section in ["tokenizer", "filter"] {
        let items = match &request[section] {
            Value::Array(items) => items.clone(),
            Value::Null => Vec::new(),
            one => vec![one.clone()],
        };
        let mut declared = Map::new();
        for item in items {
            let name = match item.as_str() {
                Some(name) => name.to_owned(),
                None => format!("_anonymous_{}", declared.len()),
            };
            if item.is_object() {
                declared.insert(name.clone(), item);
            }
            match section {
                "tokenizer" => parts.tokenizer = name,
                _ => parts.filters.push(name),
            }
        }
        parts.declared.insert(section.to_owned(), declared.into());
    }
    parts
}

#[test]
fn answers_are_elasticsearchs() {
    let analyzers = Analyzers::built_in();
    let mut wrong = Vec::new();
    for line in include_str!("analyze.ndjson").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let request = &case["request"];
        let text = request["text"].as_str().unwrap();
        let analyzed = match request["analyzer"].as_str() {
            Some(name) => analyzers.get(name).map(|analyzer| analyzer.analyze(text)),
            None => analyzers.ad_hoc(&parts(request)).ok().map(|analyzer| analyzer.analyze(text)),
        };
        let Some(analyzed) = analyzed else {
            wrong.push(format!("{request}: refused"));
            continue;
        };
        let tokens: Vec<Value> = (analyzed.tokens.into_iter())
            .map(|token| {
                json!([
                    token.token,
                    token.start_offset,
                    token.end_offset,
                    token.kind,
                    token.position,
                    token.position_length
                ])
            })
            .collect();
        let expected = case["tokens"].as_array().unwrap();
        if tokens != *expected {
            let place = (0..).find(|&at| tokens.get(at) != expected.get(at)).unwrap();
            wrong.push(format!(
                "{request}: token {place} is {:?}, found {:?}",
                expected.get(place).map(Value::to_string),
                tokens.get(place).map(Value::to_string)
            ));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_document_names_what_is_there() {
    let document = include_str!("../../../docs/compatibility.md");
    for (kind, names) in type_names() {
        // A paragraph such as "**tokenizers**: `char_group`, ...".
        let start = document.find(&format!("**{kind}**: ")).unwrap_or_else(|| panic!("no list of {kind}"));
        let there =
            document[start..].split_once(": ").and_then(|(_, rest)| rest.split("\n\n").next()).unwrap();
        let mut told: Vec<&str> = there.split('`').skip(1).step_by(2).collect();
        let mut names = names;
        told.sort_unstable();
        names.sort_unstable();
        assert_eq!(told, names, "{kind}");
    }
}
