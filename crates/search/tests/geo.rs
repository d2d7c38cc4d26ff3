//! Compares geo queries, sorts and aggregations with the answers of Elasticsearch 9.4.3 over 211 documents
//! of points.
//!
//! `data/geo-9.4.3.ndjson` has one recorded conversation per line.

mod support;

use limber_search::{Error, SearchRequest, ShardSnapshot, UrlParameters};
use serde_json::{Value, json};

/// Relative difference that the order of documents may make to a sum, or a table to an arc sine.
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
    response.to_json(&limber_search::Rendering::default())
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

/// Removes `[1:26] `, the position of Elasticsearch's parser.
fn without_place(reason: &str) -> &str {
    let inside = reason.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match inside {
        Some((place, rest)) if place.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') => rest,
        _ => reason,
    }
}

/// Describes how Limber's answer differs from the recorded one; `None` if they agree.
fn difference(case: &Value, made: Result<Value, Error>) -> Option<String> {
    let expected = match &case["error"] {
        Value::Null => {
            let answer = match made {
                Ok(answer) => answer,
                Err(error) => return Some(format!("failed: {}", support::shown(&error))),
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
        Err(error) => support::shown(&error),
    };
    let root = &found["error"]["root_cause"][0];
    let text = |value: &Value| without_place(value.as_str().unwrap_or_default()).to_owned();
    let sides = (
        (status(&expected["status"]), &expected["type"], &expected["root"][0], text(&expected["root"][1])),
        (found["status"].clone(), &found["error"]["type"], &root["type"], text(&root["reason"])),
    );
    (sides.0 != sides.1).then(|| format!("expected {:?}\n   found    {:?}", sides.0, sides.1))
}

/// Replays the recorded searches that `is_wanted` selects; those of `different` intentionally differ.
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
            // Refused by name, as this mapping has no nested types.
            "\"nested\":",
        ],
    );
}

#[test]
fn aggregations_are_elasticsearchs() {
    check_all(|body| body.get("aggs").is_some(), &[]);
}

#[test]
fn nearness_scores_as_in_elasticsearch() {
    check_all(|body| body["query"].get("distance_feature").is_some(), &["\"now\""]);
}

/// A small random number generator, so that a failing case can be replayed from its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Returns a point: most are in one country, some anywhere.
    fn place(&mut self) -> (f64, f64) {
        let share = |random: &mut Random| random.below(1_000_000) as f64 / 1e6;
        match self.below(5) {
            0 => (share(self) * 360.0 - 180.0, share(self) * 180.0 - 90.0),
            1 => ((175.0 + share(self) * 10.0 + 180.0) % 360.0 - 180.0, share(self) * 20.0 - 10.0),
            _ => (share(self) * 10.0, 45.0 + share(self) * 8.0),
        }
    }

    fn shape(&mut self) -> Value {
        let (x, y) = self.place();
        let reach = [0.1, 1.0, 10.0, 60.0][self.below(4) as usize];
        let (south, north) = ((y - reach).max(-90.0), (y + reach).min(90.0));
        let around = |angle: f64, reach: f64| {
            json!([
                (x + reach * angle.cos()).clamp(-180.0, 180.0),
                (y + reach * angle.sin()).clamp(-90.0, 90.0)
            ])
        };
        match self.below(6) {
            0 => json!({"type": "circle", "coordinates": [x, y], "radius": format!("{}km", reach * 150.0)}),
            1 => {
                let wrap = |x: f64| (x + 540.0) % 360.0 - 180.0;
                json!({"type": "envelope", "coordinates": [[wrap(x - reach), north], [wrap(x + reach), south]]})
            }
            2 | 3 => {
                let corners = 3 + self.below(40);
                let mut ring: Vec<Value> = (0..corners)
                    .map(|at| {
                        let share = 0.3 + self.below(1000) as f64 / 1400.0;
                        around(at as f64 / corners as f64 * std::f64::consts::TAU, reach * share)
                    })
                    .collect();
                ring.push(ring[0].clone());
                json!({"type": "polygon", "coordinates": [ring]})
            }
            4 => json!({"type": "linestring", "coordinates": [around(0.5, reach), around(2.0, reach)]}),
            _ => json!({"type": "geometrycollection", "geometries": [self.shape_below(x, y), {
                "type": "envelope", "coordinates": [[x - 0.01, y], [x, (y - 0.01).max(-90.0)]]
            }]}),
        }
    }

    fn shape_below(&mut self, x: f64, y: f64) -> Value {
        json!({"type": "circle", "coordinates": [x, y], "radius": format!("{}km", 1 + self.below(800))})
    }
}

