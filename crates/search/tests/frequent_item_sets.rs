//! Compares `frequent_item_sets` with a naive model that intersects all documents, and with Elasticsearch's
//! documentation and REST tests (`ml/frequent_item_sets_agg.yml`); no server at hand has the aggregation.

mod support;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use limber_search::{Error, SearchContext, SearchRequest, ShardSnapshot, UrlParameters};
use limber_store::Ledger;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use support::{NOW_MILLIS, context, recorded_shards};

/// The index of a field, and a value.
type Item = (usize, String);

const FIELDS: [&str; 3] = ["a", "b", "n"];

#[derive(Debug, Clone)]
struct Asked {
    minimum_support: f64,
    minimum_set_size: usize,
    size: usize,
    filter: Option<&'static str>,
    excluded: Option<&'static str>,
}

fn words(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(vec!["ant", "bee", "cow", "dog", "elk", "fox"]), 0..most)
}

fn document() -> impl Strategy<Value = (Vec<&'static str>, Vec<&'static str>, Option<i64>)> {
    (words(6), words(3), prop::option::of(1i64..4))
}

fn asked() -> impl Strategy<Value = Asked> {
    let support = prop::sample::select(vec![0.01, 0.1, 0.25, 0.3, 0.5, 1.0]);
    let word = || prop::option::weighted(0.3, prop::sample::select(vec!["ant", "bee"]));
    (support, 1usize..4, prop::sample::select(vec![1usize, 3, 10, 1000]), word(), word()).prop_map(
        |(minimum_support, minimum_set_size, size, filter, excluded)| Asked {
            minimum_support,
            minimum_set_size,
            size,
            filter,
            excluded,
        },
    )
}

