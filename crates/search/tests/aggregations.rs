//! Compares aggregations with the answers of Elasticsearch 8.19, recorded in `data/aggregations.json`:
//! documents by shard, requests, answers.

mod support;

use std::collections::BTreeSet;

use limber_search::{Error, SearchRequest, ShardSnapshot, UrlParameters};
use serde_json::{Map, Value, json};
use support::{context, recorded_shards};

/// Relative difference that the order of documents may make to a sum.
const TOLERANCE: f64 = 1e-12;

fn recorded() -> Value {
    serde_json::from_str(include_str!("data/aggregations.json")).expect("recorded answers")
}

fn answer(
    shards: &[ShardSnapshot],
    aggregations: &Value,
    max_buckets: u32,
) -> Result<Value, (String, String)> {
    let body = json!({ "size": 0, "aggs": aggregations });
    let shown = |error: limber_mapping::RequestError| (error.kind.to_owned(), error.reason);
    let request = SearchRequest::parse(&body, &UrlParameters::default()).map_err(shown)?;
    let mut context = context();
    context.max_buckets = max_buckets;
    match limber_search::execute(shards, &request, &context) {
        Ok(response) => Ok(response.aggregations_to_json().expect("JSON")),
        Err(Error::AllShardsFailed { failures, .. }) => Err(shown(failures[0].reason.clone())),
        Err(error) => match error.to_request_error() {
            limber_mapping::RequestError { reason, caused_by: Some(cause), .. } if reason.is_empty() => {
                Err(shown(*cause))
            }
            error => Err(shown(error)),
        },
    }
}

/// Whether two values are equal except for the last digits of numbers and the order of members.
fn is_close(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.as_f64().expect("a number"), right.as_f64().expect("a number"));
            left == right || (left - right).abs() <= TOLERANCE * left.abs().max(right.abs())
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_close(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let names = |map: &Map<String, Value>| map.keys().cloned().collect::<BTreeSet<_>>();
            names(left) == names(right) && left.iter().all(|(name, value)| is_close(value, &right[name]))
        }
        (left, right) => left == right,
    }
}

fn check_all(data: &Value, name: &str, segment_documents: usize) {
    let (_kept, snapshots) = recorded_shards(&data["mapping"], &data[name]["shards"], segment_documents);
    let mut wrong = Vec::new();
    for case in data[name]["cases"].as_array().expect("cases") {
        let made = answer(&snapshots, &case["aggs"], 65_536);
        let is_right = match &made {
            Ok(made) => is_close(made, &case["aggregations"]),
            Err((kind, reason)) => case["error"]["type"] == **kind && case["error"]["reason"] == **reason,
        };
        if !is_right {
            let expected = if case["error"].is_null() { &case["aggregations"] } else { &case["error"] };
            wrong.push(format!("{}\n  got      {made:?}\n  expected {expected}", case["aggs"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {name}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn four_documents_of_every_type() {
    let data = recorded();
    check_all(&data, "small", 1000);
    check_all(&data, "small", 1);
}

#[test]
fn three_shards_of_random_documents() {
    let data = recorded();
    check_all(&data, "big", 40);
    check_all(&data, "big", 1000);
}

#[test]
fn too_many_buckets_are_refused() {
    let data = recorded();
    let (_kept, snapshots) = recorded_shards(&data["mapping"], &data["small"]["shards"], 1000);
    let (kind, reason) =
        answer(&snapshots, &json!({ "m": { "histogram": { "field": "i", "interval": 1 } } }), 3)
            .expect_err("refused");
    assert_eq!(kind, "too_many_buckets_exception");
    assert!(
        reason.starts_with("Trying to create too many buckets. Must be less than or equal to: [3]"),
        "{reason}"
    );
    let wide = json!({ "m": { "histogram": { "field": "i", "interval": 1, "extended_bounds": { "min": -1e15, "max": 1e15 } } } });
    assert_eq!(answer(&snapshots, &wide, 65_536).expect_err("refused").0, "too_many_buckets_exception");
}
