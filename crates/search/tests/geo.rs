//! Geo queries, sorts and aggregations against the answers of Elasticsearch 9.4.3 over 211 documents of points.
//!
//! `data/geo-9.4.3.ndjson` holds one recorded conversation a line.

mod support;

use limber_search::{Error, SearchRequest, ShardSnapshot, UrlParameters};
use serde_json::{Value, json};

/// Relative difference that another order of documents may make to a sum, or a table to an arc sine.
const TOLERANCE: f64 = 1e-9;

fn shards(segment_documents: usize) -> (support::Shards, [ShardSnapshot; 1]) {
    let mut shards = support::Shards::new(&json!({"properties": {
        "p": {"type": "geo_point"}, "k": {"type": "keyword"}, "n": {"type": "integer"}, "t": {"type": "date"},
        "q": {"type": "geo_point"}
    }}));
    let documents: Vec<(String, Value)> = include_str!("data/geo-documents.ndjson")
        .lines()
        .enumerate()
        .map(|(at, line)| (at.to_string(), serde_json::from_str(line).unwrap()))
        .collect();
    let views = documents.chunks(segment_documents).map(|chunk| shards.segment(chunk, &[])).collect();
    let snapshot = [shards.shard(0, views)];
    (shards, snapshot)
}

fn answer(shards: &[ShardSnapshot], body: &Value) -> Result<Value, Error> {
    let request = SearchRequest::parse(body, &UrlParameters::default())?;
    let response = limber_search::execute(shards, &request, &support::context())?;
    Ok(response.to_json(&limber_search::Rendering::default()))
}

fn is_close(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.as_f64().unwrap(), right.as_f64().unwrap());
            left == right || (left - right).abs() <= TOLERANCE * left.abs().max(right.abs()).max(1e-3)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_close(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, value)| right.get(name).is_some_and(|other| is_close(value, other)))
        }
        (left, right) => left == right,
    }
}

/// `[1:26] ` is where Elasticsearch's parser stood.
fn without_place(reason: &str) -> &str {
    let inside = reason.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match inside {
        Some((place, rest)) if place.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') => rest,
        _ => reason,
    }
}

/// What the recorded answer says beside what was made of the request; `None` when they agree.
fn difference(case: &Value, made: Result<Value, Error>) -> Option<String> {
    let expected = match &case["error"] {
        Value::Null => {
            let answer = match made {
                Ok(answer) => answer,
                Err(error) => return Some(format!("failed: {}", error.to_json())),
            };
            let hits = answer["hits"]["hits"].as_array().unwrap();
            let column =
                |name: &str| hits.iter().map(|hit| json!([hit["_id"], hit[name]])).collect::<Vec<_>>();
            let found = if case.get("ids").is_some() {
                let mut ids: Vec<i64> =
                    hits.iter().map(|hit| hit["_id"].as_str().unwrap().parse().unwrap()).collect();
                ids.sort_unstable();
                let score = hits.first().map_or(Value::Null, |hit| hit["_score"].clone());
                json!([answer["hits"]["total"]["value"], ids, score])
            } else if case.get("scored").is_some() {
                json!(column("_score").into_iter().take(60).collect::<Vec<_>>())
            } else if case.get("hits").is_some() {
                json!(column("sort"))
            } else {
                answer["aggregations"].clone()
            };
            let expected = if case.get("ids").is_some() {
                json!([case["total"], case["ids"], case["score"]])
            } else {
                ["scored", "hits", "aggregations"]
                    .iter()
                    .find_map(|name| case.get(*name).cloned())
                    .unwrap_or_default()
            };
            return (!is_close(&expected, &found))
                .then(|| format!("expected {expected}\n   found    {found}"));
        }
        error => error,
    };
    let found = match made {
        Ok(answer) => return Some(format!("expected {expected}, answered {answer}")),
        Err(error) => error.to_json(),
    };
    let root = &found["error"]["root_cause"][0];
    let text = |value: &Value| without_place(value.as_str().unwrap_or_default()).to_owned();
    let sides = (
        (&expected["status"], &expected["type"], &expected["root"][0], text(&expected["root"][1])),
        (&found["status"], &found["error"]["type"], &root["type"], text(&root["reason"])),
    );
    (sides.0 != sides.1).then(|| format!("expected {:?}\n   found    {:?}", sides.0, sides.1))
}

/// Replays the recorded searches that `is_wanted` picks; `different` differ on purpose.
fn check_all(is_wanted: impl Fn(&Value) -> bool, different: &[&str]) {
    for segment_documents in [1000, 50] {
        let (_kept, snapshot) = shards(segment_documents);
        let (mut wrong, mut right) = (Vec::new(), 0);
        for line in include_str!("data/geo-9.4.3.ndjson").lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let body = &case["body"];
            let shown = body.to_string();
            if !is_wanted(body) || different.iter().any(|part| shown.contains(part)) {
                continue;
            }
            match difference(&case, answer(&snapshot, body)) {
                None => right += 1,
                Some(difference) => wrong.push(format!("{shown}\n   {difference}")),
            }
        }
        assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), wrong.len() + right, wrong.join("\n"));
    }
}

#[test]
fn queries_find_what_elasticsearch_finds() {
    check_all(
        |body| {
            body.get("sort").is_none()
                && body.get("aggs").is_none()
                && body["query"].get("distance_feature").is_none()
        },
        &[],
    );
}

#[test]
fn sorts_by_distance_are_elasticsearchs() {
    check_all(
        |body| body.get("sort").is_some(),
        &[
            // Elasticsearch answers with a null pointer exception.
            "\"p\":5}",
            // There are no nested types yet; refused by name.
            "\"nested\":",
        ],
    );
}

#[test]
fn aggregations_are_elasticsearchs() {
    check_all(|body| body.get("aggs").is_some(), &[]);
}
