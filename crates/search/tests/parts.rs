//! Searches a shard whose segments are divided into parallel parts: "does the answer depend on the
//! division?" Also compares the numbers of an answer with those of a plain loop.

mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use limber_search::{SearchContext, ShardSnapshot, Workers};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Shards, context, search_in};

/// More than two parts, the last of which is incomplete.
const DOC_COUNT: usize = 40_000;

struct Index {
    documents: Vec<Value>,
    /// All documents in one segment; the same documents in three segments; the same in two segments with
    /// deletes.
    whole: ShardSnapshot,
    cut: ShardSnapshot,
    deleted: ShardSnapshot,
    _kept: Vec<Shards>,
}

/// Values of every type, single, missing and multiple; dates that mostly ascend, and dates that do not.
static INDEX: LazyLock<Index> = LazyLock::new(|| index(DOC_COUNT));

/// For tests that run every aggregation many times.
static SMALL: LazyLock<Index> = LazyLock::new(|| index(DOC_COUNT / 8));

fn index(doc_count: usize) -> Index {
    let mapping = json!({ "properties": {
        "long": { "type": "long" }, "few": { "type": "integer" }, "some": { "type": "short" },
        "many": { "type": "long" },
        "double": { "type": "double" }, "price": { "type": "scaled_float", "scaling_factor": 100 },
        "flag": { "type": "boolean" },
        "k": { "type": "keyword" }, "tags": { "type": "keyword" }, "id": { "type": "keyword" },
        "at": { "type": "date" }, "any": { "type": "date" }, "nanos": { "type": "date_nanos" }, "place": { "type": "geo_point" }
    }});
    let mut random = 11u64;
    let mut below = move |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    let documents: Vec<Value> = (0..doc_count as u64)
        .map(|number| {
            let any = 1_420_000_000_000u64 + below(31_000_000_000);
            let mut document = json!({
                "long": below(1 << 40) as i64 - (1 << 39), "few": below(6),
                "double": below(1_000_000) as f64 * 0.37 - 5e4,
                "price": below(9_000) as f64 / 100.0 - 5.0,
                "flag": below(3) == 0, "k": format!("k{}", below(7)),
                "id": format!("i{}", below(3_000)), "any": any,
                "at": 1_420_000_000_000u64 + number * 600_000 + below(900_000),
                "nanos": any, "many": (0..below(3)).map(|_| below(40)).collect::<Vec<u64>>(),
                "tags": (0..below(3)).map(|_| format!("t{}", below(20))).collect::<Vec<String>>(),
            });
            document["place"] =
                json!({ "lat": (any % 170) as f64 - 85.0, "lon": (any % 350) as f64 - 175.0 });
            if below(4) > 0 {
                document["some"] = json!(below(300));
            }
            document
        })
        .collect();
    let named: Vec<(String, Value)> =
        documents.iter().enumerate().map(|(id, document)| (id.to_string(), document.clone())).collect();
    let mut shards = [(); 3].map(|()| Shards::new(&mapping));
    let [whole, cut, deleted] = &mut shards;
    let every_seventh: Vec<u32> = (0..doc_count as u32 * 7 / 8).step_by(7).collect();
    let segments = [
        vec![whole.segment(&named, &[])],
        vec![
            cut.segment(&named[..doc_count / 40], &[]),
            cut.segment(&named[doc_count / 40..doc_count * 5 / 6], &[]),
            cut.segment(&named[doc_count * 5 / 6..], &[]),
        ],
        vec![
            deleted.segment(&named[..doc_count * 9 / 10], &every_seventh),
            deleted.segment(&named[doc_count * 9 / 10..], &[]),
        ],
    ];
    let [one, two, three] = segments;
    let snapshots = [shards[0].shard(0, one), shards[1].shard(0, two), shards[2].shard(0, three)];
    let [whole, cut, deleted] = snapshots;
    Index { documents, whole, cut, deleted, _kept: shards.into() }
}

fn alone() -> SearchContext {
    SearchContext { max_buckets: u32::MAX, ..context() }
}

fn with_workers() -> SearchContext {
    static WORKERS: LazyLock<Arc<Workers>> =
        LazyLock::new(|| Arc::new(Workers::start(4, Duration::ZERO).expect("threads start")));
    SearchContext { workers: Some(WORKERS.clone()), ..alone() }
}

fn answer(context: &SearchContext, shard: &ShardSnapshot, body: &Value) -> (Value, Option<u64>) {
    let response = search_in(context, std::slice::from_ref(shard), body);
    let total = response.total.as_ref().map(|total| total.value);
    (response.aggregations_to_json().expect("JSON"), total)
}

/// Checks that two answers agree; sums of doubles may differ in their last digits.
fn check_alike(left: &Value, right: &Value, way: &str) -> Result<(), TestCaseError> {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            prop_assert_eq!(left.keys().collect::<Vec<_>>(), right.keys().collect::<Vec<_>>(), "{}", way);
            left.iter().try_for_each(|(key, value)| check_alike(value, &right[key], &format!("{way}.{key}")))
        }
        (Value::Array(left), Value::Array(right)) => {
            prop_assert_eq!(left.len(), right.len(), "{}", way);
            left.iter().zip(right).try_for_each(|(left, right)| check_alike(left, right, way))
        }
        (Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.as_f64().unwrap_or(0.0), right.as_f64().unwrap_or(0.0));
            // When large numbers cancel each other out, the result has few digits of its own.
            let size = left.abs().max(right.abs()).max(1.0);
            prop_assert!((left - right).abs() <= 1e-9 * size, "{}: {} and {}", way, left, right);
            Ok(())
        }
        _ => {
            prop_assert_eq!(left, right, "{}", way);
            Ok(())
        }
    }
}

