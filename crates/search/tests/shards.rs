//! Several shards, searched with what those that answered before found, one after the other or side by side: "is a page what the whole list says?" And buckets
//! counted from points: "are they those of the documents?"

mod support;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use limber_search::{SearchContext, ShardSnapshot, Workers};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Shards, context, ids, search, search_in};

/// More than four windows, so that the best of them come first.
const LARGE_SHARD: usize = 20_000;

struct Index {
    shards: Vec<ShardSnapshot>,
    _kept: Vec<Shards>,
}

/// Four shards of two segments each: numbers with many ties, some missing; keywords, some missing; instants that ascend by and large.
static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mapping = json!({ "properties": {
        "n": { "type": "long" }, "dense": { "type": "integer" }, "k": { "type": "keyword" }, "text": { "type": "text" },
        "at": { "type": "date" }, "price": { "type": "scaled_float", "scaling_factor": 100 }
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
                        "price": below(9_000) as f64 / 100.0
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

/// With a thread for each shard from the start.
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

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
        // No shard has so many that anything could be passed over.
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
        // Every document has sort keys of its own with this one, so that the next page is what follows.
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
        // What stands in for a missing value, of which there is none, has every document looked at.
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
