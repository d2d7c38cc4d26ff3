//! Compares `date_nanos` with a `date` of the same instants: what works on milliseconds must give the same
//! for both, what works on nanoseconds must agree with a naive model. Segments are large enough that blocks
//! are skipped and values are counted in the index.

mod support;

use limber_search::ShardSnapshot;
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Shards, ids, search};

const DAY_NANOS: i64 = 86_400_000_000_000;

fn mapping() -> Value {
    json!({ "properties": { "n": { "type": "date_nanos" }, "m": { "type": "date" }, "k": { "type": "keyword" } } })
}

/// Returns 2020-01-01 plus `nanos` nanoseconds, as a string.
fn text(nanos: i64) -> String {
    limber_mapping::date::Instant::of_nanos(1_577_836_800_000_000_000 + nanos).to_iso()
}

/// Documents by segment, with the nanoseconds of each value; in segments with `is_single`, each has one
/// value.
#[derive(Debug)]
struct Documents(Vec<Vec<Vec<i64>>>);

impl Documents {
    fn shard(&self) -> (Shards, ShardSnapshot) {
        let mut shards = Shards::new(&mapping());
        let mut segments = Vec::new();
        let mut number = 0;
        for documents in &self.0 {
            let named: Vec<(String, Value)> = documents
                .iter()
                .map(|values| {
                    number += 1;
                    let texts: Vec<String> = values.iter().map(|nanos| text(*nanos)).collect();
                    let k = ["a", "b", "c"][number % 3];
                    (number.to_string(), json!({ "n": texts, "m": texts, "k": k }))
                })
                .collect();
            let deleted: Vec<u32> = (0..documents.len() as u32).filter(|doc| doc % 17 == 5).collect();
            segments.push(shards.segment(&named, if number % 2 == 0 { &deleted } else { &[] }));
        }
        let shard = shards.shard(0, segments);
        (shards, shard)
    }
}

fn documents() -> impl Strategy<Value = Documents> {
    let nanos =
        prop_oneof![0..40 * DAY_NANOS, (0i64..30).prop_map(|milli| milli * 1_000_000 + 999_999), 0i64..100];
    let several = prop::collection::vec(prop::collection::vec(nanos.clone(), 0..3), 1..60);
    let single = prop::collection::vec(nanos.prop_map(|nanos| vec![nanos]), 1..700);
    let ascending = single.clone().prop_map(|mut documents| {
        documents.sort();
        documents
    });
    prop::collection::vec(prop_oneof![several, single, ascending], 1..4).prop_map(Documents)
}

fn aggregation() -> impl Strategy<Value = Value> {
    let of = |body: Value| Just(body).boxed();
    prop_oneof![
        of(json!({ "date_histogram": { "field": "F", "calendar_interval": "month" } })),
        of(
            json!({ "date_histogram": { "field": "F", "fixed_interval": "12h", "time_zone": "Europe/Paris", "min_doc_count": 1 } })
        ),
        of(
            json!({ "date_histogram": { "field": "F", "fixed_interval": "1ms", "min_doc_count": 1, "missing": "2020-01-05" } })
        ),
        of(
            json!({ "date_histogram": { "field": "F", "calendar_interval": "day", "hard_bounds": { "min": "2020-01-03", "max": "2020-01-20" } }, "aggs": { "k": { "terms": { "field": "k" } } } })
        ),
        of(json!({ "auto_date_histogram": { "field": "F", "buckets": 7 } })),
        of(json!({ "histogram": { "field": "F", "interval": 3_600_000.5, "min_doc_count": 1 } })),
        of(
            json!({ "terms": { "field": "F", "size": 10_000, "order": { "_key": "asc" } }, "aggs": { "last": { "max": { "field": "F" } } } })
        ),
        of(
            json!({ "terms": { "field": "k" }, "aggs": { "stats": { "stats": { "field": "F" } }, "first": { "min": { "field": "F" } } } })
        ),
        of(json!({ "stats": { "field": "F" } })),
        of(json!({ "min": { "field": "F" } })),
        of(json!({ "max": { "field": "F" } })),
        of(json!({ "cardinality": { "field": "F" } })),
        of(json!({ "value_count": { "field": "F" } })),
        of(json!({ "percentiles": { "field": "F" } })),
        of(
            json!({ "date_range": { "field": "F", "ranges": [{ "to": "2020-01-10T00:00:00.001Z" }, { "from": "2020-01-01T00:00:00.005Z", "to": "2020-01-02" }] } })
        ),
        of(
            json!({ "composite": { "size": 1000, "sources": [{ "d": { "date_histogram": { "field": "F", "calendar_interval": "week" } } }, { "k": { "terms": { "field": "k" } } }] } })
        ),
        of(json!({ "composite": { "size": 1000, "sources": [{ "d": { "terms": { "field": "F" } } }] } })),
        of(json!({ "missing": { "field": "F" } })),
        of(json!({ "rare_terms": { "field": "F" } })),
    ]
}

