//! Nested documents: answers recorded from Elasticsearch 9.4.3, and a naive model over segments with deletes.
//!
//! `data/nested-9.4.3.ndjson`: mapping and documents, then one request with its answer per line.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use limber_search::{Error, Rendering, SearchRequest, ShardSnapshot, UrlParameters};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Answers that intentionally differ, by a part of the request, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("\"nested\":{\"path\":\"n\",\"query\":{\"ids\"", "refused by name"),
    (
        "{\"path\":\"m\",\"query\":{\"nested\":{\"path\":\"n\"",
        "a path that is not inside of the other has no documents there",
    ),
    ("{\"path\":\"n\",\"query\":{\"nested\":{\"path\":\"n\",", "likewise; Elasticsearch fails"),
    ("{\"path\":\"n.d\",\"query\":{\"nested\":{\"path\":\"n\"", "likewise"),
    ("{\"nested\":{\"path\":\"n\"},\"aggs\":{\"m\":{\"nested\":{\"path\":\"m\"", "likewise"),
    ("significant_terms", "the background is counted in nested documents, not in those around"),
    ("{\"query\":{\"match_all\":{}},\"sort\":[{\"n.v\":{\"order\":\"asc\",\"nested_path\"", "the hint"),
];

fn answer(shards: &[ShardSnapshot], body: &Value) -> Result<Value, Error> {
    let request = SearchRequest::parse(body, &UrlParameters::default())?;
    let response = limber_search::execute(shards, &request, &support::context())?;
    response.to_json(&Rendering { node_id: "node", ..Rendering::default() })
}

/// Removes what differs in every answer: names of nodes, and positions that only Elasticsearch's parser
/// knows.
fn normal(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| !matches!(name.as_str(), "_node" | "_shard"));
            kept.map(|(name, value)| (name.clone(), normal(value))).collect()
        }
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Number(number) if number.is_f64() => {
            // The last digits of sums of doubles depend on the order of the summands.
            format!("{:.10e}", number.as_f64().unwrap()).into()
        }
        other => other.clone(),
    }
}

fn without_place(reason: &str) -> &str {
    match reason.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((place, rest)) if place.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') => rest,
        _ => reason,
    }
}

fn compare(case: &Value, answer: Result<Value, Error>) -> Option<String> {
    match answer {
        Ok(answer) if case["status"] == 200 => ["hits", "aggregations"].into_iter().find_map(|part| {
            let (expected, found) = (normal(&case[part]), normal(&answer[part]));
            (expected != found).then(|| format!("expected {}\n   found    {}", case[part], answer[part]))
        }),
        Ok(answer) => Some(format!("expected {}\n   answered {answer}", case["error"])),
        Err(error) if case["status"] == 200 => Some(format!("failed: {}", support::shown(&error))),
        Err(error) => {
            let found = support::shown(&error);
            let root = &found["error"]["root_cause"][0];
            let found = json!([
                found["status"],
                found["error"]["type"],
                root["type"],
                without_place(root["reason"].as_str().unwrap_or_default())
            ]);
            let root = &case["error"]["root"];
            let expected = json!([
                status(&case["status"]),
                case["error"]["type"],
                root[0],
                without_place(root[1].as_str().unwrap_or_default())
            ]);
            (expected != found).then(|| format!("expected {expected}\n   found    {found}"))
        }
    }
}

#[test]
fn answers_are_elasticsearchs() {
    let mut lines = include_str!("data/nested-9.4.3.ndjson").lines();
    let setup: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    let cases: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    for segment_documents in [100, 4, 1] {
        let documents = json!([setup["documents"]]);
        let (_kept, shards) = support::recorded_shards(&setup["mapping"], &documents, segment_documents);
        let mut wrong = Vec::new();
        for case in &cases {
            let body = &case["body"];
            let shown = body.to_string();
            // With several segments in a shard, explanations name other document ids.
            if DIFFERENT.iter().any(|(part, _)| shown.contains(part)) {
                continue;
            }
            if let Some(difference) = compare(case, answer(&shards, body)) {
                wrong.push(format!("{shown}\n   {difference}"));
            }
        }
        assert!(
            wrong.is_empty(),
            "{} of {} differ in segments of {segment_documents}:\n{}",
            wrong.len(),
            cases.len(),
            wrong.join("\n")
        );
    }
}

fn model_mapping() -> Value {
    json!({"properties": {
        "g": {"type": "keyword"},
        "n": {"type": "nested", "properties": {
            "u": {"type": "keyword"},
            "v": {"type": "long"},
            "d": {"type": "nested", "properties": {"x": {"type": "long"}}},
        }},
    }})
}

