//! Compares queries on shape fields with the answers of OpenSearch 3.8.0 (its `geo_shape` is that of
//! Elasticsearch 7.10 on Lucene 10; the Elasticsearch builds at hand have none), and with plain geometry.
//!
//! `data/shape-documents.ndjson` has 400 documents, `data/shapes-opensearch-3.8.0.ndjson` one recorded
//! query per line.

mod support;

use limber_search::{Error, SearchRequest, ShardSnapshot, UrlParameters};
use serde_json::{Value, json};

fn shards(segment_documents: usize) -> (support::Shards, [ShardSnapshot; 1]) {
    let mut shards = support::Shards::new(&json!({"properties": {
        "g": {"type": "geo_shape"}, "scanned": {"type": "geo_shape", "index": false}, "k": {"type": "keyword"}
    }}));
    let documents: Vec<(String, Value)> = include_str!("data/shape-documents.ndjson")
        .lines()
        .enumerate()
        .map(|(at, line)| {
            let mut document: Value = serde_json::from_str(line).unwrap();
            if let Some(shape) = document.get("g").cloned() {
                document["scanned"] = shape;
            }
            (at.to_string(), document)
        })
        .collect();
    let views = documents.chunks(segment_documents).map(|chunk| shards.segment(chunk, &[])).collect();
    let snapshot = [shards.shard(0, views)];
    (shards, snapshot)
}

fn answer(shards: &[ShardSnapshot], query: &Value) -> Result<Value, Error> {
    let body = json!({"size": 500, "_source": false, "query": query});
    let request = SearchRequest::parse(&body, &UrlParameters::default())?;
    let response = limber_search::execute(shards, &request, &support::context())?;
    response.to_json(&limber_search::Rendering::default())
}

/// Returns the documents and their scores, or the error, in the recorded form.
fn outcome(shards: &[ShardSnapshot], query: &Value) -> Value {
    match answer(shards, query) {
        Ok(answer) => {
            let hits = answer["hits"]["hits"].as_array().unwrap();
            let mut ids: Vec<u64> =
                hits.iter().map(|hit| hit["_id"].as_str().unwrap().parse().unwrap()).collect();
            ids.sort_unstable();
            json!({"ids": ids, "score": answer["hits"]["max_score"]})
        }
        Err(error) => {
            let error = support::shown(&error);
            let cause = &error["error"]["root_cause"][0];
            json!({"error": [error["status"], cause["type"], cause["reason"]]})
        }
    }
}

/// Whether a case is excluded from the comparison:
/// - `within` a shape that is itself a document: OpenSearch does not move queries onto the grid,
///   Elasticsearch does;
/// - `contains` across the date line: Lucene cuts both shapes there, and then finds that they touch;
/// - wording that Elasticsearch has changed, and shapes that are looked up in other documents
///   (`tests/conversations/geo_shapes.yml`).
fn is_different(case: &Value) -> bool {
    let query = &case["query"];
    let asked = &query["geo_shape"]["g"];
    let is_over_date_line = || {
        let text = asked["shape"].to_string();
        ["[185.5274,", "[182.4672,"].iter().any(|corner| text.contains(corner))
    };
    ["term", "terms", "match", "prefix"].iter().any(|kind| query.get(kind).is_some())
        || asked.get("indexed_shape").is_some_and(|lookup| lookup.get("id").is_some())
        || asked["shape"] == "GEOMETRYCOLLECTION EMPTY"
        || (asked["relation"] == "contains" && is_over_date_line())
}

fn is_around(query: &Value) -> bool {
    query.get("geo_distance").is_some() || query["geo_shape"]["g"]["shape"]["type"] == "circle"
}

/// Lucene tests the point of a line that is nearest to a circle's center on the map instead of on the
/// earth, and so misses a few documents.
fn is_circle_like(case: &Value, found: &Value) -> bool {
    let ids = |of: &Value| of["ids"].as_array().unwrap().clone();
    let (expected, found) = (ids(case), ids(found));
    expected.iter().all(|id| found.contains(id)) && found.len() <= expected.len() + 1
}

#[test]
fn queries_find_what_lucene_finds() {
    // Only some of the queries run on several segments, where differences would be rare.
    for (segment_documents, step) in [(1000, 1), (70, 5)] {
        let (_kept, snapshot) = shards(segment_documents);
        let (mut wrong, mut count) = (Vec::new(), 0);
        for line in include_str!("data/shapes-opensearch-3.8.0.ndjson").lines().step_by(step) {
            let case: Value = serde_json::from_str(line).unwrap();
            if is_different(&case) {
                continue;
            }
            let found = outcome(&snapshot, &case["query"]);
            count += 1;
            let is_same = match is_around(&case["query"]) {
                true => is_circle_like(&case, &found),
                false => ["ids", "score", "error"].iter().all(|name| case.get(name) == found.get(name)),
            };
            if !is_same {
                wrong.push(format!("{line}\n   {found}"));
            }
        }
        assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
    }
}

