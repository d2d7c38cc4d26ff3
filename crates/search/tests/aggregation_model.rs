//! Compares random aggregations over random documents, deletes and segments with a naive model that visits
//! every document.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use limber_search::ShardSnapshot;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use support::{Shards, search};

fn mapping() -> Value {
    json!({ "properties": {
        "k": { "type": "keyword" }, "l": { "type": "long" }, "d": { "type": "double" }, "t": { "type": "date" }, "b": { "type": "boolean" },
    } })
}

/// All numbers are whole, so that the model's sums are exact.
#[derive(Debug, Clone)]
struct Document {
    k: Vec<&'static str>,
    l: Vec<i64>,
    d: Option<i64>,
    t: i64,
    b: Option<bool>,
    is_deleted: bool,
}

impl Document {
    fn to_json(&self) -> Value {
        let mut out = Map::new();
        match self.k.as_slice() {
            [] => {}
            [one] => drop(out.insert("k".into(), json!(one))),
            several => drop(out.insert("k".into(), json!(several))),
        }
        if !self.l.is_empty() {
            out.insert("l".into(), json!(self.l));
        }
        if let Some(d) = self.d {
            out.insert("d".into(), json!(d));
        }
        out.insert("t".into(), json!(self.t));
        if let Some(b) = self.b {
            out.insert("b".into(), json!(b));
        }
        Value::Object(out)
    }
}

const WORDS: [&str; 6] = ["ant", "bee", "cow", "dog", "elk", "fox"];
const DAY: i64 = 86_400_000;

fn document() -> impl Strategy<Value = Document> {
    (
        prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..3),
        prop::collection::vec(-20i64..20, 0..4),
        prop::option::of(-30i64..30),
        0i64..40,
        prop::option::of(any::<bool>()),
        prop::bool::weighted(0.15),
    )
        .prop_map(|(k, l, d, t, b, is_deleted)| Document { k, l, d, t: t * DAY / 2, b, is_deleted })
}

/// A bucket aggregation of the model.
#[derive(Debug, Clone)]
enum Shape {
    Terms,
    TermsOfNumbers,
    Histogram(i64),
    Days(i64),
    Ranges(Vec<(i64, i64)>),
    Filter(i64),
    Missing,
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Terms),
        Just(Shape::TermsOfNumbers),
        (1i64..12).prop_map(Shape::Histogram),
        (1i64..9).prop_map(Shape::Days),
        prop::collection::vec((-25i64..10, 1i64..30), 1..4).prop_map(|ranges| Shape::Ranges(
            ranges.into_iter().map(|(from, width)| (from, from + width)).collect()
        )),
        (-10i64..10).prop_map(Shape::Filter),
        Just(Shape::Missing),
    ]
}

impl Shape {
    fn to_json(&self, subs: Value) -> Value {
        let mut body = match self {
            Shape::Terms => json!({ "terms": { "field": "k", "size": 100 } }),
            Shape::TermsOfNumbers => {
                json!({ "terms": { "field": "l", "size": 100, "order": { "_key": "asc" } } })
            }
            Shape::Histogram(interval) => json!({ "histogram": { "field": "d", "interval": interval } }),
            Shape::Days(days) => {
                json!({ "date_histogram": { "field": "t", "fixed_interval": format!("{days}d"), "min_doc_count": 1 } })
            }
            Shape::Ranges(ranges) => {
                let ranges: Vec<Value> =
                    ranges.iter().map(|(from, to)| json!({ "from": from, "to": to })).collect();
                json!({ "range": { "field": "l", "ranges": ranges } })
            }
            Shape::Filter(least) => json!({ "filter": { "range": { "d": { "gte": least } } } }),
            Shape::Missing => json!({ "missing": { "field": "d" } }),
        };
        body["aggs"] = subs;
        body
    }

