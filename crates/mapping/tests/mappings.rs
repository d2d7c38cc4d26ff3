//! Mappings that were sent to Elasticsearch 8.19.13 (and to 9.4.3 for fields with scripts): the stored form,
//! or the error.

use limber_mapping::{Mapping, MappingSettings};
use serde_json::Value;

/// Bodies for which Limber differs, and the reasons.
const DIFFERENCES: &[(&str, &str)] =
    &[(r#"[{"properties":{"a":{"type":"long","script":"x"}}}]"#, "scripts are compiled by who has them")];

#[test]
fn mappings_are_stored_and_refused_as_in_elasticsearch() {
    let mut wrong = Vec::new();
    let scripted = include_str!("mappings_scripted.ndjson").lines();
    for line in include_str!("mappings.ndjson").lines().chain(scripted) {
        let case: Value = serde_json::from_str(line).unwrap();
        let bodies = case["bodies"].as_array().unwrap();
        let shown = case["bodies"].to_string();
        if DIFFERENCES.iter().any(|(other, _)| *other == shown) {
            continue;
        }
        let mut outcome = Mapping::parse(&bodies[0], &MappingSettings::default());
        for body in &bodies[1..] {
            outcome = outcome.and_then(|mapping| mapping.merge(body));
        }
        match (outcome, case["error"].as_array()) {
            (Ok(mapping), None) => {
                let found = mapping.to_json();
                // Compared as strings, so that the order of members counts.
                let (text, expected) = (found.to_string(), case["mapping"].to_string());
                if text != expected {
                    wrong.push(format!("{shown}\n  is    {}\n  found {found}", case["mapping"]));
                }
                let again = Mapping::parse(&found, &MappingSettings::default()).unwrap();
                assert_eq!(again.to_json(), found);
            }
            (Ok(mapping), Some(error)) => {
                wrong.push(format!("{shown}\n  is refused: {}\n  found {}", error[0], mapping.to_json()))
            }
            (Err(error), None) => wrong.push(format!("{shown}\n  is taken, found {error}")),
            (Err(error), Some(expected)) => {
                if error.kind != expected[0][0] || error.reason != expected[0][1].as_str().unwrap() {
                    wrong.push(format!(
                        "{shown}\n  is    {} {}\n  found {} {}",
                        expected[0][0], expected[0][1], error.kind, error.reason
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