/// A small random number generator, so that a failing case can be replayed from its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn share(&mut self) -> f64 {
        self.below(1_000_000) as f64 / 1e6
    }

    /// Returns longitude, latitude and reach: most are in one country, some at the date line, some
    /// anywhere.
    fn place(&mut self) -> (f64, f64, f64) {
        let reach = [0.01, 0.3, 2.0, 9.0][self.below(4) as usize];
        match self.below(8) {
            0 => (self.share() * 340.0 - 170.0, self.share() * 150.0 - 75.0, reach),
            1 | 2 => (172.0 + self.share() * 16.0, self.share() * 20.0 - 10.0, reach),
            _ => (self.share() * 12.0, 44.0 + self.share() * 9.0, reach),
        }
    }

    /// Returns a star-shaped ring, whose edges do not cross.
    fn ring(&mut self, (x, y, reach): (f64, f64, f64)) -> Vec<[f64; 2]> {
        let corners = 3 + self.below(20);
        let mut ring: Vec<[f64; 2]> = (0..corners)
            .map(|at| {
                let angle = at as f64 / corners as f64 * std::f64::consts::TAU;
                let reach = reach * (0.5 + self.share() / 2.0);
                [x + reach * angle.cos(), y + reach * angle.sin()]
            })
            .collect();
        ring.push(ring[0]);
        ring
    }

    fn shape(&mut self, deep: bool) -> Value {
        let place @ (x, y, reach) = self.place();
        let on_map = |x: f64| (x + 540.0) % 360.0 - 180.0;
        match self.below(if deep { 7 } else { 6 }) {
            0 => json!({"type": "Point", "coordinates": [on_map(x), y]}),
            1 => json!({"type": "LineString", "coordinates": self.ring(place)[1..]}),
            2 => json!({"type": "Polygon", "coordinates": [self.ring(place)]}),
            3 => {
                let hole = self.ring((x, y, reach * 0.2));
                json!({"type": "Polygon", "coordinates": [self.ring(place), hole]})
            }
            4 => {
                json!({"type": "Envelope", "coordinates": [[on_map(x - reach), y + reach], [on_map(x + reach), y - reach]]})
            }
            5 => {
                json!({"type": "MultiPoint", "coordinates": [[on_map(x), y], [on_map(x + reach), y - reach]]})
            }
            _ => json!({"type": "GeometryCollection", "geometries": [self.shape(false), self.shape(false)]}),
        }
    }
}

#[test]
fn the_index_finds_what_a_scan_finds() {
    let mut random = Random(5);
    let mut shards = support::Shards::new(&json!({"properties": {
        "g": {"type": "geo_shape"}, "scanned": {"type": "geo_shape", "index": false},
        "bare": {"type": "geo_shape", "doc_values": false}
    }}));
    let documents: Vec<(String, Value)> = (0..1200)
        .map(|id| {
            let shapes: Vec<Value> = (0..[1, 1, 1, 2, 0][id % 5]).map(|_| random.shape(true)).collect();
            (id.to_string(), json!({"g": shapes, "scanned": shapes, "bare": shapes}))
        })
        .collect();
    let views = documents.chunks(700).map(|chunk| shards.segment(chunk, &[3, 77])).collect();
    let snapshot = [shards.shard(0, views)];
    let ids = |query: &Value| {
        let body = json!({"size": 2000, "_source": false, "sort": ["_doc"], "query": query});
        support::ids(&support::search(&snapshot, &body))
    };
    let rare = json!({"ids": {"values": (0..40).map(|n| (n * 29).to_string()).collect::<Vec<_>>()}});
    for _ in 0..40 {
        let shape = random.shape(true);
        let is_line = shape.to_string().contains("LineString");
        let found = |relation: &str| {
            let of = |path: &str| json!({"geo_shape": {path: {"shape": shape, "relation": relation}}});
            let scanned = ids(&of("scanned"));
            assert_eq!(ids(&of("g")), scanned, "{relation} {shape}");
            assert_eq!(ids(&of("bare")), scanned, "{relation} {shape}");
            let few = |path: &str| ids(&json!({"bool": {"filter": [of(path), rare]}}));
            assert_eq!(few("g"), few("scanned"), "{relation} {shape}");
            scanned
        };
        let near = found("intersects");
        let apart = found("disjoint");
        let all = ids(&json!({"exists": {"field": "g"}}));
        assert_eq!(near.len() + apart.len(), all.len(), "{shape}");
        assert!(apart.iter().all(|id| all.contains(id) && !near.contains(id)), "{shape}");
        if !is_line {
            assert!(found("within").iter().all(|id| near.contains(id)), "{shape}");
        }
        assert!(found("contains").iter().all(|id| near.contains(id)), "{shape}");
    }
}
