//! Compares aggregations with the answers of Elasticsearch 9.4, recorded in `data/aggregations_more.json`:
//! requests and answers with `typed_keys`, over the documents of `data/aggregations.json`.

mod support;

use std::collections::BTreeSet;

use limber_search::{Error, SearchRequest, ShardSnapshot, UrlParameters};
use serde_json::{Map, Value, json};
use support::{context, recorded_shards};

/// Relative difference that the order of documents may make to a sum.
const TOLERANCE: f64 = 1e-11;

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("recorded answers")
}

fn answer(shards: &[ShardSnapshot], case: &Value) -> Result<Value, (String, String)> {
    let mut body = json!({ "size": 0, "aggs": case["aggs"] });
    if !case["query"].is_null() {
        body["query"] = case["query"].clone();
    }
    let shown = |error: limber_mapping::RequestError| (error.kind.to_owned(), error.reason);
    let mut request = SearchRequest::parse(&body, &UrlParameters::default()).map_err(shown)?;
    request.typed_keys = true;
    match limber_search::execute(shards, &request, &context()) {
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

/// Whether two values are equal except for the last digits of numbers, the order of members, and the names
/// of indices.
fn is_close(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.as_f64().expect("a number"), right.as_f64().expect("a number"));
            left == right || (left - right).abs() <= TOLERANCE * left.abs().max(right.abs()).max(1e-3)
        }
        (Value::Array(left), Value::Array(right)) => {
            let (left, right) = (in_order(left), in_order(right));
            left.len() == right.len() && left.iter().zip(&right).all(|(left, right)| is_close(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let names = |map: &Map<String, Value>| map.keys().cloned().collect::<BTreeSet<_>>();
            names(left) == names(right)
                && left.iter().all(|(name, value)| name == "_index" || is_close(value, &right[name]))
        }
        (left, right) => left == right,
    }
}

/// Sorts buckets of equal scores, and the fields of `matrix_stats`, by key and name: Elasticsearch promises
/// no order for them.
fn in_order(list: &[Value]) -> Vec<Value> {
    let mut list = list.to_vec();
    if list.iter().all(|bucket| bucket["score"].is_number()) {
        let score = |bucket: &Value| bucket["score"].as_f64().unwrap_or(0.0);
        list.sort_by(|left, right| {
            score(right)
                .total_cmp(&score(left))
                .then_with(|| left["key"].to_string().cmp(&right["key"].to_string()))
        });
    }
    if list.iter().all(|field| field["name"].is_string()) {
        list.sort_by(|left, right| left["name"].as_str().cmp(&right["name"].as_str()));
    }
    list
}

/// Removes positions, which Limber's reasons do not have.
fn without_position(reason: &str) -> &str {
    match reason.split_once("] ") {
        Some((position, rest)) if position.starts_with('[') && position[1..].contains(':') => rest,
        _ => reason,
    }
}

fn check_all(name: &str, segment_documents: usize) {
    let data = read(include_str!("data/aggregations.json"));
    let cases = read(include_str!("data/aggregations_more.json"));
    let (_kept, snapshots) = recorded_shards(&data["mapping"], &data[name]["shards"], segment_documents);
    let mut wrong = Vec::new();
    let only = std::env::var("CASES").unwrap_or_default();
    for case in cases[name].as_array().expect("cases") {
        if !case["aggs"].to_string().contains(&only) {
            continue;
        }
        let made = answer(&snapshots, case);
        let is_right = match &made {
            Ok(made) => is_close(made, &case["aggregations"]),
            Err((kind, reason)) => {
                let expected = case["error"]["reason"].as_str().unwrap_or_default();
                case["error"]["type"] == **kind && without_position(expected) == reason
            }
        };
        if !is_right {
            let expected = if case["error"].is_null() { &case["aggregations"] } else { &case["error"] };
            let shown = match &made {
                Ok(made) => made.to_string(),
                Err(error) => format!("{error:?}"),
            };
            wrong.push(format!(
                "{} {}\n  got      {shown}\n  expected {expected}",
                case["aggs"], case["query"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {name}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn four_documents_of_every_type() {
    check_all("small", 1000);
    check_all("small", 1);
}

#[test]
fn three_shards_of_random_documents() {
    check_all("big", 1000);
    check_all("big", 40);
}
