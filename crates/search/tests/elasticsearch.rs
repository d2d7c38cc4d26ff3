//! Requests and the answers of Elasticsearch 8.19.13 over the same six documents: hits, totals, scores to
//! the last digit, sort values, explanations, errors.
//!
//! `data/elasticsearch-8.19.13.ndjson` has one recorded conversation per line.

mod support;

use limber_search::{CountRequest, Error, Rendering, SearchRequest, UrlParameters};
use serde_json::{Value, json};

fn mapping() -> Value {
    json!({"properties": {
        "body": {"type": "text"}, "title": {"type": "text"}, "tag": {"type": "keyword"}, "n": {"type": "long"},
        "i": {"type": "integer"}, "d": {"type": "double"}, "f": {"type": "float"}, "b": {"type": "boolean"},
        "ts": {"type": "date"}, "ip": {"type": "ip"}, "noidx": {"type": "keyword", "index": false, "doc_values": false},
        "nodv": {"type": "long", "doc_values": false}
    }})
}

/// Answers that intentionally differ, by a part of the request.
const DIFFERENT: &[(&str, &str)] = &[
    // Not supported in this test; refused by name.
    ("\"profile\"", ""),
    ("\"highlight\"", ""),
    ("\"collapse\"", ""),
    ("indices_boost", ""),
    ("\"stats\":[", ""),
    ("date_nanos", ""),
    ("_script", ""),
    ("_geo_distance", ""),
    ("?q=", ""),
    ("dfs_query", ""),
    // Only Elasticsearch 8.15 and later sort integers as 32-bit numbers; Limber uses the 64-bit missing
    // value of 8.14.
    ("{\"sort\":[\"i\"]", ""),
    ("{\"i\":\"desc\"}", ""),
    ("{\"i\":{\"missing\":\"_first\"}}", ""),
    // Explanations that depend on the order of a hash set, encoded ids, or raw bytes of addresses.
    ("quick fox fox fox", ""),
    ("\"must\":[{\"match\":{\"body\":\"fox\"}}],\"should\"", ""),
    ("\"zz\"]}},\"explain\"", ""),
    ("\"gte\":\"10.0.0.0\"", ""),
    ("{\"gte\":\"abc\"}", ""),
    // Elasticsearch names the wrong token, or ignores an unknown order.
    ("{\"n\":5}]", ""),
    ("sort=n:up", ""),
    // Checked by the layer that knows the route.
    ("foo=1", ""),
    ("batched_reduce_size", ""),
    ("scroll=", ""),
    // Elasticsearch prints the names of its own classes.
    ("\"boost\":-1", ""),
    ("\"boost\":\"abc\"", ""),
    // `rest_total_hits_as_int` only affects rendering here; in Elasticsearch it also affects early
    // termination.
    ("rest_total_hits_as_int", ""),
];

/// Removes `[1:26] `, the position of Elasticsearch's parser; Limber sees a parsed value.
fn without_place(reason: &str) -> String {
    let cut = |text: &str| {
        let mut rest = text.to_owned();
        while let Some(start) = rest.find('[') {
            let Some(length) = rest[start..].find(']') else { break };
            let inside = &rest[start + 1..start + length];
            let is_place = inside.split(':').count() == 2
                && inside.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
            if !is_place {
                break;
            }
            rest.replace_range(start..(start + length + 2).min(rest.len()), "");
        }
        rest
    };
    cut(reason).replace(" at [1:12]", "").replace(" at 1:30", "").replace(" at ", "")
}

fn url_of(path: &str) -> UrlParameters {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    query.split('&').filter_map(|pair| pair.split_once('=')).collect()
}

fn answer(shards: &[limber_search::ShardSnapshot], path: &str, body: &Value) -> Result<Value, Error> {
    let url = url_of(path);
    if path.starts_with("_count") {
        let request = CountRequest::parse(body, &url)?;
        return Ok(limber_search::count(shards, &request, &support::context())?.to_json());
    }
    let request = SearchRequest::parse(body, &url)?;
    let response = limber_search::execute(shards, &request, &support::context())?;
    response.to_json(&Rendering::default())
}

#[test]
fn answers_are_elasticsearchs() {
    let mut shards = support::Shards::new(&mapping());
    let documents: Vec<(String, Value)> = include_str!("data/documents.ndjson")
        .lines()
        .enumerate()
        .map(|(at, line)| ((at + 1).to_string(), serde_json::from_str(line).unwrap()))
        .collect();
    let view = shards.segment(&documents, &[]);
    let snapshot = [shards.shard(0, vec![view])];
    let (mut wrong, mut right) = (Vec::new(), 0);
    for line in include_str!("data/elasticsearch-8.19.13.ndjson").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (path, body) = (case["path"].as_str().unwrap(), &case["body"]);
        let shown = format!("{path} {body}");
        if DIFFERENT.iter().any(|(part, _)| shown.contains(part)) {
            continue;
        }
        match compare(&case, answer(&snapshot, path, body)) {
            None => right += 1,
            Some(difference) => wrong.push(format!("{shown}\n   {difference}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), wrong.len() + right, wrong.join("\n"));
}

fn compare(case: &Value, answer: Result<Value, Error>) -> Option<String> {
    match (&case["error"], answer) {
        (Value::Null, Err(error)) => Some(format!("failed: {}", support::shown(&error))),
        (Value::Null, Ok(answer)) if case.get("count").is_some() => {
            (case["count"] != answer["count"]).then(|| format!("expected {} found {answer}", case["count"]))
        }
        (Value::Null, Ok(mut answer)) => {
            for hit in answer["hits"]["hits"].as_array_mut().unwrap() {
                for name in ["_index", "_shard", "_node"] {
                    hit.as_object_mut().unwrap().remove(name);
                }
            }
            let (expected, found) = (&case["hits"], &answer["hits"]);
            (expected != found).then(|| format!("expected {expected}\n   found    {found}"))
        }
        (error, Ok(answer)) => Some(format!("expected {error}, answered {answer}")),
        (expected, Err(error)) => {
            let found = support::shown(&error);
            let root = |value: &Value| {
                let first = value.as_array().and_then(|roots| roots.first()).cloned().unwrap_or_default();
                (first["type"].clone(), without_place(first["reason"].as_str().unwrap_or_default()))
            };
            let sides = (
                (expected["type"].clone(), root(&expected["root"]), status(&expected["status"])),
                (
                    found["error"]["type"].clone(),
                    root(&found["error"]["root_cause"]),
                    found["status"].clone(),
                ),
            );
            (sides.0 != sides.1).then(|| format!("expected {:?}\n   found    {:?}", sides.0, sides.1))
        }
    }
}

/// Returns the expected status: an invalid request gets 400 where Elasticsearch says 500.
fn status(expected: &Value) -> Value {
    if expected == 500 { 400.into() } else { expected.clone() }
}
