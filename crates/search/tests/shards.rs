//! Searches several shards, using the hits of earlier shards, one after the other or in parallel: "is a
//! page the same as in the whole list?" Also compares buckets counted from points with those counted from
//! documents.

mod support;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use limber_search::{SearchContext, ShardSnapshot, Workers};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Shards, context, ids, search, search_in};

/// More than four windows, so that the best windows are searched first.
const LARGE_SHARD: usize = 20_000;

struct Index {
    shards: Vec<ShardSnapshot>,
    _kept: Vec<Shards>,
}

/// Four shards of two segments each: numbers with many ties, some missing; keywords, some missing; instants
/// that mostly ascend; points in clusters.
static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mapping = json!({ "properties": {
        "n": { "type": "long" }, "dense": { "type": "integer" }, "k": { "type": "keyword" }, "text": { "type": "text" },
        "at": { "type": "date" }, "price": { "type": "scaled_float", "scaling_factor": 100 }, "place": { "type": "geo_point" }
    }});
    let mut random = 7u64;
    let mut below = move |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    let (mut shards, mut kept) = (Vec::new(), Vec::new());
    let mut id = 0u64;
    for (number, size) in [300, LARGE_SHARD, 1, 700].into_iter().enumerate() {
        let mut shard = Shards::new(&mapping);
        let mut segments = Vec::new();
        for half in 0..2 {
            let documents: Vec<(String, Value)> = (0..size.div_ceil(2))
                .map(|_| {
                    id += 1;
                    let text = ["quick", "quick brown", "brown fox quick", "fox"][below(4) as usize];
                    let mut document = json!({
                        "text": text, "dense": below(50), "at": 1_400_000_000_000u64 + id * 4_000_000 + below(90_000_000),
                        "price": below(9_000) as f64 / 100.0,
                        "place": {
                            "lat": below(12) as f64 * 15.0 - 88.0 + below(1000) as f64 / 500.0,
                            "lon": below(18) as f64 * 20.0 - 178.0 + below(1000) as f64 / 250.0
                        }
                    });
                    if below(10) > 0 {
                        document["n"] = json!(below(400) as i64 - 100);
                    }
                    if below(10) > 0 {
                        document["k"] = json!(format!("k{}", below(30)));
                    }
                    (id.to_string(), document)
                })
                .collect();
            let deleted: Vec<u32> =
                if half == 0 { Vec::new() } else { (0..documents.len() as u32).step_by(9).collect() };
            segments.push(shard.segment(&documents, &deleted));
        }
        shards.push(shard.shard(number as u32, segments));
        kept.push(shard);
    }
    Index { shards, _kept: kept }
});

/// Returns a context with a thread for each shard from the start.
fn side_by_side() -> SearchContext {
    static WORKERS: LazyLock<Arc<Workers>> =
        LazyLock::new(|| Arc::new(Workers::start(4, Duration::ZERO).expect("threads start")));
    SearchContext { workers: Some(WORKERS.clone()), ..context() }
}

fn sorts() -> impl Strategy<Value = Option<Value>> {
    let one = prop_oneof![
        Just(json!({ "n": "asc" })),
        Just(json!({ "n": "desc" })),
        Just(json!({ "n": { "order": "asc", "missing": "_first" } })),
        Just(json!({ "dense": "asc" })),
        Just(json!({ "dense": "desc" })),
        Just(json!({ "at": "desc" })),
        Just(json!({ "k": "asc" })),
        Just(json!({ "k": { "order": "desc", "missing": "_first" } })),
        Just(json!("_doc")),
        Just(json!("_score")),
    ];
    prop::option::of(prop::collection::vec(one, 1..3).prop_map(Value::Array))
}

fn queries() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({ "match_all": {} })),
        Just(json!({ "match": { "text": "quick" } })),
        Just(json!({ "match": { "text": "brown fox" } })),
        (-100i64..200, 0i64..200)
            .prop_map(|(from, width)| json!({ "range": { "n": { "gte": from, "lt": from + width } } })),
        Just(json!({ "term": { "k": "k3" } })),
    ]
}