fn items(document: &Value, asked: &Asked) -> BTreeSet<Item> {
    let values = |field: &str| match &document[field] {
        Value::Array(values) => values.clone(),
        Value::Null => Vec::new(),
        one => vec![one.clone()],
    };
    if asked.filter.is_some_and(|word| !values("a").contains(&json!(word))) {
        return BTreeSet::new();
    }
    let all = FIELDS.iter().enumerate();
    all.flat_map(|(place, field)| values(field).into_iter().map(move |value| (place, value)))
        .filter(|(place, value)| *place != 1 || asked.excluded.is_none_or(|word| *value != json!(word)))
        .map(|(place, value)| (place, value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        .collect()
}

/// Returns every intersection of documents with its count, in the order of the answer.
fn model(documents: &[Value], asked: &Asked) -> Vec<(BTreeSet<Item>, usize)> {
    let total = documents.len() as f64;
    let mut transactions: Vec<BTreeSet<Item>> =
        documents.iter().map(|document| items(document, asked)).collect();
    let mut counts: BTreeMap<Item, usize> = BTreeMap::new();
    transactions.iter().flatten().for_each(|item| *counts.entry(item.clone()).or_default() += 1);
    let too_rare = (asked.minimum_support * total) as usize;
    transactions.iter_mut().for_each(|own| own.retain(|item| counts[item] > too_rare));
    let mut ranked: Vec<&Item> = counts.keys().collect();
    ranked.sort_by_key(|item| Reverse(counts[*item]));
    let mut closed: BTreeSet<BTreeSet<Item>> = BTreeSet::new();
    for own in &transactions {
        let met: Vec<BTreeSet<Item>> = closed.iter().map(|set| set & own).collect();
        closed.extend(met);
        closed.insert(own.clone());
    }
    let needed = (total * asked.minimum_support).ceil() as usize;
    let count = |set: &BTreeSet<Item>| transactions.iter().filter(|own| set.is_subset(own)).count();
    let mut found: Vec<(BTreeSet<Item>, usize)> = closed
        .into_iter()
        .filter(|set| !set.is_empty() && set.len() >= asked.minimum_set_size)
        .map(|set| (set.clone(), count(&set)))
        .filter(|(_, count)| *count >= needed)
        .collect();
    let bits = |set: &BTreeSet<Item>| -> u64 {
        ranked.iter().enumerate().filter(|(_, item)| set.contains(item)).map(|(rank, _)| 2 << rank).sum()
    };
    found.sort_by_key(|(set, count)| (Reverse(*count), Reverse(set.len()), bits(set)));
    found.truncate(asked.size);
    found
}

fn mapping() -> Value {
    json!({"properties": {"a": {"type": "keyword"}, "b": {"type": "keyword"}, "n": {"type": "long"}}})
}

fn body(asked: &Asked) -> Value {
    let mut second = json!({"field": "b"});
    if let Some(word) = asked.excluded {
        second["exclude"] = json!([word]);
    }
    let mut own = json!({
        "fields": [{"field": "a"}, second, {"field": "n"}], "minimum_support": asked.minimum_support,
        "minimum_set_size": asked.minimum_set_size, "size": asked.size,
    });
    if let Some(word) = asked.filter {
        own["filter"] = json!({"term": {"a": word}});
    }
    own
}

fn answer_in(
    context: &SearchContext,
    shards: &[ShardSnapshot],
    aggregations: Value,
) -> Result<Value, (String, String)> {
    let shown = |error: limber_mapping::RequestError| {
        let mut texts = vec![error.reason];
        let mut cause = error.caused_by;
        while let Some(inner) = cause {
            texts.push(inner.reason);
            cause = inner.caused_by;
        }
        (error.kind.to_owned(), texts.join(": "))
    };
    let body = json!({"size": 0, "aggs": aggregations});
    let mut request = SearchRequest::parse(&body, &UrlParameters::default()).map_err(shown)?;
    request.typed_keys = true;
    match limber_search::execute(shards, &request, context) {
        Ok(response) => Ok(response.aggregations_to_json().expect("JSON")),
        Err(Error::AllShardsFailed { failures, .. }) => Err(shown(failures[0].reason.clone())),
        Err(error) => Err(shown(error.to_request_error())),
    }
}

fn answer(shards: &[ShardSnapshot], own: Value) -> Result<Value, (String, String)> {
    let made = answer_in(&context(), shards, json!({"f": {"frequent_item_sets": own}}))?;
    Ok(made["frequent_item_sets#f"]["buckets"].clone())
}

/// Returns the sets of an answer in the model's form.
fn shown(buckets: &Value) -> Vec<(BTreeSet<Item>, usize)> {
    let set = |bucket: &Value| {
        let keys = bucket["key"].as_object().expect("an object");
        let values = |(field, values): (&String, &Value)| {
            let place = FIELDS.iter().position(|own| own == field).expect("a field");
            let texts = values.as_array().expect("values").iter();
            texts
                .map(|value| (place, value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
                .collect::<Vec<Item>>()
        };
        (keys.iter().flat_map(values).collect(), bucket["doc_count"].as_u64().expect("a count") as usize)
    };
    buckets.as_array().expect("buckets").iter().map(set).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn as_the_model(documents in prop::collection::vec(document(), 1..25), shards in 1usize..4, asked in asked()) {
        let documents: Vec<Value> = documents.into_iter().map(|(a, b, n)| {
            let mut document = json!({"a": a, "b": b});
            if let Some(n) = n { document["n"] = json!(n); }
            document
        }).collect();
        let parts: Vec<&[Value]> = documents.chunks(documents.len().div_ceil(shards)).collect();
        let (_kept, snapshots) = recorded_shards(&mapping(), &json!(parts), 4);
        let buckets = answer(&snapshots, body(&asked)).expect("answers");
        prop_assert_eq!(shown(&buckets), model(&documents, &asked));
        for bucket in buckets.as_array().expect("buckets") {
            let share = bucket["doc_count"].as_u64().expect("a count") as f64 / documents.len() as f64;
            prop_assert_eq!(&bucket["support"], &json!(share));
        }
    }
}

/// Returns ten documents in two shards: nine orders that differ only in `parts` and `paid`, and one without
/// any.
fn orders() -> (Vec<support::Shards>, Vec<ShardSnapshot>) {
    let mapping = json!({"properties": {
        "parts": {"type": "keyword"}, "day": {"type": "date", "format": "yyyy-MM-dd"}, "paid": {"type": "boolean"},
        "from": {"type": "ip"}, "price": {"type": "double"}, "place": {"type": "geo_point"}, "note": {"type": "text"},
    }});
    let order = |parts: &[&str], paid: bool| json!({"parts": parts, "day": "2024-05-01", "paid": paid, "from": "10.0.0.1", "price": 1.75, "place": "0,0"});
    let first = [
        order(&["bolt", "nut"], true),
        order(&["bolt", "nut", "saw"], true),
        order(&["nut"], false),
        order(&["bolt", "nut"], true),
        order(&["glue"], true),
    ];
    let second = [
        order(&["bolt", "saw"], false),
        order(&["glue", "tape"], true),
        order(&["bolt", "nut"], true),
        order(&["saw"], false),
        json!({"note": "nothing"}),
    ];
    recorded_shards(&mapping, &json!([first, second]), 2)
}

#[test]
fn sets_of_one_field() {
    let (_kept, shards) = orders();
    let asked = json!({"fields": [{"field": "parts"}], "minimum_set_size": 2, "minimum_support": 0.1});
    assert_eq!(
        answer(&shards, asked).expect("answers"),
        json!([
            {"key": {"parts": ["bolt", "nut"]}, "doc_count": 4, "support": 0.4},
            {"key": {"parts": ["bolt", "saw"]}, "doc_count": 2, "support": 0.2},
            {"key": {"parts": ["bolt", "nut", "saw"]}, "doc_count": 1, "support": 0.1},
        ])
    );
}

/// Elasticsearch drops an item whose share is exactly the minimum, but a set of more frequent items may
/// have it.
#[test]
fn an_item_needs_more_than_the_minimum() {
    let (_kept, shards) = orders();
    let asked = |support: f64| json!({"fields": [{"field": "parts"}], "minimum_support": support});
    let keys = |support| {
        let made = answer(&shards, asked(support)).expect("answers");
        let buckets = made.as_array().expect("buckets").iter();
        buckets.map(|bucket| bucket["key"]["parts"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(keys(0.5), Vec::<Value>::new());
    assert_eq!(keys(0.4), [json!(["bolt"]), json!(["nut"]), json!(["bolt", "nut"])]);
}

#[test]
fn values_are_shown_as_their_field_shows_them() {
    let (_kept, shards) = orders();
    let fields = ["day", "paid", "from", "price", "nowhere"];
    let fields: Vec<Value> = fields.iter().map(|field| json!({"field": field})).collect();
    let made = answer(&shards, json!({"fields": fields, "minimum_support": 0.55, "minimum_set_size": 2}));
    assert_eq!(
        made.expect("answers"),
        json!([
            {"key": {"day": ["2024-05-01"], "from": ["10.0.0.1"], "price": [1]}, "doc_count": 9, "support": 0.9},
            {"key": {"day": ["2024-05-01"], "paid": [true], "from": ["10.0.0.1"], "price": [1]}, "doc_count": 6, "support": 0.6},
        ]),
    );
}

#[test]
fn include_exclude_filter_and_missing() {
    let (_kept, shards) = orders();
    let first = |own: Value| answer(&shards, own).expect("answers")[0].clone();
    let pattern = json!({"fields": [{"field": "parts", "include": "b.*|s.*", "exclude": ["bolt"]}], "minimum_support": 0.1});
    assert_eq!(first(pattern), json!({"key": {"parts": ["saw"]}, "doc_count": 3, "support": 0.3}));
    let filtered = json!({"fields": [{"field": "parts"}], "filter": {"term": {"paid": false}}});
    assert_eq!(first(filtered), json!({"key": {"parts": ["saw"]}, "doc_count": 2, "support": 0.2}));
    let missing = json!({"fields": [{"field": "parts", "missing": "nut"}]});
    assert_eq!(first(missing), json!({"key": {"parts": ["nut"]}, "doc_count": 6, "support": 0.6}));
}

#[test]
fn below_buckets_and_in_samples() {
    let (_kept, shards) = orders();
    let own = json!({"frequent_item_sets": {"fields": [{"field": "parts"}], "minimum_support": 0.3}});
    let by = json!({"paid": {"terms": {"field": "paid"}, "aggs": {"f": own}}});
    let made = answer_in(&context(), &shards, by).expect("answers");
    let buckets = &made["lterms#paid"]["buckets"];
    let of = |place: usize| buckets[place]["frequent_item_sets#f"]["buckets"][0].clone();
    assert_eq!(of(0), json!({"key": {"parts": ["bolt", "nut"]}, "doc_count": 4, "support": 4.0 / 6.0}));
    assert_eq!(of(1), json!({"key": {"parts": ["saw"]}, "doc_count": 2, "support": 2.0 / 3.0}));
    let sampled = json!({"s": {"random_sampler": {"probability": 0.5, "seed": 3}, "aggs": {"f": own}}});
    let made = answer_in(&context(), &shards, sampled).expect("answers");
    let buckets = made["random_sampler#s"]["frequent_item_sets#f"]["buckets"].as_array().expect("buckets");
    assert!(buckets.iter().all(|bucket| bucket["doc_count"].as_u64().is_some_and(|count| count % 2 == 0)));
}

#[test]
fn no_documents_no_sets() {
    let (_kept, shards) = recorded_shards(&mapping(), &json!([[]]), 1);
    assert_eq!(answer(&shards, json!({"fields": [{"field": "a"}]})).expect("answers"), json!([]));
}

#[test]
fn what_does_not_fit_is_refused() {
    let (_kept, shards) = orders();
    let refused = |change: Value| {
        let mut own: Map<String, Value> =
            json!({"fields": [{"field": "parts"}]}).as_object().expect("an object").clone();
        own.extend(change.as_object().expect("an object").clone());
        answer(&shards, Value::Object(own)).expect_err("refused")
    };
    let built = "Failed to build [frequent_item_sets] after last required field arrived: ";
    let cases = [
        (
            json!({"minimum_support": 0}),
            format!(
                "{built}[minimum_support] must be greater than 0 and less or equal to 1. Found [0.0] in [f]"
            ),
        ),
        (
            json!({"minimum_support": 1.5}),
            format!(
                "{built}[minimum_support] must be greater than 0 and less or equal to 1. Found [1.5] in [f]"
            ),
        ),
        (
            json!({"minimum_set_size": 0}),
            format!("{built}[minimum_set_size] must be greater than 0. Found [0] in [f]"),
        ),
        (json!({"size": -1}), format!("{built}[size] must be greater than 0. Found [-1] in [f]")),
        (
            json!({"execution_hint": "fast"}),
            format!("{built}[execution_hint] must be one of [global_ordinals,map]. Found [fast]"),
        ),
        (
            json!({"fields": null}),
            "[frequent_item_sets] fields doesn't support values of type: VALUE_NULL".to_owned(),
        ),
        (
            json!({"fields": [{"script": "1"}]}),
            "[frequent_item_sets] failed to parse field [fields]: [field_config] unknown field [script]"
                .to_owned(),
        ),
        (json!({"speed": 1}), "[frequent_item_sets] unknown field [speed]".to_owned()),
        (
            json!({"fields": [{"field": "place"}]}),
            "Field [place] of type [geo_point] is not supported for aggregation [frequent_item_sets]"
                .to_owned(),
        ),
    ];
    for (change, reason) in cases {
        assert_eq!(refused(change.clone()).1, reason, "{change}");
    }
    assert_eq!(answer(&shards, json!({})).expect_err("refused").1, "Required [fields]");
    let text = refused(json!({"fields": [{"field": "note"}]})).1;
    assert!(text.starts_with("Fielddata is disabled on [note]"), "{text}");
    let below = json!({"f": {"frequent_item_sets": {"fields": [{"field": "parts"}]}, "aggs": {"m": {"max": {"field": "price"}}}}});
    assert_eq!(
        answer_in(&context(), &shards, below).expect_err("refused").1,
        "Aggregator [f] of type [frequent_item_sets] cannot accept sub-aggregations"
    );
}

/// 200 documents that each lack one of 200 values have more closed sets than fit into memory: the memory
/// limit ends the request.
#[test]
fn memory_is_charged() {
    let documents: Vec<Value> = (0..200)
        .map(|lacking| json!({"n": (0..200).filter(|number| *number != lacking).collect::<Vec<i32>>()}))
        .collect();
    let (_kept, shards) = recorded_shards(&mapping(), &json!([documents]), 100);
    let context = SearchContext::new(Ledger::new(16 << 20), NOW_MILLIS);
    let own = json!({"f": {"frequent_item_sets": {"fields": [{"field": "n"}], "minimum_support": 0.5, "size": 1_000_000}}});
    let (kind, _) = answer_in(&context, &shards, own).expect_err("refused");
    assert_eq!(kind, "circuit_breaking_exception");
}
