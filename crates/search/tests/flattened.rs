//! Compares keys of flattened fields with keyword fields that have the same values: every answer must be
//! the same, however the documents are divided into segments.

mod support;

use limber_search::{Error, SearchRequest, ShardSnapshot, UrlParameters};
use serde_json::{Value, json};
use support::{context, recorded_shards};

/// Returns a mapping and documents. `plain` and `bare` are keywords with the values of `f.a` and `g.b.c`;
/// other keys sort before, between and after these in the terms.
fn documents(count: usize) -> (Value, Value) {
    let mapping = json!({"properties": {
        "id": {"type": "integer"}, "f": {"type": "flattened"}, "plain": {"type": "keyword"},
        "g": {"type": "flattened", "doc_values": false}, "bare": {"type": "keyword", "doc_values": false},
        "n": {"type": "nested", "properties": {"f": {"type": "flattened"}, "plain": {"type": "keyword"}}}
    }});
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let documents = (0..count).map(|id| {
        let values: Vec<String> = (0..next(4)).map(|_| format!("v{:02}", next(40))).collect();
        let deep = format!("w{}", next(9));
        let mut document = json!({
            "id": id, "plain": values, "bare": deep,
            "f": {"a": values, "": next(5), "a.": "v01", "aa": format!("v{:02}", next(40)), "Z": "v03"},
            "g": {"b": {"c": deep, "d": "w1"}, "a": "w2"},
            "n": [{"f": {"a": values}, "plain": values}, {"f": {"b": "x"}}],
        });
        if next(10) == 0 {
            document["f"]["rare"] = json!(id.to_string());
        }
        document
    });
    (mapping, json!([documents.collect::<Vec<Value>>()]))
}

fn answer(shards: &[ShardSnapshot], body: &Value) -> Result<Value, String> {
    let request = SearchRequest::parse(body, &UrlParameters::default()).map_err(|error| error.reason)?;
    match limber_search::execute(shards, &request, &context()) {
        Ok(response) => {
            let hit = |hit: &limber_search::SearchHit| json!([hit.id, hit.score, hit.sort, hit.fields]);
            let hits: Vec<Value> = response.hits.iter().map(hit).collect();
            Ok(json!({"hits": hits, "aggregations": response.aggregations_to_json().expect("JSON")}))
        }
        Err(Error::AllShardsFailed { failures, .. }) => Err(failures[0].reason.reason.clone()),
        Err(error) => Err(error.to_request_error().reason),
    }
}

/// Returns the same body with one name replaced by another, in values and keys.
fn renamed(body: &Value, from: &str, to: &str) -> Value {
    serde_json::from_str(&body.to_string().replace(from, to)).expect("JSON")
}

fn check(key: &str, keyword: &str, bodies: &[Value]) {
    let (mapping, documents) = documents(300);
    for segment_documents in [300, 70, 9] {
        let (_kept, shards) = recorded_shards(&mapping, &documents, segment_documents);
        for body in bodies {
            let [of_key, expected] =
                [key, keyword].map(|name| answer(&shards, &renamed(body, "FIELD", name)));
            let of_key =
                of_key.map(|found| renamed(&found, &format!("\"{key}\""), &format!("\"{keyword}\"")));
            assert_eq!(of_key, expected, "{body}");
        }
    }
}

fn queries() -> Vec<Value> {
    let queries = json!([
        {"term": {"FIELD": "v07"}}, {"term": {"FIELD": "w3"}}, {"term": {"FIELD": ""}}, {"terms": {"FIELD": ["v01", "v02", "v39", "w1", "zz"]}},
        {"prefix": {"FIELD": "v1"}}, {"prefix": {"FIELD": ""}}, {"prefix": {"FIELD": {"value": "W", "case_insensitive": true}}},
        {"range": {"FIELD": {"gte": "v10", "lt": "v20"}}}, {"range": {"FIELD": {"gt": "a", "lte": "w3"}}}, {"range": {"FIELD": {"gte": "", "lte": "a"}}},
        {"match": {"FIELD": "v11"}}, {"match_phrase": {"FIELD": "v11"}}, {"exists": {"field": "FIELD"}},
        {"term": {"FIELD": {"value": "V12", "case_insensitive": true}}}, {"query_string": {"query": "FIELD:v07 OR FIELD:w*"}},
        {"bool": {"must_not": [{"exists": {"field": "FIELD"}}]}}, {"multi_match": {"query": "v07", "fields": ["FIELD"]}},
        {"constant_score": {"filter": {"terms": {"FIELD": ["w1", "v30"]}}}},
    ]);
    let bodies = queries.as_array().expect("queries").iter();
    bodies.map(|query| json!({"query": query, "size": 400, "sort": ["id"]})).collect()
}

#[test]
fn queries_on_keys_find_what_keywords_find() {
    check("f.a", "plain", &queries());
    check("g.b.c", "bare", &queries());
}

#[test]
fn keys_are_sorted_and_shown_as_keywords_are() {
    let bodies = [
        json!({"sort": [{"FIELD": "asc"}, "id"], "size": 400}),
        json!({"sort": [{"FIELD": {"order": "desc", "mode": "max", "missing": "_first"}}, "id"], "size": 25}),
        json!({"sort": [{"FIELD": {"order": "asc", "missing": "v20"}}, "id"], "size": 400}),
        json!({"sort": [{"FIELD": "asc"}, "id"], "size": 10, "search_after": ["v10", 3]}),
        json!({"sort": ["id"], "size": 30, "docvalue_fields": ["FIELD"], "fields": ["FIELD"]}),
        json!({"sort": ["id"], "size": 30, "script_fields": {"s": {"script": "doc['FIELD'].size() == 0 ? '-' : doc['FIELD'].value"}}}),
    ];
    check("f.a", "plain", &bodies);
}

