//! Compares queries over many distinct ranges of one segment with testing every range.

mod support;

use limber_search::{SearchRequest, UrlParameters};
use serde_json::{Value, json};
use support::{context, recorded_shards};

const RANGE_COUNT: i64 = 6_000;

/// Returns successive short ranges, and now and then a long one.
fn ranges() -> Vec<(i64, i64)> {
    let mut state = 11u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % below) as i64
    };
    let length =
        |place: i64, next: &mut dyn FnMut(u64) -> i64| if place % 997 == 0 { next(40_000) } else { next(9) };
    (0..RANGE_COUNT).map(|place| (place * 7, place * 7 + length(place, &mut next))).collect()
}

#[test]
fn no_range_is_passed_over() {
    let all = ranges();
    for segment_documents in [all.len(), 1_500] {
        let mapping = json!({"properties": {"r": {"type": "long_range"}}});
        let documents: Vec<Value> =
            all.iter().map(|(from, to)| json!({"r": {"gte": from, "lte": to}})).collect();
        let (_kept, shards) = recorded_shards(&mapping, &json!([documents]), segment_documents);
        let check = |relation: &str, (from, to): (i64, i64), fits: &dyn Fn(i64, i64) -> bool| {
            let query = json!({"range": {"r": {"gte": from, "lte": to, "relation": relation}}});
            let body = json!({"query": query, "size": 0, "track_total_hits": true});
            let request = SearchRequest::parse(&body, &UrlParameters::default()).expect("a request");
            let found = limber_search::execute(&shards, &request, &context()).expect("answers");
            let expected = all.iter().filter(|(low, high)| fits(*low, *high)).count() as u64;
            assert_eq!(found.total.expect("counted").value, expected, "{relation} {from} to {to}");
        };
        for from in [-5, 0, 3, 700, 20_001, 39_000, 41_990, 42_010, 90_000] {
            for to in [from, from + 2, from + 300] {
                check("intersects", (from, to), &|low, high| low <= to && high >= from);
                check("contains", (from, to), &|low, high| low <= from && high >= to);
                check("within", (from, to), &|low, high| low >= from && high <= to);
            }
        }
    }
}