fn metric() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        "sum",
        "avg",
        "min",
        "max",
        "stats",
        "extended_stats",
        "value_count",
        "cardinality",
    ]);
    let field =
        prop::sample::select(vec!["long", "few", "some", "many", "double", "price", "flag", "any", "nanos"]);
    let terms = prop::sample::select(vec!["k", "tags", "id"]);
    prop_oneof![
        4 => (kind, field).prop_map(|(kind, field)| json!({ kind: { "field": field } })),
        1 => terms.clone().prop_map(|field| json!({ "cardinality": { "field": field } })),
        1 => terms.prop_map(|field| json!({ "value_count": { "field": field } })),
        1 => Just(json!({ "sum": { "field": "some", "missing": 7 } })),
        1 => counted(),
        1 => Just(json!({ "scripted_metric": {
            "init_script": "state.sum = 0", "map_script": "state.sum += doc['few'].value", "combine_script": "return state.sum",
            "reduce_script": "long sum = 0; for (one in states) { if (one != null) { sum += one } } return sum",
        } })),
        1 => prop::sample::select(vec![
            json!({ "weighted_avg": { "value": { "field": "price" }, "weight": { "field": "few" } } }),
            json!({ "weighted_avg": { "value": { "field": "some" }, "weight": { "field": "price" } } }),
            json!({ "t_test": { "a": { "field": "price" }, "b": { "field": "few" }, "type": "heteroscedastic" } }),
            json!({ "string_stats": { "field": "k" } }),
        ]),
    ]
}

/// Metrics that are computed from counts of values.
fn counted() -> impl Strategy<Value = Value> {
    let field = prop::sample::select(vec!["few", "some", "many", "price"]);
    (field, 0usize..5).prop_map(|(field, kind)| match kind {
        0 => json!({ "percentiles": { "field": field, "percents": [0, 1, 25, 50, 99, 100] } }),
        1 => json!({ "percentile_ranks": { "field": field, "values": [1, 3, 20.5, 77] } }),
        2 => json!({ "boxplot": { "field": field } }),
        3 => json!({ "median_absolute_deviation": { "field": field } }),
        _ => json!({ "percentiles": { "field": "few", "hdr": { "number_of_significant_value_digits": 2 } } }),
    })
}

fn buckets() -> impl Strategy<Value = Value> {
    let date = prop::sample::select(vec!["at", "any", "nanos"]);
    let zone = prop::sample::select(vec!["UTC", "+05:30", "Europe/Berlin"]);
    let calendar = prop::sample::select(vec!["day", "week", "month", "quarter", "year"]);
    let number = prop::sample::select(vec!["long", "few", "some", "many", "price", "double", "flag"]);
    let terms = prop::sample::select(vec!["k", "tags", "id", "few", "some", "many", "flag"]);
    prop_oneof![
        (date.clone(), calendar, zone).prop_map(|(field, interval, zone)| json!({
            "date_histogram": {
                "field": field, "calendar_interval": interval, "time_zone": zone, "min_doc_count": 1
            }
        })),
        (date, 20u32..500).prop_map(|(field, hours)| json!({
            "date_histogram": { "field": field, "fixed_interval": format!("{hours}h"), "min_doc_count": 1 }
        })),
        number.clone().prop_map(|field| {
            let interval = match field {
                "long" => 1e10,
                "double" => 5e3,
                "few" | "flag" => 0.5,
                _ => 3.0,
            };
            json!({ "histogram": { "field": field, "interval": interval, "min_doc_count": 1 } })
        }),
        (terms, 1u32..40).prop_map(|(field, size)| json!({ "terms": { "field": field, "size": size } })),
        number.prop_map(|field| json!({
            "range": { "field": field, "ranges": [{ "to": 2 }, { "from": 2, "to": 50 }, { "from": 60 }] }
        })),
        Just(json!({ "filter": { "term": { "k": "k3" } } })),
        Just(json!({ "filters": {
            "filters": [{ "term": { "k": "k1" } }, { "range": { "price": { "gte": 40 } } }], "other_bucket": true
        } })),
        Just(json!({ "missing": { "field": "some" } })),
        Just(json!({ "adjacency_matrix": { "filters": {
            "a": { "term": { "k": "k1" } }, "b": { "range": { "price": { "gte": 40 } } }, "c": { "term": { "few": 2 } }
        } } })),
        (prop::sample::select(vec!["at", "any"]), 2u32..60).prop_map(|(field, buckets)| json!({
            "auto_date_histogram": { "field": field, "buckets": buckets }
        })),
        (prop::sample::select(vec!["id", "tags", "few", "some"]), 1u32..30).prop_map(|(field, size)| json!({
            "multi_terms": { "terms": [{ "field": "k" }, { "field": field }], "size": size }
        })),
    ]
}

