//! Compares every notation of a `geo_shape` with the results of OpenSearch 3.8.0 (no Elasticsearch with this
//! type was available).

use limber_mapping::document::{Parsed, Scratch, parse};
use limber_mapping::testing::RecordingSink;
use limber_mapping::{Mapping, MappingSettings};
use serde_json::{Map, Value, json};

/// Parses a document under a mapping. Returns whether a shape was stored or something was ignored, or the
/// innermost error.
fn outcome(mut field: Map<String, Value>, value: &Value) -> Value {
    field.insert("type".into(), "geo_shape".into());
    let mapping = Mapping::parse(&json!({"properties": {"p": field}}), &MappingSettings::default()).unwrap();
    let source = json!({"p": value}).to_string();
    let mut sink = RecordingSink::default();
    match parse(&mapping, source.as_bytes(), Scratch::new().for_document("1"), &mut sink) {
        Ok(parsed) => {
            assert_eq!(parsed, Parsed::Done);
            let lines = sink.lines();
            if lines.iter().any(|line| line == "_ignored=p") {
                "ignored".into()
            } else if lines.iter().any(|line| line.starts_with("p=")) {
                "stored".into()
            } else {
                "nothing".into()
            }
        }
        Err(error) => {
            assert!(
                error.reason.ends_with("failed to parse field [p] of type [geo_shape]"),
                "{}",
                error.reason
            );
            let mut cause = error.caused_by.as_ref().expect("a cause");
            while let Some(inner) = &cause.caused_by {
                cause = inner;
            }
            json!([cause.kind, cause.reason])
        }
    }
}

/// Cases in which Elasticsearch is known to differ from OpenSearch, in messages or on purpose, or Limber from
/// both.
const DIFFERENT: &[&str] = &[
    // "circle geometry is not supported"; OpenSearch's own exceptions and class names.
    "unsupported_operation_exception",
    "No enum constant",
    "index_out_of_bounds_exception",
    "null_pointer_exception",
    "max y cannot be less than min x",
    // Messages of the JSON parser.
    "doesn't support values of type",
    "expected a list of points but got a point",
    "expected a single points but got a list",
    "coordinates cannot contain NULL values",
    "the list of shapes cannot be null or empty",
    "shape must be an object consisting of type and coordinates\"",
    "Unknown geometry type",
    "at least 4 polygon points required",
    // Lucene's check for crossing edges comes before its tessellation.
    "Unable to Tessellate shape",
    "Cannot determine orientation",
    "interior cannot share more than one point",
    "duplicate consecutive coordinates",
    // Lucene refuses a latitude beyond a pole; OpenSearch wraps it around.
    "95",
    // Elasticsearch refuses unknown members if they are objects.
    "{\"a\": 1}",
    // Empty shapes are not stored.
    "EMPTY\"",
    "\": []}, \"outcome\": \"ignored\"",
    // A keyword of newer versions, and shapes that only OpenSearch's decomposer refuses.
    "ENVELOPE (",
    "(0 0, 10 0, 10 0,",
    "(0 0, 10 0, 10 10, 0 10, 0 0),(0 0,",
];

#[test]
fn notations_are_read_as_opensearch_reads_them() {
    let mut wrong = Vec::new();
    for line in include_str!("geo_shapes.ndjson").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let found = outcome(case["field"].as_object().unwrap().clone(), &case["value"]);
        if found != case["outcome"] && !DIFFERENT.iter().any(|part| line.contains(part)) {
            wrong.push(format!("{line}\n  {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