/// Queries whose scores are computed from one value of a field.
fn queries_by_function() -> impl Strategy<Value = Value> {
    let place = (-90i32..=90, -180i32..=180).prop_map(|(lat, lon)| format!("{lat},{lon}"));
    let decay = prop::sample::select(vec!["gauss", "exp", "linear"]);
    let on_places = (place.clone(), decay.clone(), 1u32..20_000, 0u32..2).prop_map(|(origin, decay, km, offset)| {
        json!({ decay: { "place": { "origin": origin, "scale": format!("{km}km"), "offset": format!("{}km", offset * 500) } } })
    });
    let on_numbers = (-10i64..100, decay.clone(), 1u32..100, 0u32..10).prop_map(|(origin, decay, scale, offset)| {
        json!({ decay: { "dense": { "origin": origin, "scale": scale, "offset": offset } } })
    });
    let modifier = prop::sample::select(vec!["none", "log1p", "log2p", "ln1p", "ln2p", "square", "sqrt"]);
    let on_value = (modifier, 0u32..30, prop::sample::select(vec!["dense", "price"])).prop_map(|(modifier, factor, field)| {
        json!({ "field_value_factor": { "field": field, "modifier": modifier, "factor": f64::from(factor) / 10.0 } })
    });
    let script = prop::sample::select(vec![
        "Math.log10(doc['dense'].value * 1.2 + 2)",
        "doc['price'].value / (doc['price'].value + 3.5)",
        "Math.max(0, 40 - doc['dense'].value) * 2.0",
        "100 - doc['dense'].value + Math.sqrt(doc['dense'].value)",
        "decayNumericExp(20.0, 4.0, 1.0, 0.3, doc['price'].value)",
        "decayGeoGauss('10, 20', '4000km', '10km', 0.4, doc['place'].value)",
        "decayGeoLinear(params.from, '9000km', '0km', 0.5, doc['place'].value) * params.factor",
        "doc['dense'].value * doc['dense'].value + 0.5",
        "doc['at'].value.toInstant().toEpochMilli() % 1000",
        "doc['dense'].value % 7",
    ])
    .prop_map(|source| json!({ "source": source, "params": { "from": "-30, 100", "factor": 2.5 } }));
    let by_script = script.clone().prop_map(|script| json!({ "script_score": { "script": script } }));
    let function = prop_oneof![on_places, on_numbers, on_value, by_script];
    let boost_mode = prop::sample::select(vec!["multiply", "replace", "sum", "avg", "max", "min"]);
    let inner = prop_oneof![
        Just(json!({ "match_all": {} })),
        Just(json!({ "match": { "text": "quick" } })),
        Just(json!({ "constant_score": { "filter": { "range": { "dense": { "gte": 10 } } }, "boost": 3 } })),
    ];
    let function_score = (function, boost_mode, inner.clone(), prop::option::of(0u32..4), 0u32..5).prop_map(
        |(function, boost_mode, inner, weight, max)| {
            let mut query = json!({ "query": inner, "boost_mode": boost_mode, "functions": [function] });
            if let Some(weight) = weight {
                query["functions"][0]["weight"] = json!(f64::from(weight) / 2.0);
            }
            if max > 0 {
                query["max_boost"] = json!(max);
            }
            json!({ "function_score": query })
        },
    );
    prop_oneof![
        3 => function_score,
        1 => (script, inner).prop_map(|(script, inner)| json!({ "script_score": { "query": inner, "script": script, "boost": 1.5 } })),
        1 => (place, 1u32..5000).prop_map(|(origin, km)| json!({ "distance_feature": { "field": "place", "origin": origin, "pivot": format!("{km}km") } })),
        1 => (0i64..90_000, 1u32..500).prop_map(|(at, days)| {
            json!({ "distance_feature": { "field": "at", "origin": 1_400_000_000_000 + at * 1_000_000, "pivot": format!("{days}d"), "boost": 7 } })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_best_by_a_function_are_the_first_of_all(
        query in queries_by_function(), size in 1usize..40, counts in prop::sample::select(vec![json!(false), json!(50)]),
    ) {
        let body = |size: usize, counts: &Value| json!({ "query": query, "size": size, "track_total_hits": counts });
        let whole = search(&INDEX.shards, &body(10_000, &json!(true)));
        let page = search(&INDEX.shards, &body(size, &counts));
        let scored = |response: &limber_search::SearchResponse, count: usize| -> Vec<(String, Option<f32>)> {
            ids(response).into_iter().zip(response.hits.iter().map(|hit| hit.score)).take(count).collect()
        };
        prop_assert_eq!(scored(&page, size), scored(&whole, size), "{}", query);
        prop_assert_eq!(page.max_score, whole.max_score);
    }

    #[test]
    fn a_page_is_part_of_the_whole_list(
        sort in sorts(), query in queries(), from in 0usize..30, size in 1usize..40, counts in prop::sample::select(vec![json!(true), json!(false), json!(50)]),
        is_shared in any::<bool>(),
    ) {
        let shards = &INDEX.shards;
        let context = if is_shared { side_by_side() } else { context() };
        let body = |from: usize, size: usize, counts: &Value| {
            let mut body = json!({ "query": query, "from": from, "size": size, "track_total_hits": counts });
            if let Some(sort) = &sort {
                body["sort"] = sort.clone();
            }
            body
        };
        // No shard has so many documents that any could be skipped.
        let whole = search(shards, &body(0, 10_000, &json!(true)));
        let page = search_in(&context, shards, &body(from, size, &counts));
        let expected: Vec<String> = ids(&whole).into_iter().skip(from).take(size).collect();
        prop_assert_eq!(ids(&page), expected);
        prop_assert_eq!(page.max_score, whole.max_score);
        let total = whole.total.as_ref().map(|total| total.value).expect("counted");
        match counts {
            Value::Bool(true) => prop_assert_eq!(page.total.map(|found| (found.value, found.is_lower_bound)), Some((total, false))),
            Value::Bool(false) => prop_assert!(page.total.is_none()),
            _ => {
                let found = page.total.expect("counted");
                let is_right = if total > 50 { found.value == 50 && found.is_lower_bound } else { found.value == total };
                prop_assert!(is_right, "{} of {}", found.value, total);
            }
        }
        // With this sort every document has keys of its own, so the next page is what follows.
        if sort.is_some() && !page.hits.is_empty() {
            let mut next = body(0, size, &json!(false));
            next["sort"].as_array_mut().expect("sorts").push(json!({ "at": "asc" }));
            let first = search_in(&context, shards, &next);
            let mut unbounded = next.clone();
            unbounded["size"] = json!(10_000);
            let whole = search(shards, &unbounded);
            if let Some(last) = first.hits.last() {
                next["search_after"] = json!(last.sort);
                let after = search_in(&context, shards, &next);
                let expected: Vec<String> = ids(&whole).into_iter().skip(first.hits.len()).take(size).collect();
                prop_assert_eq!(ids(&after), expected);
            }
        }
    }

    #[test]
    fn counted_buckets_are_those_of_documents(
        first in 0i64..80_000, width in 1i64..90_000, is_everything in any::<bool>(),
        kind in prop::sample::select(vec![
            json!({ "date_histogram": { "field": "at", "calendar_interval": "month" } }),
            json!({ "date_histogram": { "field": "at", "calendar_interval": "week", "time_zone": "America/New_York" } }),
            json!({ "date_histogram": { "field": "at", "fixed_interval": "30d", "offset": "5h" } }),
            json!({ "date_histogram": { "field": "at", "calendar_interval": "month", "hard_bounds": { "min": "2014-09", "max": "2015-03" } } }),
            json!({ "auto_date_histogram": { "field": "at", "buckets": 20 } }),
            json!({ "auto_date_histogram": { "field": "at", "buckets": 7, "time_zone": "Europe/Berlin" } }),
        ]),
    ) {
        let at = |place: i64| 1_400_000_000_000 + place * 1_000_000;
        let query = match is_everything {
            true => json!({ "match_all": {} }),
            false => json!({ "range": { "at": { "gte": at(first), "lt": at(first + width), "format": "epoch_millis" } } }),
        };
        let body = |kind: &Value| json!({ "size": 0, "query": query, "aggs": { "a": kind } });
        // A `missing` value, although no value is missing, forces every document to be visited.
        let mut looked_at = kind.clone();
        for options in looked_at.as_object_mut().expect("one kind").values_mut() {
            options["missing"] = json!("2014-06-01");
        }
        let context = side_by_side();
        let counted = search_in(&context, &INDEX.shards, &body(&kind));
        let looked_at = search(&INDEX.shards, &body(&looked_at));
        prop_assert_eq!(counted.aggregations, looked_at.aggregations);
        prop_assert_eq!(counted.total.map(|total| total.value), looked_at.total.map(|total| total.value));
    }
}