    /// Returns key (as shown) and documents of every bucket, in order; a single bucket has a null key.
    fn buckets<'d>(&self, documents: &[&'d Document]) -> Vec<(Value, Vec<&'d Document>)> {
        let pick = |is_in: &dyn Fn(&Document) -> bool| {
            documents.iter().copied().filter(|document| is_in(document)).collect::<Vec<_>>()
        };
        match self {
            Shape::Terms => {
                let mut buckets: Vec<(&str, Vec<&Document>)> =
                    WORDS.iter().map(|word| (*word, pick(&|document| document.k.contains(word)))).collect();
                buckets.retain(|(_, documents)| !documents.is_empty());
                buckets.sort_by_key(|(word, documents)| (std::cmp::Reverse(documents.len()), *word));
                buckets.into_iter().map(|(word, documents)| (json!(word), documents)).collect()
            }
            Shape::TermsOfNumbers => {
                let keys: BTreeSet<i64> =
                    documents.iter().flat_map(|document| document.l.iter().copied()).collect();
                keys.into_iter()
                    .map(|key| (json!(key), pick(&|document| document.l.contains(&key))))
                    .collect()
            }
            Shape::Histogram(interval) => {
                let keys: BTreeSet<i64> = documents
                    .iter()
                    .filter_map(|document| document.d)
                    .map(|d| d.div_euclid(*interval))
                    .collect();
                let Some((first, last)) = keys.first().zip(keys.last()) else { return Vec::new() };
                let bucket = |key: i64| {
                    (
                        json!((key * interval) as f64),
                        pick(&|document| document.d.is_some_and(|d| d.div_euclid(*interval) == key)),
                    )
                };
                (*first..=*last).map(bucket).collect()
            }
            Shape::Days(days) => {
                let mut buckets: BTreeMap<i64, Vec<&Document>> = BTreeMap::new();
                for document in documents {
                    buckets.entry(document.t.div_euclid(days * DAY) * days * DAY).or_default().push(document);
                }
                buckets.into_iter().map(|(key, documents)| (json!(key), documents)).collect()
            }
            Shape::Ranges(ranges) => {
                let mut ranges = ranges.clone();
                ranges.sort_unstable();
                let bucket = |(from, to): (i64, i64)| {
                    (
                        json!(format!("{from}.0-{to}.0")),
                        pick(&|document| document.l.iter().any(|l| (from..to).contains(l))),
                    )
                };
                ranges.into_iter().map(bucket).collect()
            }
            Shape::Filter(least) => {
                vec![(Value::Null, pick(&|document| document.d.is_some_and(|d| d >= *least)))]
            }
            Shape::Missing => vec![(Value::Null, pick(&|document| document.d.is_none()))],
        }
    }
}

fn metrics() -> Value {
    json!({
        "stats": { "stats": { "field": "l" } },
        "sum": { "sum": { "field": "d" } },
        "count": { "value_count": { "field": "k" } },
        "distinct": { "cardinality": { "field": "l" } },
        "words": { "cardinality": { "field": "k" } },
        "max": { "max": { "field": "d", "missing": 7 } },
        "truth": { "avg": { "field": "b" } },
    })
}

/// Checks the answers to [`metrics`] for these documents.
fn check_metrics(made: &Value, documents: &[&Document]) -> Result<(), TestCaseError> {
    let l: Vec<i64> = documents.iter().flat_map(|document| document.l.iter().copied()).collect();
    let double = |value: Option<i64>| value.map_or(Value::Null, |value| json!(value as f64));
    prop_assert_eq!(&made["stats"]["count"], &json!(l.len()));
    prop_assert_eq!(&made["stats"]["min"], &double(l.iter().min().copied()));
    prop_assert_eq!(&made["stats"]["max"], &double(l.iter().max().copied()));
    prop_assert_eq!(&made["stats"]["sum"], &json!(l.iter().sum::<i64>() as f64));
    prop_assert_eq!(
        &made["sum"]["value"],
        &json!(documents.iter().filter_map(|document| document.d).sum::<i64>() as f64)
    );
    let words: usize =
        documents.iter().map(|document| document.k.iter().collect::<BTreeSet<_>>().len()).sum();
    prop_assert_eq!(&made["count"]["value"], &json!(words));
    prop_assert_eq!(&made["distinct"]["value"], &json!(l.iter().collect::<BTreeSet<_>>().len()));
    let distinct: BTreeSet<_> = documents.iter().flat_map(|document| document.k.iter()).collect();
    prop_assert_eq!(&made["words"]["value"], &json!(distinct.len()));
    prop_assert_eq!(
        &made["max"]["value"],
        &double(documents.iter().map(|document| document.d.unwrap_or(7)).max())
    );
    let truths: Vec<bool> = documents.iter().filter_map(|document| document.b).collect();
    let yes = truths.iter().filter(|&&truth| truth).count();
    let avg = if truths.is_empty() { Value::Null } else { json!(yes as f64 / truths.len() as f64) };
    prop_assert_eq!(&made["truth"]["value"], &avg);
    Ok(())
}

fn check_level(made: &Value, shapes: &[Shape], documents: &[&Document]) -> Result<(), TestCaseError> {
    check_metrics(made, documents)?;
    let Some((shape, rest)) = shapes.split_first() else { return Ok(()) };
    let expected = shape.buckets(documents);
    if let [(Value::Null, documents)] = expected.as_slice() {
        prop_assert_eq!(&made["b"]["doc_count"], &json!(documents.len()));
        return check_level(&made["b"], rest, documents);
    }
    let made = made["b"]["buckets"].as_array().expect("buckets");
    let keys: Vec<&Value> = made.iter().map(|bucket| &bucket["key"]).collect();
    prop_assert_eq!(keys, expected.iter().map(|(key, _)| key).collect::<Vec<_>>());
    for (bucket, (_, documents)) in made.iter().zip(&expected) {
        prop_assert_eq!(&bucket["doc_count"], &json!(documents.len()));
        check_level(bucket, rest, documents)?;
    }
    Ok(())
}