fn objects(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The model's counts for one term.
#[derive(Default)]
struct OfUser<'a> {
    objects: u64,
    sum: i64,
    documents: BTreeSet<&'a str>,
    deep: u64,
    deep_with_x: u64,
    objects_with_x: u64,
}

prop_compose! {
    fn outer()(
        u in 0..4u8,
        v in -3..10i64,
        has_v in any::<bool>(),
        deep in prop::collection::vec(0..5i64, 0..4),
    ) -> Value {
        let deep: Vec<Value> = deep.into_iter().map(|x| json!({"x": x})).collect();
        match has_v {
            true => json!({"u": format!("u{u}"), "v": v, "d": deep}),
            false => json!({"u": format!("u{u}"), "d": deep}),
        }
    }
}

fn document() -> impl Strategy<Value = Value> {
    let count = prop_oneof![3 => 0..4usize, 1 => 0..60usize];
    (0..3u8, count.prop_flat_map(|count| prop::collection::vec(outer(), count)))
        .prop_map(|(g, n)| json!({"g": format!("g{g}"), "n": n}))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn queries_and_aggregations_are_those_of_the_model(
        documents in prop::collection::vec(document(), 1..60),
        cut in 1..40usize,
        delete_every in 2..9usize,
        u in 0..4u8,
        least in -3..10i64,
        x in 0..5i64,
    ) {
        let mut shards = support::Shards::new(&model_mapping());
        let mut views = Vec::new();
        let mut live: Vec<(String, &Value)> = Vec::new();
        for (number, chunk) in documents.chunks(cut).enumerate() {
            let named: Vec<(String, Value)> = chunk.iter().enumerate()
                .map(|(at, document)| ((number * cut + at).to_string(), document.clone()))
                .collect();
            let deleted: Vec<u32> = (0..chunk.len()).filter(|at| at % delete_every == 1).map(|at| at as u32).collect();
            live.extend(chunk.iter().enumerate()
                .filter(|(at, _)| !deleted.contains(&(*at as u32)))
                .map(|(at, document)| ((number * cut + at).to_string(), document)));
            views.push(shards.segment(&named, &deleted));
        }
        let shard = [shards.shard(0, views)];
        let user = format!("u{u}");
        let is_user = |one: &Value| one["u"] == user.as_str();
        let is_high = |one: &Value| one["v"].as_i64().is_some_and(|v| v >= least);
        let has_x = |one: &Value| objects(&one["d"]).iter().any(|deep| deep["x"] == x);

        // Both clauses on the same object, both on any objects, neither, and an object within an object.
        let term = json!({"term": {"n.u": user}});
        let range = json!({"range": {"n.v": {"gte": least}}});
        let deep = json!({"nested": {"path": "n.d", "query": {"term": {"n.d.x": x}}}});
        let nested = |query: &Value| json!({"nested": {"path": "n", "query": query, "score_mode": "sum"}});
        let same = json!({"bool": {"must": [term, range, deep]}});
        type Holds<'a> = Box<dyn Fn(&Value) -> bool + 'a>;
        let some = |list: &Value, holds: &dyn Fn(&Value) -> bool| objects(list).iter().any(holds);
        let queries: [(Value, Holds<'_>); 5] = [
            (nested(&same), Box::new(|one| some(&one["n"], &|o| is_user(o) && is_high(o) && has_x(o)))),
            (
                json!({"bool": {"must": [nested(&term), nested(&range)]}}),
                Box::new(|one| some(&one["n"], &is_user) && some(&one["n"], &is_high)),
            ),
            (json!({"bool": {"must_not": [nested(&term)]}}), Box::new(|one| !some(&one["n"], &is_user))),
            (deep.clone(), Box::new(|one| some(&one["n"], &has_x))),
            (
                json!({"bool": {"filter": [{"term": {"g": "g1"}}, nested(&range)]}}),
                Box::new(|one| one["g"] == "g1" && some(&one["n"], &is_high)),
            ),
        ];
        for (query, holds) in &queries {
            let found = support::search(&shard, &json!({"query": query, "size": 100, "sort": ["_doc"]}));
            let expected: Vec<String> = live.iter().filter(|(_, one)| holds(one)).map(|(id, _)| id.clone()).collect();
            prop_assert_eq!(support::ids(&found), expected, "{}", query);
        }

        // Inner hits are the matching objects, in order; the score is the sum of theirs.
        let query = json!({"nested": {"path": "n", "score_mode": "sum", "query": {"constant_score": {"filter": range}}, "inner_hits": {"size": 100}}});
        let found = support::search(&shard, &json!({"query": query, "size": 100}));
        for hit in &found.hits {
            let (_, source) = live.iter().find(|(id, _)| Some(id) == hit.id.as_ref()).expect("a live document");
            let inside: Vec<(usize, &Value)> =
                objects(&source["n"]).iter().enumerate().filter(|(_, one)| is_high(one)).collect();
            prop_assert_eq!(hit.score, Some(inside.len() as f32));
            let shown: Vec<(Value, Value)> = hit.inner_hits[0].hits.iter()
                .map(|inner| (inner.nested.as_deref().cloned().unwrap(), serde_json::from_slice(inner.source.as_ref().unwrap()).unwrap()))
                .collect();
            let expected: Vec<(Value, Value)> = inside.iter()
                .map(|(at, one)| (json!({"field": "n", "offset": at}), (*one).clone()))
                .collect();
            prop_assert_eq!(shown, expected);
        }

        // Into nested objects, by term, into their nested objects, and back out.
        let body = json!({"size": 0, "aggs": {"n": {"nested": {"path": "n"}, "aggs": {"u": {"terms": {"field": "n.u", "order": {"_key": "asc"}}, "aggs": {
            "v": {"sum": {"field": "n.v"}},
            "up": {"reverse_nested": {}, "aggs": {"g": {"terms": {"field": "g", "order": {"_key": "asc"}}}}},
            "d": {"nested": {"path": "n.d"}, "aggs": {"x": {"filter": {"term": {"n.d.x": x}}, "aggs": {"n": {"reverse_nested": {"path": "n"}}}}}},
        }}}}}});
        let answer = support::search(&shard, &body).aggregations_to_json().expect("JSON");
        let mut by_user: BTreeMap<&str, OfUser<'_>> = BTreeMap::new();
        let mut groups: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
        for (id, source) in &live {
            for one in objects(&source["n"]) {
                let name = one["u"].as_str().unwrap();
                let entry = by_user.entry(name).or_default();
                entry.objects += 1;
                entry.sum += one["v"].as_i64().unwrap_or(0);
                entry.documents.insert(id);
                entry.deep += objects(&one["d"]).len() as u64;
                entry.deep_with_x += objects(&one["d"]).iter().filter(|deep| deep["x"] == x).count() as u64;
                entry.objects_with_x += u64::from(has_x(one));
                groups.entry((name, source["g"].as_str().unwrap())).or_default().insert(id);
            }
        }
        let total: u64 = by_user.values().map(|entry| entry.objects).sum();
        prop_assert_eq!(&answer["n"]["doc_count"], &json!(total));
        let buckets = objects(&answer["n"]["u"]["buckets"]);
        prop_assert_eq!(buckets.len(), by_user.len());
        for (bucket, (name, of_user)) in buckets.iter().zip(&by_user) {
            prop_assert_eq!(
                json!([bucket["key"], bucket["doc_count"], bucket["v"]["value"], bucket["up"]["doc_count"]]),
                json!([name, of_user.objects, of_user.sum as f64, of_user.documents.len()])
            );
            let down = &bucket["d"];
            prop_assert_eq!(
                json!([down["doc_count"], down["x"]["doc_count"], down["x"]["n"]["doc_count"]]),
                json!([of_user.deep, of_user.deep_with_x, of_user.objects_with_x])
            );
            let shown: Vec<(&str, u64)> = objects(&bucket["up"]["g"]["buckets"]).iter()
                .map(|group| (group["key"].as_str().unwrap(), group["doc_count"].as_u64().unwrap()))
                .collect();
            let expected: Vec<(&str, u64)> = groups.iter()
                .filter(|((of, _), _)| of == name)
                .map(|((_, group), ids)| (*group, ids.len() as u64))
                .collect();
            prop_assert_eq!(shown, expected);
        }

        // Sorted by the greatest value of the user's objects; documents without one come last.
        let sort = json!([{"n.v": {"order": "desc", "nested": {"path": "n", "filter": term}}}, "_doc"]);
        let found = support::search(&shard, &json!({"size": 100, "sort": sort}));
        let mut expected: Vec<(i64, usize)> = live.iter().enumerate()
            .map(|(at, (_, one))| {
                let values = objects(&one["n"]).iter().filter(|o| is_user(o)).filter_map(|o| o["v"].as_i64());
                (-values.max().unwrap_or(i64::MIN + 1), at)
            })
            .collect();
        expected.sort_unstable();
        let expected: Vec<String> = expected.iter().map(|(_, at)| live[*at].0.clone()).collect();
        prop_assert_eq!(support::ids(&found), expected);
    }
}

/// Returns the expected status: an invalid request gets 400 where Elasticsearch says 500.
fn status(expected: &Value) -> Value {
    if expected == 500 { 400.into() } else { expected.clone() }
}