fn composite() -> impl Strategy<Value = Value> {
    let order = prop::sample::select(vec!["asc", "desc"]);
    let source = (prop::sample::select(vec!["k", "id", "tags", "few", "some", "at", "price"]), order)
        .prop_map(|(field, order)| match field {
            "at" => json!({ "at": { "date_histogram": {
                "field": "at", "calendar_interval": "week", "order": order
            } } }),
            "price" => {
                json!({ "price": { "histogram": { "field": "price", "interval": 0.1, "order": order } } })
            }
            "some" => {
                json!({ "some": { "terms": { "field": "some", "missing_bucket": true, "order": order } } })
            }
            field => json!({ field: { "terms": { "field": field, "order": order } } }),
        });
    (prop::collection::vec(source, 1..4), 1u32..200, metric()).prop_filter_map("names differ", |parts| {
        let (sources, size, metric) = parts;
        let names = sources.iter().filter_map(|source| source.as_object()?.keys().next().cloned());
        let distinct: std::collections::BTreeSet<String> = names.collect();
        (distinct.len() == sources.len()).then(
            || json!({ "c": { "composite": { "sources": sources, "size": size }, "aggs": { "m": metric } } }),
        )
    })
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        3 => metric().prop_map(|metric| json!({ "m": metric })),
        1 => buckets().prop_map(|bucket| json!({ "m": bucket })),
    ];
    leaf.prop_recursive(2, 6, 2, |below| {
        (buckets(), below, metric()).prop_map(|(mut bucket, below, metric)| {
            let mut subs = below;
            subs["beside"] = metric;
            bucket["aggs"] = subs;
            json!({ "b": bucket })
        })
    })
}

