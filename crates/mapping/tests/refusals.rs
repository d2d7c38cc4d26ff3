//! Documents that were sent to Elasticsearch 8.19.13 under one mapping: which of them it refused, with which
//! messages.

use limber_mapping::document::{Parsed, Scratch, infer, parse};
use limber_mapping::testing::RecordingSink;
use limber_mapping::{Mapping, MappingSettings, RequestError};
use serde_json::Value;

/// Documents for which Limber's result or message differs, and the reasons.
const DIFFERENCES: &[(&str, &str)] = &[
    (r#"{"a":[1,]}"#, "the last token there is the bracket that does not fit"),
    (r#"{"f":1e39}"#, "the value is shown there as the float that it cannot be"),
    (r#"{"a":+1}"#, "Jackson names the feature that would allow it"),
    (r#"{"a":NaN}"#, "Jackson names the feature that would allow it"),
    (r#"{"im":{"a":1}}"#, "an object is a malformed value since Elasticsearch 9"),
    (r#"{"off":{"a":}}"#, "skipped by another parser there, without its wrapper and with a later token"),
];

fn outcome(mapping: &Mapping, source: &str) -> Result<(), RequestError> {
    let mut scratch = Scratch::new();
    let mut sink = RecordingSink::default();
    match parse(mapping, source.as_bytes(), scratch.for_document("7"), &mut sink)? {
        Parsed::Done => Ok(()),
        Parsed::NeedsMapping => {
            let merged = mapping.merge(&infer(mapping, source.as_bytes())?)?;
            let again = parse(&merged, source.as_bytes(), scratch.for_document("7"), &mut sink)?;
            assert_eq!(again, Parsed::Done, "{source}");
            Ok(())
        }
    }
}

#[test]
fn documents_are_refused_in_elasticsearchs_words() {
    let mut lines =
        include_str!("refusals.ndjson").lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mapping = Mapping::parse(&lines.next().unwrap()["mapping"], &MappingSettings::default()).unwrap();
    let mut wrong = Vec::new();
    for case in lines {
        let source = case["source"].as_str().unwrap();
        if DIFFERENCES.iter().any(|(other, _)| *other == source) {
            continue;
        }
        let shown: String = source.chars().take(60).collect();
        let expected = case["error"].as_array().map(|chain| &chain[0]);
        match (outcome(&mapping, source), expected) {
            (Ok(()), None) => {}
            (Ok(()), Some(error)) => wrong.push(format!("{shown}\n  is refused: {error}")),
            (Err(error), None) => wrong.push(format!("{shown}\n  is taken, found {error}")),
            (Err(error), Some(expected)) => {
                if error.kind != expected[0] || error.reason != expected[1].as_str().unwrap() {
                    wrong.push(format!(
                        "{shown}\n  is    {} {}\n  found {} {}",
                        expected[0], expected[1], error.kind, error.reason
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