#[test]
fn keys_have_the_buckets_of_keywords() {
    let aggregations = json!([
        {"terms": {"field": "FIELD", "size": 5}}, {"terms": {"field": "FIELD", "order": {"_key": "desc"}, "include": "v[12].*"}},
        {"terms": {"field": "FIELD", "missing": "none", "min_doc_count": 0, "size": 100}}, {"cardinality": {"field": "FIELD"}},
        {"value_count": {"field": "FIELD"}}, {"missing": {"field": "FIELD"}}, {"rare_terms": {"field": "FIELD", "max_doc_count": 3}},
        {"significant_terms": {"field": "FIELD", "min_doc_count": 1}}, {"string_stats": {"field": "FIELD"}},
        {"composite": {"size": 20, "sources": [{"x": {"terms": {"field": "FIELD", "order": "desc"}}}]}},
        {"multi_terms": {"terms": [{"field": "FIELD"}, {"field": "bare.x", "missing": "-"}]}}, {"avg": {"field": "FIELD"}},
    ]);
    let wanted = aggregations.as_array().expect("aggregations").iter().filter(|one| one.get("avg").is_none());
    let bodies: Vec<Value> = wanted
        .flat_map(|one| {
            [json!({"match_all": {}}), json!({"range": {"id": {"lt": 120}}})]
                .map(|query| json!({"size": 0, "query": query, "aggs": {"x": one}}))
        })
        .collect();
    check("f.a", "plain", &bodies);
}

#[test]
fn keys_within_nested_documents() {
    let bodies = [
        json!({"size": 400, "sort": ["id"], "query": {"nested": {"path": "n", "query": {"term": {"n.FIELD": "v07"}}}}}),
        json!({"size": 0, "aggs": {"n": {"nested": {"path": "n"}, "aggs": {"x": {"terms": {"field": "n.FIELD"}}}}}}),
    ];
    check("f.a", "plain", &bodies);
}

#[test]
fn the_field_itself_has_the_values_of_all_keys() {
    let (mapping, documents) = documents(40);
    let (_kept, shards) = recorded_shards(&mapping, &documents, 11);
    let count = |query: Value| {
        answer(&shards, &json!({"query": query, "size": 100})).expect("answers")["hits"]
            .as_array()
            .map_or(0, Vec::len)
    };
    assert_eq!(count(json!({"term": {"f": "v03"}})), 40);
    assert_eq!(count(json!({"exists": {"field": "g"}})), 40);
    assert_eq!(count(json!({"wildcard": {"g": "w?"}})), 40);
    assert_eq!(count(json!({"exists": {"field": "f.nope"}})), 0);
    assert_eq!(count(json!({"exists": {"field": "f._keyed"}})), 0);
    assert_eq!(count(json!({"exists": {"field": "f..\u{0}"}})), 0);
}

#[test]
fn what_keys_do_not_know() {
    let (mapping, documents) = documents(5);
    let (_kept, shards) = recorded_shards(&mapping, &documents, 5);
    for (query, reason) in [
        (
            json!({"wildcard": {"f.a": "v*"}}),
            "[wildcard] queries are not currently supported on keyed [flattened] fields.",
        ),
        (
            json!({"regexp": {"f.a": "v.*"}}),
            "[regexp] queries are not currently supported on keyed [flattened] fields.",
        ),
        (
            json!({"fuzzy": {"f.a": "v1"}}),
            "[fuzzy] queries are not currently supported on keyed [flattened] fields.",
        ),
        (
            json!({"range": {"f.a": {"gte": "v"}}}),
            "[range] queries on keyed [flattened] fields must include both an upper and a lower bound.",
        ),
    ] {
        let error = answer(&shards, &json!({"query": query})).expect_err("refused");
        assert_eq!(error, format!("failed to create query: {reason}"));
    }
}

/// A user's field may have the name that Elasticsearch gives to the terms of all keys.
#[test]
fn names_of_users_are_not_taken_for_keyed_terms() {
    let mapping = json!({"properties": {
        "a": {"properties": {"_keyed": {"type": "long"}, "b": {"type": "keyword"}}}, "f": {"type": "flattened"}
    }});
    let documents = json!([[
        {"a": {"_keyed": 5}, "f": {"_keyed": "x"}}, {"a": {"_keyed": 7}}, {"a": {"b": "x"}, "f": {"b": "x"}}
    ]]);
    let (_kept, shards) = recorded_shards(&mapping, &documents, 2);
    for (query, count) in [
        (json!({"term": {"a.b": "x"}}), 1),
        (json!({"exists": {"field": "a.b"}}), 1),
        (json!({"range": {"a._keyed": {"gte": 6}}}), 1),
        (json!({"term": {"f._keyed": "x"}}), 1),
        (json!({"term": {"f.b": "x"}}), 1),
    ] {
        let found = answer(&shards, &json!({"query": query, "sort": [{"a.b": "asc"}]})).expect("an answer");
        assert_eq!(found["hits"].as_array().map(Vec::len), Some(count), "{query}");
    }
}
