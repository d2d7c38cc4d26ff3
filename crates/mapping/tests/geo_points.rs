//! Compares every notation of a `geo_point` with the results of Elasticsearch 9.4.3.

use limber_mapping::document::{Parsed, Scratch, parse};
use limber_mapping::geo::GeoPoint;
use limber_mapping::testing::RecordingSink;
use limber_mapping::{Mapping, MappingSettings};
use serde_json::{Map, Value, json};

/// Parses a document under a mapping. Returns its points as `[lon, lat]` or the error, and whether something
/// was ignored.
fn outcome(mut field: Map<String, Value>, value: &Value) -> Value {
    field.insert("type".into(), "geo_point".into());
    let mapping = Mapping::parse(&json!({"properties": {"p": field}}), &MappingSettings::default()).unwrap();
    let source = json!({"p": value}).to_string();
    let mut sink = RecordingSink::default();
    match parse(&mapping, source.as_bytes(), Scratch::new().for_document("1"), &mut sink) {
        Ok(parsed) => {
            assert_eq!(parsed, Parsed::Done);
            let lines = sink.lines();
            let stored = lines.iter().filter_map(|line| line.strip_prefix("p=")?.parse().ok());
            let points: Vec<Value> =
                stored.map(GeoPoint::decode).map(|point| json!([point.longitude, point.latitude])).collect();
            json!({"points": points, "ignored": lines.iter().any(|line| line == "_ignored=p")})
        }
        Err(error) => {
            let cause = error.caused_by.as_ref().expect("a cause");
            json!({"error": error.reason, "cause": [cause.kind, cause.reason]})
        }
    }
}

fn is_near(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_near(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.iter().all(|(key, value)| right.get(key).is_some_and(|other| is_near(value, other)))
        }
        (Value::Number(left), Value::Number(right)) => {
            (left.as_f64().unwrap() - right.as_f64().unwrap()).abs() < 1e-6
        }
        _ => without_place(left) == without_place(right),
    }
}

/// Removes positions, which depend on the blanks in the original source, and Jackson's quotes of the source,
/// which are not imitated.
fn without_place(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let text = text.split("\n at [Source").next().unwrap_or(text);
            let start = text.find("Current token").or_else(|| text.find("failed")).unwrap_or(0);
            text[start..].into()
        }
        other => other.clone(),
    }
}

#[test]
fn notations_are_read_as_elasticsearch_reads_them() {
    let mut wrong = Vec::new();
    for line in include_str!("geo_points.ndjson").lines() {
        let Value::Object(case) = serde_json::from_str(line).unwrap() else { panic!("{line}") };
        let found = outcome(case["field"].as_object().unwrap().clone(), &case["value"]);
        if !is_near(&found, &Value::Object(case.clone())) {
            wrong.push(format!("{line}\n  {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The values were recorded from Elasticsearch 9.4.3.
#[test]
fn points_as_null_values() {
    let parse = |options: Value| {
        let mut field = options.as_object().unwrap().clone();
        field.insert("type".into(), "geo_point".into());
        Mapping::parse(&json!({"properties": {"p": field}}), &MappingSettings::default())
    };
    for (given, shown) in [
        (json!("12,13"), json!({"lat": 12.0, "lon": 13.0})),
        (json!([1, 2, 3]), json!({"lat": 2.0, "lon": 1.0})),
        (json!({"lat": 1, "lon": 2}), json!({"lat": 1.0, "lon": 2.0})),
    ] {
        let mapping = parse(json!({"null_value": given})).unwrap().to_json();
        assert_eq!(mapping["properties"]["p"], json!({"type": "geo_point", "null_value": shown}));
    }
    for (given, reason) in [
        (json!("abc d"), "Failed to parse mapping: unsupported symbol [a] in geohash [abc d]"),
        (json!([200, 100]), "Failed to parse mapping: illegal latitude value [100.0]"),
        (json!([[1, 2], [3, 4]]), "Failed to parse mapping: numeric value expected"),
    ] {
        let error = parse(json!({"null_value": given})).unwrap_err();
        assert_eq!((error.kind, error.reason.as_str()), ("mapper_parsing_exception", reason));
    }
}