fn request(shapes: &[Shape]) -> Value {
    let mut aggs = metrics();
    if let Some((shape, rest)) = shapes.split_first() {
        aggs["b"] = shape.to_json(request(rest));
    }
    aggs
}

fn shards(
    documents: &[Document],
    shard_count: usize,
    segment_documents: usize,
) -> (Vec<Shards>, Vec<ShardSnapshot>) {
    let (mut kept, mut snapshots) = (Vec::new(), Vec::new());
    for number in 0..shard_count {
        let own: Vec<&Document> = documents.iter().skip(number).step_by(shard_count).collect();
        let mut shard = Shards::new(&mapping());
        let mut segments = Vec::new();
        for (place, chunk) in own.chunks(segment_documents).enumerate() {
            let named: Vec<(String, Value)> = chunk
                .iter()
                .enumerate()
                .map(|(doc, document)| (format!("{number}-{place}-{doc}"), document.to_json()))
                .collect();
            let deleted: Vec<u32> =
                (0..).zip(chunk).filter(|(_, document)| document.is_deleted).map(|(doc, _)| doc).collect();
            segments.push(shard.segment(&named, &deleted));
        }
        snapshots.push(shard.shard(number as u32, segments));
        kept.push(shard);
    }
    (kept, snapshots)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn aggregations_agree_with_the_model(
        documents in prop::collection::vec(document(), 0..60),
        shapes in prop::collection::vec(shape(), 0..4),
        least in prop::option::of(-20i64..20),
        shard_count in 1usize..4,
        segment_documents in 3usize..40,
    ) {
        let (_kept, snapshots) = shards(&documents, shard_count, segment_documents);
        let mut body = json!({ "size": 0, "aggs": request(&shapes) });
        if let Some(least) = least {
            body["query"] = json!({ "range": { "l": { "gte": least } } });
        }
        let response = search(&snapshots, &body);
        let matching: Vec<&Document> = documents
            .iter()
            .filter(|document| !document.is_deleted)
            .filter(|document| least.is_none_or(|least| document.l.iter().any(|&l| l >= least)))
            .collect();
        check_level(&response.aggregations_to_json().expect("JSON"), &shapes, &matching)?;
    }
}

/// Tests windows of 4,096 documents, dense and sparse columns, and shortcuts that avoid reading them.
#[test]
fn many_documents() {
    let document = |number: i64| Document {
        k: if number % 3 == 0 { vec![] } else { vec![WORDS[(number % 5) as usize]] },
        l: vec![number % 17],
        d: (number % 4 != 0).then_some(number / 100),
        t: number * DAY / 1000,
        b: Some(number % 2 == 0),
        is_deleted: false,
    };
    let documents: Vec<Document> = (0..10_000).map(document).collect();
    let (_kept, snapshots) = shards(&documents, 1, 9_000);
    let all: Vec<&Document> = documents.iter().collect();
    for shapes in [
        vec![Shape::Terms, Shape::Days(1)],
        vec![Shape::Days(3), Shape::Terms],
        vec![Shape::Histogram(10), Shape::TermsOfNumbers],
        vec![Shape::Ranges(vec![(0, 5), (3, 9)]), Shape::Filter(20)],
        vec![Shape::Missing, Shape::TermsOfNumbers],
    ] {
        let response = search(&snapshots, &json!({ "size": 0, "aggs": request(&shapes) }));
        check_level(&response.aggregations_to_json().expect("JSON"), &shapes, &all).expect("agrees");
        // Buckets without sub-aggregations are counted from what the segment knows.
        let bare = json!({ "b": shapes[0].to_json(json!({})) });
        let response = search(&snapshots, &json!({ "size": 0, "aggs": bare }));
        let made = &response.aggregations_to_json().expect("JSON")["b"];
        let counts: Vec<Value> = match made["buckets"].as_array() {
            Some(buckets) => buckets.iter().map(|bucket| bucket["doc_count"].clone()).collect(),
            None => vec![made["doc_count"].clone()],
        };
        let expected: Vec<Value> =
            shapes[0].buckets(&all).iter().map(|(_, documents)| json!(documents.len())).collect();
        assert_eq!(counts, expected, "{shapes:?}");
    }
}