fn query() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => Just(json!({ "match_all": {} })),
        1 => (0u32..80, 1u32..40).prop_map(|(from, width)| json!({
            "range": { "price": { "gte": from, "lt": from + width } }
        })),
        1 => (0u64..30_000).prop_map(|number| json!({
            "range": { "at": { "gte": 1_420_000_000_000u64 + number * 600_000 } }
        })),
        1 => Just(json!({
            "bool": { "filter": [{ "term": { "k": "k2" } }], "must_not": [{ "term": { "few": 3 } }] }
        })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn answers_do_not_depend_on_the_cut(aggs in tree(), query in query(), counts in any::<bool>()) {
        let body = json!({ "size": 0, "query": query, "aggs": aggs, "track_total_hits": counts });
        let index = &*INDEX;
        let (expected, total) = answer(&alone(), &index.whole, &body);
        let ways = [(&index.whole, with_workers()), (&index.cut, alone()), (&index.cut, with_workers())];
        for (shard, context) in ways {
            let (other, other_total) = answer(&context, shard, &body);
            prop_assert_eq!(total, other_total);
            check_alike(&expected, &other, "")?;
        }
        let (expected, total) = answer(&alone(), &index.deleted, &body);
        let (other, other_total) = answer(&with_workers(), &index.deleted, &body);
        prop_assert_eq!(total, other_total);
        check_alike(&expected, &other, "")?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Compares the first page and the one after it.
    #[test]
    fn pages_do_not_depend_on_the_cut(aggs in composite(), query in query()) {
        let mut body = json!({ "size": 0, "query": query, "aggs": aggs });
        let index = &*INDEX;
        for _ in 0..2 {
            let (expected, _) = answer(&alone(), &index.whole, &body);
            for (shard, context) in [(&index.whole, with_workers()), (&index.cut, alone()), (&index.cut, with_workers())] {
                check_alike(&expected, &answer(&context, shard, &body).0, "")?;
            }
            let Some(after) = expected["c"].get("after_key") else { break };
            body["aggs"]["c"]["composite"]["after"] = after.clone();
        }
    }

    /// Hits are the same with and without aggregations, and vice versa.
    #[test]
    fn hits_and_aggregations_do_not_see_each_other(
        aggs in tree(),
        query in query(),
        sort in prop::sample::select(vec![json!(["_score"]), json!([{ "price": "desc" }, { "long": "asc" }])]),
        is_filtered in any::<bool>(),
    ) {
        let index = &*INDEX;
        let mut both = json!({ "size": 7, "query": query, "aggs": aggs, "sort": sort, "track_total_hits": true });
        if is_filtered {
            both["post_filter"] = json!({ "term": { "k": "k2" } });
        }
        let (mut hits, mut none) = (both.clone(), both.clone());
        hits.as_object_mut().expect("an object").remove("aggs");
        none["size"] = json!(0);
        for shard in [&index.whole, &index.cut, &index.deleted] {
            let found = search_in(&with_workers(), std::slice::from_ref(shard), &both);
            let alone = search_in(&with_workers(), std::slice::from_ref(shard), &hits);
            let ids = |response: &limber_search::SearchResponse| {
                response.hits.iter().map(|hit| hit.id.clone()).collect::<Vec<_>>()
            };
            prop_assert_eq!(ids(&found), ids(&alone));
            prop_assert_eq!(found.total.map(|total| total.value), alone.total.map(|total| total.value));
            let found = found.aggregations_to_json().expect("JSON");
            check_alike(&answer(&with_workers(), shard, &none).0, &found, "")?;
        }
    }
}

/// Orders of which nothing is known before they are computed, and those that count all hits.
fn order() -> impl Strategy<Value = Value> {
    let script =
        |source: &str, kind: &str| json!({ "_script": { "type": kind, "script": source, "order": "desc" } });
    let runtime = json!({ "runtime_mappings": {
        "dearer": { "type": "double", "script": "emit(doc['price'].value * 2 + doc['few'].value)" },
        "named": { "type": "keyword", "script": "emit(doc['k'].value + '/' + doc['few'].value)" },
    } });
    let sorted = |sort: Value| json!({ "sort": sort });
    let with_runtime = move |sort: Value| {
        let mut body = runtime.clone();
        body["sort"] = sort;
        body
    };
    let scored = |function: Value| json!({ "functions": [function] });
    let terms = json!([{ "term": { "k": "k1" } }, { "term": { "tags": "t3" } }]);
    let of_scores = json!({ "high": { "scripted_metric": {
        "init_script": "state.sum = 0", "map_script": "state.sum += _score > 2 ? 2 : 1", "combine_script": "return state.sum",
        "reduce_script": "long sum = 0; for (one in states) { if (one != null) { sum += one } } return sum",
    } } });
    prop::sample::select(vec![
        sorted(script("doc['few'].value", "number")),
        sorted(json!([script("doc['k'].value", "string"), { "price": "asc" }])),
        with_runtime(json!([{ "dearer": "desc" }])),
        with_runtime(json!([{ "named": "asc" }, { "long": "desc" }])),
        sorted(json!([{ "price": "desc" }, { "few": "asc" }])),
        sorted(json!([{ "_geo_distance": { "place": [10, 20], "order": "asc" } }, { "long": "asc" }])),
        sorted(json!([{ "_score": "asc" }, { "few": "desc" }])),
        json!({ "sort": [script("doc['few'].value", "number"), { "long": "asc" }], "search_after": [3, 0] }),
        json!({ "collapse": { "field": "id" }, "sort": [{ "few": "desc" }, { "price": "asc" }] }),
        json!({ "collapse": { "field": "few" } }),
        scored(json!({ "script_score": { "script": "doc['few'].value * 3 + doc['price'].value % 2 + 40" } })),
        scored(json!({ "random_score": { "seed": 7, "field": "long" } })),
        scored(
            json!({ "filter": { "term": { "k": "k3" } }, "field_value_factor": { "field": "few", "missing": 1 } }),
        ),
        json!({ "query": { "bool": { "should": terms } }, "aggs": of_scores }),
        json!({ "query": { "bool": { "must": terms } }, "sort": ["_score", { "few": "asc" }], "aggs": of_scores }),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_best_hits_do_not_depend_on_the_cut(
        order in order(),
        query in query(),
        size in prop::sample::select(vec![1u32, 10, 700]),
        counts in prop::sample::select(vec![json!(true), json!(false), json!(500)]),
        is_aggregated in any::<bool>(),
        is_inside in any::<bool>(),
    ) {
        let mut body = json!({ "size": size, "query": query, "track_total_hits": counts });
        for (name, value) in order.as_object().expect("an object") {
            match name.as_str() {
                "functions" => {
                    let scored = json!({ "function_score": { "query": query, "functions": value } });
                    let term = json!({ "term": { "k": "k1" } });
                    body["query"] = match is_inside {
                        true => json!({ "bool": { "must": [scored], "should": [term] } }),
                        false => scored,
                    };
                }
                _ => body[name] = value.clone(),
            }
        }
        if is_aggregated {
            body["aggs"] = json!({ "s": { "sum": { "field": "few" } }, "t": { "terms": { "field": "k" } } });
        }
        let index = &*INDEX;
        let found = |context: &SearchContext, shard: &ShardSnapshot| {
            let response = search_in(context, std::slice::from_ref(shard), &body);
            let hits = response.hits.iter().map(|hit| format!("{:?} {:?} {:?}", hit.id, hit.score, hit.sort));
            let aggregations = response.aggregations_to_json().expect("JSON");
            (hits.collect::<Vec<_>>(), response.max_score, response.total, aggregations)
        };
        let expected = found(&alone(), &index.whole);
        for (shard, context) in [(&index.whole, with_workers()), (&index.cut, alone()), (&index.cut, with_workers())] {
            prop_assert_eq!(&found(&context, shard), &expected);
        }
        prop_assert_eq!(found(&alone(), &index.deleted), found(&with_workers(), &index.deleted));
    }
}

/// A document with several values of the field is refused if it is among the best, whoever has found it.
#[test]
fn documents_of_several_groups_are_refused_alike() {
    let index = &*INDEX;
    for sort in [json!([{ "price": "desc" }]), json!([{ "at": "asc" }])] {
        let body = json!({ "size": 3, "collapse": { "field": "many" }, "sort": sort });
        let request = limber_search::SearchRequest::parse(&body, &Default::default()).expect("valid");
        let outcome = |context: &SearchContext| {
            limber_search::execute(std::slice::from_ref(&index.whole), &request, context)
                .map(|found| found.total)
        };
        let text =
            |context: &SearchContext| format!("{:?}", outcome(context).map_err(|error| error.to_string()));
        assert_eq!(text(&alone()), text(&with_workers()));
    }
}

#[test]
fn numbers_of_which_each_is_another_are_counted() {
    for (field, order) in [("long", "_count"), ("any", "_count"), ("long", "_key")] {
        let order = json!({ order: "desc" });
        let body =
            json!({ "size": 0, "aggs": { "t": { "terms": { "field": field, "size": 9, "order": order } } } });
        let mut counts: std::collections::BTreeMap<i64, u64> = Default::default();
        for document in &INDEX.documents {
            *counts.entry(document[field].as_i64().expect("a number")).or_default() += 1;
        }
        let mut wanted: Vec<(i64, u64)> = counts.into_iter().collect();
        match order.get("_key") {
            Some(_) => wanted.reverse(),
            None => wanted.sort_by_key(|(key, count)| (std::cmp::Reverse(*count), *key)),
        }
        wanted.truncate(9);
        let others = DOC_COUNT as u64 - wanted.iter().map(|(_, count)| count).sum::<u64>();
        for (shard, context) in [(&INDEX.whole, alone()), (&INDEX.cut, with_workers())] {
            let (found, _) = answer(&context, shard, &body);
            let buckets = found["t"]["buckets"].as_array().expect("buckets").iter();
            let buckets: Vec<(i64, u64)> = buckets
                .map(|bucket| {
                    (bucket["key"].as_i64().expect("a key"), bucket["doc_count"].as_u64().expect("a count"))
                })
                .collect();
            assert_eq!(buckets, wanted, "{field}");
            assert_eq!(found["t"]["sum_other_doc_count"], others);
        }
    }
}

/// For a field with many terms, documents are set aside until the terms are selected; sub-aggregations must
/// see the documents as if they had not been.
#[test]
fn sub_aggregations_of_deferred_terms_see_all_documents() {
    let top = json!({ "top_hits": { "size": 2, "_source": false, "sort": [{ "price": "desc" }, { "long": "asc" }] } });
    let below =
        json!({ "h": top, "s": { "sum": { "field": "some" } }, "d": { "cardinality": { "field": "k" } } });
    // Buckets are also ordered by a metric, for which nothing is set aside.
    let order = json!([{ "_count": "desc" }, { "s": "desc" }]);
    for query in [json!({ "match_all": {} }), json!({ "range": { "price": { "lt": 30 } } })] {
        let terms =
            |order: &Value| json!({ "field": "id", "size": 4000, "shard_size": 4000, "order": order });
        let few = |size: u32| json!({ "field": "id", "size": size });
        let body = |terms: Value| json!({ "size": 0, "query": query, "aggs": { "t": { "terms": terms, "aggs": below } } });
        for shard in [&INDEX.whole, &INDEX.cut, &INDEX.deleted] {
            let (all, _) = answer(&alone(), shard, &body(terms(&order)));
            let all: std::collections::HashMap<&str, &Value> = all["t"]["buckets"]
                .as_array()
                .expect("buckets")
                .iter()
                .map(|bucket| (bucket["key"].as_str().expect("a key"), bucket))
                .collect();
            for context in [alone(), with_workers()] {
                let (found, _) = answer(&context, shard, &body(few(7)));
                let buckets = found["t"]["buckets"].as_array().expect("buckets");
                assert_eq!(buckets.len(), 7);
                for bucket in buckets {
                    assert_eq!(&bucket, &all[bucket["key"].as_str().expect("a key")]);
                }
            }
        }
    }
}

/// One metric of each kind, by name.
fn every_metric() -> Value {
    json!({
        "sum": { "sum": { "field": "price" } }, "avg": { "avg": { "field": "some", "missing": 7 } },
        "least": { "min": { "field": "double" } }, "most": { "max": { "field": "long" } },
        "stats": { "extended_stats": { "field": "many" } }, "count": { "value_count": { "field": "tags" } },
        "ids": { "cardinality": { "field": "id" } }, "prices": { "cardinality": { "field": "price" } },
        "string": { "string_stats": { "field": "k", "show_distribution": true } },
        "strings": { "string_stats": { "field": "tags" } },
        "computed": { "string_stats": { "script": "doc['k'].value + doc['few'].value" } },
        "percentiles": { "percentiles": { "field": "few", "percents": [0, 50, 100] } },
        "ranks": { "percentile_ranks": { "field": "some", "values": [3, 77] } },
        "hdr": { "percentiles": { "field": "few", "hdr": { "number_of_significant_value_digits": 2 } } },
        "boxplot": { "boxplot": { "field": "few" } },
        "deviation": { "median_absolute_deviation": { "field": "few" } },
        "weighted": { "weighted_avg": { "value": { "field": "price" }, "weight": { "field": "few" } } },
        "matrix": { "matrix_stats": { "fields": ["few", "price"] } },
        "t_test": { "t_test": { "a": { "field": "price" }, "b": { "field": "few" }, "type": "heteroscedastic" } },
        "top": { "top_metrics": { "metrics": { "field": "long" }, "sort": { "price": "desc" }, "size": 2 } },
        "hits": { "top_hits": { "size": 2, "_source": false, "sort": [{ "price": "desc" }, { "long": "asc" }] } },
        "bounds": { "geo_bounds": { "field": "place" } }, "centroid": { "geo_centroid": { "field": "place" } },
        "scripted": { "scripted_metric": {
            "init_script": "state.n = 0L", "map_script": "state.n += doc['few'].value",
            "combine_script": "state.n", "reduce_script": "long n = 0; for (s in states) { n += s } return n"
        } }
    })
}

/// One bucket aggregation of each kind, by name, some with metrics of their own.
fn every_bucket() -> Value {
    let terms = |field: &str| json!({ "terms": { "field": field, "size": 400 } });
    let mut all = json!({
        "few": terms("few"), "k": terms("k"), "tags": terms("tags"), "flag": terms("flag"), "some": terms("some"),
        "computed": { "terms": { "script": "doc['k'].value + doc['few'].value", "size": 50 } },
        "computed_numbers": { "terms": { "script": "doc['few'].value + 3", "size": 50 } },
        "kept": { "terms": { "field": "k", "include": ["k1", "k2"], "missing": "none" } },
        "days": { "date_histogram": { "field": "any", "fixed_interval": "90d", "min_doc_count": 1 } },
        "tiles": { "geotile_grid": { "field": "place", "precision": 3 } },
        "geohashes": { "geohash_grid": { "field": "place", "precision": 1 } },
        "dates": { "auto_date_histogram": { "field": "any", "buckets": 4 } },
        "rare": { "rare_terms": { "field": "id", "max_doc_count": 2 } },
        "multi": { "multi_terms": { "terms": [{ "field": "k" }, { "field": "few" }], "size": 50 } },
        "histogram": { "histogram": { "field": "price", "interval": 10, "min_doc_count": 1 } },
        "range": { "range": { "field": "some", "ranges": [{ "to": 50 }, { "from": 50 }] } },
        "filter": { "filter": { "term": { "k": "k3" } } }, "missing": { "missing": { "field": "some" } },
        "filters": { "filters": { "filters": [{ "term": { "k": "k1" } }], "other_bucket": true } },
        "matrix_of": { "adjacency_matrix": { "filters": {
            "a": { "term": { "k": "k1" } }, "b": { "range": { "price": { "gte": 40 } } }
        } } }
    });
    for name in ["k", "range", "histogram", "filters", "few", "multi", "computed", "dates", "tiles"] {
        all[name]["aggs"] = json!({
            "string": { "string_stats": { "field": "tags" } }, "sum": { "sum": { "field": "price" } },
            "deep": { "multi_terms": { "terms": [{ "field": "few" }, { "field": "flag" }] } }
        });
    }
    all
}

/// An automatic date histogram merges its buckets when it has too many; sub-aggregations of every kind must
/// find the same as in ranges of the same dates, which are never merged.
#[test]
fn merged_buckets_are_those_of_ranges() {
    let (metrics, buckets) = (every_metric(), every_bucket());
    let single = |subs: &Value| -> Vec<Value> {
        subs.as_object().expect("an object").iter().map(|(name, sub)| json!({ name: sub })).collect()
    };
    for below in [single(&metrics), single(&buckets)].concat() {
        check_merged_buckets(&below, &SMALL.cut, &with_workers());
    }
    // If one sub-aggregation cannot be merged, the histogram sets the documents aside for all of them.
    for shard in [&SMALL.whole, &SMALL.cut, &SMALL.deleted] {
        for context in [alone(), with_workers()] {
            check_merged_buckets(&metrics, shard, &context);
            check_merged_buckets(&buckets, shard, &context);
        }
    }
}

fn check_merged_buckets(below: &Value, shard: &ShardSnapshot, context: &SearchContext) {
    let body = |mut parent: Value| {
        parent["aggs"] = below.clone();
        json!({ "size": 0, "aggs": { "b": parent } })
    };
    let histogram = json!({ "auto_date_histogram": { "field": "at", "buckets": 12 } });
    let (found, _) = answer(context, shard, &body(histogram));
    let buckets = found["b"]["buckets"].as_array().expect("buckets");
    assert!(buckets.len() > 3, "{} buckets", buckets.len());
    let mut ranges: Vec<Value> = buckets.iter().map(|bucket| json!({ "from": bucket["key"] })).collect();
    for (range, next) in ranges.iter_mut().zip(&buckets[1..]) {
        range["to"] = next["key"].clone();
    }
    let ranges = json!({ "range": { "field": "at", "ranges": ranges } });
    let (ranges, _) = answer(&alone(), shard, &body(ranges));
    for (bucket, range) in buckets.iter().zip(ranges["b"]["buckets"].as_array().expect("buckets")) {
        assert_eq!(bucket["doc_count"], range["doc_count"]);
        for name in below.as_object().expect("an object").keys() {
            check_alike(&range[name], &bucket[name], name)
                .unwrap_or_else(|error| panic!("{error}: {} and {}", bucket[name], range["key"]));
        }
    }
}

/// A bucket aggregation, and the query that finds the documents of one of its buckets.
type Parent = (Value, fn(&Value) -> Value);

fn parents() -> Vec<Parent> {
    fn from_key(field: &str, bucket: &Value, width: i64) -> Value {
        let end = bucket["key"].as_f64().expect("a number") + width as f64;
        json!({ "range": { field: { "gte": bucket["key"], "lt": end } } })
    }
    let filters =
        json!({ "first": { "term": { "k": "k1" } }, "dear": { "range": { "price": { "gte": 40 } } } });
    vec![
        (
            json!({ "terms": { "field": "k", "size": 10 } }),
            |bucket| json!({ "term": { "k": bucket["key"] } }),
        ),
        (
            json!({ "terms": { "field": "tags", "size": 10 } }),
            |bucket| json!({ "term": { "tags": bucket["key"] } }),
        ),
        (
            json!({ "terms": { "field": "id", "size": 4 } }),
            |bucket| json!({ "term": { "id": bucket["key"] } }),
        ),
        (
            json!({ "terms": { "field": "some", "size": 4 } }),
            |bucket| json!({ "term": { "some": bucket["key"] } }),
        ),
        (json!({ "histogram": { "field": "price", "interval": 20, "min_doc_count": 1 } }), |bucket| {
            from_key("price", bucket, 20)
        }),
        (
            json!({ "date_histogram": { "field": "at", "fixed_interval": "60d", "min_doc_count": 1 } }),
            |bucket| from_key("at", bucket, 60 * 86_400_000),
        ),
        (
            json!({ "range": { "field": "some", "ranges": [{ "from": 0, "to": 50 }, { "from": 40, "to": 90 }] } }),
            |bucket| json!({ "range": { "some": { "gte": bucket["from"], "lt": bucket["to"] } } }),
        ),
        (json!({ "filters": { "filters": filters, "keyed": false } }), |bucket| {
            match bucket["key"].as_str() {
                Some("first") => json!({ "term": { "k": "k1" } }),
                _ => json!({ "range": { "price": { "gte": 40 } } }),
            }
        }),
        (
            json!({ "composite": { "sources": [{ "k": { "terms": { "field": "k" } } }] } }),
            |bucket| json!({ "term": { "k": bucket["key"]["k"] } }),
        ),
        (
            json!({ "multi_terms": { "terms": [{ "field": "k" }, { "field": "few" }], "size": 5 } }),
            |bucket| {
                json!({ "bool": { "filter": [
                { "term": { "k": bucket["key"][0] } }, { "term": { "few": bucket["key"][1] } }
            ] } })
            },
        ),
    ]
}

/// What an aggregation finds in a bucket is what it finds alone among the documents of that bucket.
#[test]
fn sub_aggregations_are_those_of_a_query() {
    let (metrics, buckets) = (every_metric(), every_bucket());
    for (mut parent, query_of) in parents() {
        let kind = parent.to_string();
        for below in [&metrics, &buckets] {
            parent["aggs"] = below.clone();
            let (found, _) =
                answer(&with_workers(), &SMALL.cut, &json!({ "size": 0, "aggs": { "b": parent } }));
            let buckets = found["b"]["buckets"].as_array().expect("buckets");
            assert!(buckets.len() > 1, "{kind}");
            let bucket = &buckets[buckets.len() - 1];
            let body =
                json!({ "size": 0, "track_total_hits": true, "query": query_of(bucket), "aggs": below });
            let (alone, total) = answer(&alone(), &SMALL.cut, &body);
            assert_eq!(bucket["doc_count"].as_u64(), total, "{kind}");
            for (name, wanted) in alone.as_object().expect("an object") {
                check_alike(wanted, &bucket[name], &format!("{kind} {name}"))
                    .unwrap_or_else(|error| panic!("{error}: {wanted} and {}", bucket[name]));
            }
        }
    }
}

#[test]
fn exact_counts_are_those_of_all_parts() {
    let body = json!({ "size": 0, "track_total_hits": true, "query": { "bool": {
        "filter": [{ "term": { "few": 2 } }, { "term": { "flag": true } }]
    } } });
    let wanted =
        INDEX.documents.iter().filter(|document| document["few"] == 2 && document["flag"] == true).count();
    for shard in [&INDEX.whole, &INDEX.cut] {
        assert_eq!(answer(&with_workers(), shard, &body).1, Some(wanted as u64));
    }
}

/// The best hit of each group by two keys. The first one excludes most documents, or is that of many.
#[test]
fn collapsed_hits_are_those_of_a_plain_loop() {
    for (field, first) in [("few", "price"), ("k", "few"), ("id", "price")] {
        let mut best: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        for document in &INDEX.documents {
            let first = (document[first].as_f64().expect("a number") * 100.0).round() as i64;
            let rank = (-first, document["long"].as_i64().expect("a number"));
            let own = best.entry(document[field].to_string()).or_insert(rank);
            *own = rank.min(*own);
        }
        let mut ranked: Vec<(i64, i64)> = best.into_values().collect();
        ranked.sort_unstable();
        ranked.truncate(20);
        let wanted: Vec<Value> = ranked.iter().map(|(_, long)| json!(long)).collect();
        let body = json!({ "size": 20, "_source": false, "collapse": { "field": field },
            "sort": [{ first: "desc" }, { "long": "asc" }] });
        for shard in [&INDEX.whole, &INDEX.cut] {
            let response = search_in(&with_workers(), std::slice::from_ref(shard), &body);
            let found: Vec<Value> = response.hits.iter().map(|hit| json!(hit.sort)[1].clone()).collect();
            assert_eq!(found, wanted, "{body}");
        }
    }
}

#[test]
fn sums_by_bucket_are_those_of_a_plain_loop() {
    let body = json!({ "size": 0, "aggs": { "b": {
        "date_histogram": { "field": "any", "fixed_interval": "1d", "min_doc_count": 1 },
        "aggs": { "price": { "sum": { "field": "price" } }, "long": { "sum": { "field": "long" } },
            "double": { "stats": { "field": "double" } } }
    } } });
    const DAY: i64 = 86_400_000;
    let mut days: BTreeMap<i64, (u64, f64, i64, f64, f64)> = Default::default();
    for document in &INDEX.documents {
        let number = |name: &str| document[name].as_f64().expect("a number");
        let day = document["any"].as_i64().expect("a date").div_euclid(DAY) * DAY;
        let own = days.entry(day).or_insert((0, 0.0, 0, 0.0, f64::INFINITY));
        own.0 += 1;
        own.1 += number("price");
        own.2 += document["long"].as_i64().expect("a number");
        own.3 += number("double");
        own.4 = own.4.min(number("double"));
    }
    let (found, _) = answer(&with_workers(), &INDEX.cut, &body);
    let buckets = found["b"]["buckets"].as_array().expect("buckets");
    assert_eq!(buckets.len(), days.len());
    for (bucket, (day, (count, price, long, double, least))) in buckets.iter().zip(days) {
        assert_eq!((bucket["key"].as_i64(), bucket["doc_count"].as_u64()), (Some(day), Some(count)));
        let close = |found: &Value, wanted: f64| {
            let found = found.as_f64().expect("a number");
            assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0), "{found} and {wanted}");
        };
        close(&bucket["price"]["value"], price);
        close(&bucket["long"]["value"], long as f64);
        close(&bucket["double"]["sum"], double);
        close(&bucket["double"]["min"], least);
    }
}

/// Buckets are made for every day and number of the index before it is known which have documents.
#[test]
fn buckets_without_documents_are_left_out() {
    let first = 1_420_000_000_000u64;
    let last = first + 20 * 86_400_000;
    let metrics = json!({ "sum": { "sum": { "field": "price" } }, "max": { "max": { "field": "long" } } });
    let requests = [
        json!({ "date_histogram": { "field": "at", "calendar_interval": "day", "min_doc_count": 1 } }),
        json!({ "terms": { "field": "few", "size": 10, "include": [1, 3] } }),
        json!({ "terms": { "field": "k", "size": 10, "order": { "_key": "asc" } } }),
        json!({ "histogram": { "field": "long", "interval": 1e9, "min_doc_count": 1 } }),
    ];
    let keys: [fn(&Value) -> Value; 4] = [
        |document| json!(document["at"].as_u64().unwrap() / 86_400_000 * 86_400_000),
        |document| document["few"].clone(),
        |document| document["k"].clone(),
        |document| json!((document["long"].as_f64().unwrap() / 1e9).floor() * 1e9),
    ];
    for (mut request, key) in requests.into_iter().zip(keys) {
        request["aggs"] = metrics.clone();
        let query = json!({ "range": { "at": { "gte": first, "lt": last } } });
        let body = json!({ "size": 0, "query": query, "aggs": { "a": request } });
        let (found, _) = answer(&with_workers(), &INDEX.whole, &body);
        let buckets = found["a"]["buckets"].as_array().unwrap();
        let own = |document: &&Value| document["at"].as_u64().unwrap() < last;
        let documents: Vec<&Value> = INDEX.documents.iter().filter(own).collect();
        let mut count = 0;
        for bucket in buckets {
            let is_in = |document: &&&Value| match (key(document).as_f64(), bucket["key"].as_f64()) {
                (Some(left), Some(right)) => left == right,
                _ => key(document) == bucket["key"],
            };
            let inside: Vec<&&Value> = documents.iter().filter(is_in).collect();
            assert!(!inside.is_empty());
            assert_eq!(bucket["doc_count"], inside.len());
            let sum: f64 = inside.iter().map(|document| document["price"].as_f64().unwrap()).sum();
            assert!((bucket["sum"]["value"].as_f64().unwrap() - sum).abs() < 0.01 * inside.len() as f64);
            let max = inside.iter().map(|document| document["long"].as_i64().unwrap()).max().unwrap();
            assert_eq!(bucket["max"]["value"].as_f64(), Some(max as f64));
            count += inside.len();
        }
        let all = match body["aggs"]["a"]["terms"]["field"] == "few" {
            true => documents.iter().filter(|document| document["few"] == 1 || document["few"] == 3).count(),
            false => documents.len(),
        };
        assert_eq!(count, all, "{body}");
    }
}

/// Counts documents by the start of their interval of `any` and by their interval of `price`.
fn counts_by(millis: i64, price_interval: f64) -> BTreeMap<i64, BTreeMap<i64, u64>> {
    let mut counts: BTreeMap<i64, BTreeMap<i64, u64>> = BTreeMap::new();
    for document in &INDEX.documents {
        let start = document["any"].as_i64().expect("a date").div_euclid(millis) * millis;
        let price = (document["price"].as_f64().expect("a number") / price_interval).floor() as i64;
        *counts.entry(start).or_default().entry(price).or_default() += 1;
    }
    counts
}

/// More intervals than have starts computed in advance, and more parents than stored numbers have slots for.
#[test]
fn many_intervals_are_those_of_a_plain_loop() {
    for (fixed_interval, millis, price_interval) in [("13m", 13 * 60_000, 100.0), ("12h", 43_200_000, 10.0)] {
        let body = json!({ "size": 0, "aggs": { "b": {
            "date_histogram": { "field": "any", "fixed_interval": fixed_interval, "min_doc_count": 1 },
            "aggs": { "price": {
                "histogram": { "field": "price", "interval": price_interval, "min_doc_count": 1 }
            } }
        } } });
        let expected = counts_by(millis, price_interval);
        for shard in [&INDEX.whole, &INDEX.cut] {
            let (found, _) = answer(&with_workers(), shard, &body);
            let key_of = |bucket: &Value| bucket["key"].as_f64().expect("a number");
            let count_of = |bucket: &Value| bucket["doc_count"].as_u64().expect("a number");
            let buckets = |list: &Value| list["buckets"].as_array().expect("buckets").clone();
            let found: BTreeMap<i64, BTreeMap<i64, u64>> = buckets(&found["b"])
                .iter()
                .map(|bucket| {
                    let prices = buckets(&bucket["price"]);
                    assert_eq!(count_of(bucket), prices.iter().map(count_of).sum::<u64>());
                    let number = |price: &Value| (key_of(price) / price_interval).round() as i64;
                    let counts = prices.iter().map(|price| (number(price), count_of(price)));
                    (key_of(bucket) as i64, counts.collect())
                })
                .collect();
            assert!(found == expected, "{fixed_interval}");
        }
    }
}

/// Terms of every kind that few documents have, whatever the division.
#[test]
fn rare_terms_are_those_of_a_plain_loop() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for document in &SMALL.documents {
        *counts.entry(document["id"].as_str().expect("a text")).or_default() += 1;
    }
    counts.retain(|_, count| *count <= 2);
    let script = "emit(doc['id'].value)";
    let body = json!({ "size": 0,
        "runtime_mappings": { "computed": { "type": "keyword", "script": { "source": script } } },
        "aggs": {
            "stored": { "rare_terms": { "field": "id", "max_doc_count": 2 } },
            "computed": { "rare_terms": { "field": "computed", "max_doc_count": 2 } },
            "with_sub": {
                "rare_terms": { "field": "id", "max_doc_count": 2 },
                "aggs": { "n": { "value_count": { "field": "id" } } }
            },
        }
    });
    for shard in [&SMALL.whole, &SMALL.cut] {
        let (found, _) = answer(&with_workers(), shard, &body);
        for name in ["stored", "computed", "with_sub"] {
            let buckets = found[name]["buckets"].as_array().expect("buckets");
            let found: BTreeMap<&str, u64> = buckets
                .iter()
                .map(|bucket| {
                    let count = bucket["doc_count"].as_u64().expect("a number");
                    assert!(name != "with_sub" || bucket["n"]["value"] == count);
                    (bucket["key"].as_str().expect("a text"), count)
                })
                .collect();
            assert_eq!(found, counts, "{name}");
        }
    }
}