fn over(body: &Value, field: &str) -> Value {
    serde_json::from_str(&body.to_string().replace("\"F\"", &format!("\"{field}\""))).expect("still JSON")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn aggregations_see_milliseconds(documents in documents(), aggregation in aggregation(), days in prop::option::of(0i64..30)) {
        let (_kept, shard) = documents.shard();
        let shards = [shard];
        // The filters match the same documents: a day contains all of its milliseconds and nanoseconds.
        let found = ["n", "m"].map(|field| {
            let mut body = json!({ "size": 0, "aggs": { "x": over(&aggregation, field) } });
            if let Some(days) = days {
                body["query"] = json!({ "range": { field: { "gte": text(days * DAY_NANOS), "lt": text((days + 9) * DAY_NANOS) } } });
            }
            search(&shards, &body).aggregations_to_json().expect("JSON")["x"].to_string()
        });
        let [nanos, millis] = &found;
        prop_assert_eq!(nanos, millis, "{}", aggregation);
    }

    #[test]
    fn ranges_and_sorts_are_to_the_nanosecond(
        documents in documents(),
        (from, length) in (0i64..40 * DAY_NANOS, prop_oneof![0i64..5, 0..20 * DAY_NANOS]),
        descending in any::<bool>(),
        size in 1usize..20,
    ) {
        let (_kept, shard) = documents.shard();
        let shards = [shard];
        let order = if descending { "desc" } else { "asc" };
        let body = json!({
            "query": { "range": { "n": { "gte": text(from), "lte": text(from + length) } } },
            "sort": [{ "n": order }, "_doc"], "size": size, "track_total_hits": false,
        });
        let mut expected = Vec::new();
        let mut number = 0;
        for documents in &documents.0 {
            let first = number;
            number += documents.len();
            for (place, values) in documents.iter().enumerate() {
                let is_deleted = number % 2 == 0 && place % 17 == 5;
                if is_deleted || !values.iter().any(|value| (from..=from + length).contains(value)) {
                    continue;
                }
                let key = if descending { -*values.iter().max().unwrap() } else { *values.iter().min().unwrap() };
                expected.push((key, first + place + 1));
            }
        }
        expected.sort();
        let expected: Vec<String> = expected.iter().take(size).map(|(_, id)| id.to_string()).collect();
        prop_assert_eq!(ids(&search(&shards, &body)), expected);
    }

    #[test]
    fn the_nearest_are_found_without_looking_at_all(
        documents in documents(),
        origin in prop_oneof![0i64..40 * DAY_NANOS, 0i64..40_000_000],
        pivot in prop_oneof![Just("500nanos"), Just("3micros"), Just("2ms"), Just("1d")],
        size in 1usize..8,
    ) {
        let (_kept, shard) = documents.shard();
        let shards = [shard];
        let body = |counts: bool| json!({
            "query": { "distance_feature": { "field": "n", "origin": text(origin), "pivot": pivot } },
            "size": size, "track_total_hits": counts,
        });
        let scores = |counts: bool| -> Vec<(String, f32)> {
            let found = search(&shards, &body(counts));
            found.hits.iter().map(|hit| (hit.id.clone().unwrap(), hit.score.unwrap())).collect()
        };
        prop_assert_eq!(scores(false), scores(true));
        let unit = match pivot { "500nanos" => 500.0, "3micros" => 3e3, "2ms" => 2e6, _ => DAY_NANOS as f64 };
        let all = documents.0.concat();
        for (id, score) in scores(true) {
            let values = &all[id.parse::<usize>().unwrap() - 1];
            let nearest = values.iter().map(|value| value.abs_diff(origin)).min().unwrap() as f64;
            prop_assert_eq!(score, (unit / (unit + nearest)) as f32);
        }
    }
}
