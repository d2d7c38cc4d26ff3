//! Tests of errors in the parsing of aggregations. Results are tested against Elasticsearch's in
//! `tests/aggregations.rs` and against a model in `tests/aggregation_model.rs`.

use serde_json::{Value, json};

use super::Aggregations;

fn check(body: Value, kind: &str, reason: &str) {
    let error = Aggregations::parse(&body).expect_err("refused");
    assert_eq!((error.kind, error.reason.as_str()), (kind, reason), "{body}");
}

#[test]
fn wrong_definitions() {
    let parsing = "parsing_exception";
    check(json!({ "m": {} }), parsing, "Missing definition for aggregation [m]");
    check(
        json!({ "m": 1 }),
        parsing,
        "Aggregation definition for [m starts with a [VALUE_NUMBER], expected a [START_OBJECT].",
    );
    check(json!({ "m": { "foo": {} } }), parsing, "Unknown aggregation type [foo]");
    check(
        json!({ "m": { "foo": 1 } }),
        parsing,
        "Expected [START_OBJECT] under [foo], but got a [VALUE_NUMBER] in [m]",
    );
    check(
        json!({ "m": { "filters": { "filters": [{ "match_all": {} }], "foo": 1 } } }),
        parsing,
        "Unknown key for a VALUE_NUMBER in [m]: [foo].",
    );
    check(
        json!({ "m": { "avg": [] } }),
        parsing,
        "Expected [START_OBJECT] under [avg], but got a [START_ARRAY] in [m]",
    );
    check(
        json!({ "m": { "inference": { "field": "a" } } }),
        "illegal_argument_exception",
        "the aggregation type [inference] is not supported by Limber yet",
    );
    check(
        json!({ "m": { "avg": { "field": "a", "script": {} } } }),
        "x_content_parse_exception",
        "[avg] failed to parse field [script]",
    );
    check(
        json!({ "m": { "significant_terms": { "field": "a", "script": "1" } } }),
        "illegal_argument_exception",
        "[script] in the aggregation [significant_terms] is not supported by Limber yet",
    );
    check(
        json!({ "m": { "avg": { "field": "a", "foo": 1 } } }),
        "x_content_parse_exception",
        "[avg] unknown field [foo]",
    );
}

#[test]
fn deep_and_wide_requests() {
    let mut deep = json!({ "m": { "missing": { "field": "a" } } });
    for _ in 0..60 {
        deep = json!({ "m": { "missing": { "field": "a" }, "aggs": deep } });
    }
    check(deep, "illegal_argument_exception", "aggregations are nested more than 50 deep");
    let wide: Value =
        (0..6_000).map(|number| (number.to_string(), json!({ "avg": { "field": "a" } }))).collect();
    check(wide, "illegal_argument_exception", "the request has more than 5000 aggregations");
    let many: Value = (0..300)
        .map(|number| (format!("p{number}"), json!({ "avg_bucket": { "buckets_path": "h>x" } })))
        .chain([("h".to_owned(), json!({ "histogram": { "field": "a", "interval": 1 }, "aggs": { "x": { "avg": { "field": "a" } } } }))])
        .collect();
    check(
        many,
        "action_request_validation_exception",
        "Validation Failed: 1: more than 200 pipeline aggregations beside one another;",
    );
    let pattern = json!({ "m": { "terms": { "field": "a", "include": "x".repeat(1001) } } });
    assert!(
        Aggregations::parse(&pattern).expect_err("refused").reason.starts_with("The length of regex [1001]")
    );
}