#[test]
fn the_index_finds_what_a_scan_of_the_column_finds() {
    let mut random = Random(11);
    let mut shards = support::Shards::new(&json!({"properties": {
        "p": {"type": "geo_point"}, "scanned": {"type": "geo_point", "index": false},
        "bare": {"type": "geo_point", "doc_values": false}
    }}));
    let documents: Vec<(String, Value)> = (0..4000)
        .map(|id| {
            let count = [1, 1, 1, 2, 0][id % 5];
            let places: Vec<Value> = (0..count).map(|_| random.place()).map(|(x, y)| json!([x, y])).collect();
            (id.to_string(), json!({"p": places, "scanned": places, "bare": places}))
        })
        .collect();
    let views = documents.chunks(2500).map(|chunk| shards.segment(chunk, &[3, 77])).collect();
    let snapshot = [shards.shard(0, views)];
    for case in 0..60 {
        let shape = random.shape();
        let is_line = shape["type"] == "linestring";
        let relation = ["intersects", "disjoint", "within"][if is_line { case % 2 } else { case % 3 }];
        let found = |path: &str| {
            let query = json!({"geo_shape": {path: {"shape": shape, "relation": relation}}});
            let rare = json!({"ids": {"values": (0..40).map(|n| (n * 151).to_string()).collect::<Vec<_>>()}});
            let ids = |query: Value| {
                let body = json!({"size": 6000, "_source": false, "sort": ["_doc"], "query": query});
                support::ids(&support::search(&snapshot, &body))
            };
            (ids(json!({"bool": {"filter": [query, rare]}})), ids(query))
        };
        let scanned = found("scanned");
        assert_eq!(found("p"), scanned, "{relation} {shape}");
        assert_eq!(found("bare"), scanned, "{relation} {shape}");
    }
}

#[test]
fn distances_counted_by_the_index_are_those_of_the_documents() {
    let mut random = Random(5);
    let mut shards = support::Shards::new(&json!({"properties": {"p": {"type": "geo_point"}}}));
    let documents: Vec<(String, Value)> = (0..5000)
        .map(|id| (id.to_string(), random.place()))
        .map(|(id, (x, y))| (id, if y > 60.0 { json!({}) } else { json!({"p": [x, y]}) }))
        .collect();
    let views = documents.chunks(2500).map(|chunk| shards.segment(chunk, &[])).collect();
    let snapshot = [shards.shard(0, views)];
    for _ in 0..20 {
        let (x, y) = random.place();
        let (near, far) = (random.below(500) as f64, 500.0 + random.below(15_000) as f64);
        let ranges = json!([{"to": near}, {"from": near, "to": far}, {"from": far}, {"from": 0, "to": far}]);
        let aggregation =
            json!({"geo_distance": {"field": "p", "origin": [x, y], "unit": "mi", "ranges": ranges}});
        let count = |query: Value| {
            let body = json!({"size": 0, "query": query, "aggs": {"a": aggregation}});
            answer(&snapshot, &body).expect("answers")["aggregations"].clone()
        };
        let by_documents = count(json!({"bool": {"must_not": {"ids": {"values": ["none"]}}}}));
        assert_eq!(count(json!({"match_all": {}})), by_documents, "{x} {y} {near} {far}");
    }
}

#[test]
fn cells_of_the_grids_find_as_many_documents_as_the_grids_count() {
    let mut random = Random(3);
    let mut shards = support::Shards::new(&json!({"properties": {
        "p": {"type": "geo_point"}, "scanned": {"type": "geo_point", "index": false}
    }}));
    let documents: Vec<(String, Value)> = (0..3000)
        .map(|id| (id.to_string(), [random.place(), random.place()]))
        .map(|(id, [a, b])| (id, json!([[a.0, a.1], [b.0, b.1]])))
        .map(|(id, places)| (id, json!({"p": places, "scanned": places})))
        .collect();
    let views = documents.chunks(2000).map(|chunk| shards.segment(chunk, &[5])).collect();
    let snapshot = [shards.shard(0, views)];
    for (grid, precisions) in
        [("geohash", [1, 3, 5, 12]), ("geotile", [0, 4, 9, 29]), ("geohex", [0, 2, 5, 15])]
    {
        for precision in precisions {
            let aggregation = json!({format!("{grid}_grid"): {"field": "p", "precision": precision}});
            let body = json!({"size": 0, "aggs": {"a": aggregation}});
            let found = answer(&snapshot, &body).expect("answers");
            let buckets = found["aggregations"]["a"]["buckets"].as_array().unwrap().clone();
            assert!(!buckets.is_empty());
            for bucket in buckets.iter().step_by(buckets.len().div_ceil(25)) {
                for field in ["p", "scanned"] {
                    let query = json!({"geo_grid": {field: {grid: bucket["key"]}}});
                    let found = answer(&snapshot, &json!({"size": 0, "query": query})).expect("answers");
                    assert_eq!(found["hits"]["total"]["value"], bucket["doc_count"], "{query}");
                }
            }
        }
    }
}

/// Returns the expected status: an invalid request gets 400 where Elasticsearch says 500.
fn status(expected: &Value) -> Value {
    if expected == 500 { 400.into() } else { expected.clone() }
}
