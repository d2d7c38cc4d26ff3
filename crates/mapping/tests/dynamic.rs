//! Documents with new fields: the resulting mapping must equal that of Elasticsearch 8.19.13.

use limber_mapping::document::{Parsed, Scratch, infer, parse};
use limber_mapping::testing::NullSink;
use limber_mapping::{Mapping, MappingSettings, RequestError};
use serde_json::{Value, json};

/// Indexes one document like an engine: infers and merges the mapping if necessary.
fn index(mapping: &mut Mapping, source: &str) -> Result<(), RequestError> {
    let mut scratch = Scratch::new();
    let mut sink = NullSink::default();
    match parse(mapping, source.as_bytes(), scratch.for_document("7"), &mut sink)? {
        Parsed::Done => Ok(()),
        Parsed::NeedsMapping => {
            let merged = mapping.merge(&infer(mapping, source.as_bytes())?)?;
            let again = parse(&merged, source.as_bytes(), scratch.for_document("7"), &mut sink)?;
            assert_eq!(again, Parsed::Done, "{source}");
            *mapping = merged;
            Ok(())
        }
    }
}

#[test]
fn new_fields_are_mapped_as_in_elasticsearch() {
    let mut wrong = Vec::new();
    for line in include_str!("dynamic.ndjson").lines() {
        // The recorded mapping of a detected date format contains the empty locale of that server, which is
        // the default here.
        let case: Value = serde_json::from_str(&line.replace(", \"locale\": \"\"", "")).unwrap();
        let mut mapping = Mapping::parse(&case["mapping"], &MappingSettings::default()).unwrap();
        for (document, expected) in
            case["documents"].as_array().unwrap().iter().zip(case["errors"].as_array().unwrap())
        {
            let document = document.as_str().unwrap();
            match (index(&mut mapping, document), expected.as_array()) {
                (Ok(()), None) => {}
                (Err(error), Some(expected))
                    if error.kind == expected[0] && error.reason == expected[1].as_str().unwrap() => {}
                (outcome, _) => wrong
                    .push(format!("{} {document}\n  is    {expected}\n  found {outcome:?}", case["mapping"])),
            }
        }
        if mapping.to_json() != case["result"] {
            wrong.push(format!(
                "{} {}\n  is    {}\n  found {}",
                case["mapping"],
                case["documents"],
                case["result"],
                mapping.to_json()
            ));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn expressions_of_templates_are_javas() {
    let check = |pattern: &str, name: &str, expected: &str| {
        let template = json!({"match_pattern": "regex", "match": pattern, "mapping": {"type": "keyword"}});
        let body = json!({"dynamic_templates": [{"t": template}]});
        let mut mapping = Mapping::parse(&body, &MappingSettings::default()).unwrap();
        index(&mut mapping, &json!({ name: "x" }).to_string()).unwrap();
        assert_eq!(mapping.to_json()["properties"][name]["type"], expected, "{pattern} {name}");
    };
    check(r"^profit_\d+$", "profit_1", "keyword");
    check(r"profit_\d", "a_profit_1", "text");
    check(r"(?!.*_id$).*", "user", "keyword");
    check(r"(?!.*_id$).*", "user_id", "text");
    check(r"[\w-]+", "a-b", "keyword");
    check(r"\p{Alpha}+", "é", "text");
}
