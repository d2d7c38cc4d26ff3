//! Requests that are refused, and what happens when a shard fails or the time is over.

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use limber_mapping::ErrorClass;
use limber_search::{Error, SearchRequest, ShardSnapshot, UrlParameters};
use limber_store::Ledger;
use serde_json::{Value, json};

fn shards() -> (support::Shards, Vec<ShardSnapshot>) {
    let mut shards =
        support::Shards::new(&json!({"properties": {"n": {"type": "long"}, "text": {"type": "text"}}}));
    let documents: Vec<(String, Value)> =
        (0..50).map(|n| (n.to_string(), json!({"n": n, "text": format!("word{n} all")}))).collect();
    let view = shards.segment(&documents, &[]);
    let snapshots = (0..2).map(|number| shards.shard(number, vec![view.clone()])).collect();
    (shards, snapshots)
}

fn parse(body: &Value) -> SearchRequest {
    SearchRequest::parse(body, &UrlParameters::default()).expect("parses")
}

#[test]
fn full_memory_is_a_circuit_breaking_exception() {
    let (_shards, shards) = shards();
    let mut context = support::context();
    context.ledger = Ledger::new(100);
    let error = limber_search::execute(&shards, &parse(&json!({"size": 50})), &context).unwrap_err();
    assert_eq!(
        (error.class(), error.to_request_error().kind),
        (ErrorClass::TooManyRequests, "circuit_breaking_exception")
    );
}

#[test]
fn nothing_stays_charged() {
    let (_shards, shards) = shards();
    let context = support::context();
    limber_search::execute(
        &shards,
        &parse(&json!({"query": {"range": {"n": {"gt": 3}}}, "sort": ["n"]})),
        &context,
    )
    .unwrap();
    assert_eq!(context.ledger.request.used_bytes(), 0);
}

#[test]
fn cancellation_ends_a_search_and_a_deadline_cuts_it_short() {
    let (_shards, shards) = shards();
    let context = support::context();
    context.cancelled.store(true, Ordering::Relaxed);
    assert!(matches!(limber_search::execute(&shards, &parse(&json!({})), &context), Err(Error::Cancelled)));
    let mut context = support::context();
    context.deadline = Some(Instant::now());
    let response = limber_search::execute(&shards, &parse(&json!({})), &context).unwrap();
    assert!(response.timed_out);
}

/// However slow its scripts are, a search ends at its deadline, with what it has found.
#[test]
fn a_deadline_ends_slow_scripts() {
    let (_shards, shards) = shards();
    let slow = |rest: &str| format!("int s = 0; for (int i = 0; i < 900000; i++) {{ s += i }} {rest}");
    let metric = json!({
        "init_script": "state.s = 0", "map_script": slow("state.s += s"),
        "combine_script": slow("return state.s"), "reduce_script": "return states.size()",
    });
    for body in [
        json!({"query": {"script": {"script": slow("return s > 0")}}}),
        json!({"query": {"script_score": {"query": {"match_all": {}}, "script": {"source": slow("return 1")}}}}),
        json!({"sort": {"_script": {"type": "number", "script": slow("return s")}}}),
        json!({"size": 0, "aggs": {"a": {"scripted_metric": metric}}}),
        json!({
            "runtime_mappings": {"r": {"type": "long", "script": slow("emit(s)")}}, "query": {"term": {"r": 1}},
        }),
    ] {
        let mut context = support::context();
        context.deadline = Some(Instant::now() + Duration::from_millis(1));
        let response = limber_search::execute(&shards, &parse(&body), &context).unwrap();
        assert!(response.timed_out, "{body}");
        assert_eq!(response.aggregations.is_some(), body.get("aggs").is_some());
    }
}

#[test]
fn one_failing_shard_leaves_the_others() {
    let (_shards, mut snapshots) = shards();
    // A shard of another index, without the field that is sorted on.
    let mut other = support::Shards::new(&json!({"properties": {"m": {"type": "long"}}}));
    let view = other.segment(&[("x".to_owned(), json!({"m": 1}))], &[]);
    let mut failing = other.shard(0, vec![view]);
    failing.index = Arc::new(limber_search::IndexRef { name: "other".to_owned(), uuid: "u2".to_owned() });
    snapshots.push(failing);
    let response =
        limber_search::execute(&snapshots, &parse(&json!({"sort": ["n"], "size": 3})), &support::context())
            .unwrap();
    let summary = response.shards.to_json();
    assert_eq!(
        (summary["total"].clone(), summary["successful"].clone(), summary["failed"].clone()),
        (json!(3), json!(2), json!(1))
    );
    assert_eq!(summary["failures"][0]["reason"]["reason"], "No mapping found for [n] in order to sort on");
    // For equal keys, the first shard's hits come first.
    let order: Vec<(String, u32)> =
        response.hits.iter().map(|hit| (hit.id.clone().unwrap(), hit.shard)).collect();
    assert_eq!(order, [("0".to_owned(), 0), ("0".to_owned(), 1), ("1".to_owned(), 0)]);
}

/// Shards fail only when their hits are fetched: their values are longer than the index allows for
/// highlighting.
#[test]
fn a_shard_that_fails_when_hits_are_read_leaves_those_of_others() {
    let mut shards =
        support::Shards::new(&json!({"properties": {"n": {"type": "long"}, "text": {"type": "text"}}}));
    let mut snapshots = Vec::new();
    for number in 0..3 {
        // Shard 2 only has hits on late pages.
        let documents: Vec<(String, Value)> = (0..6)
            .map(|n| {
                let n = if number == 2 { 100 + n } else { 3 * n + number };
                (n.to_string(), json!({"n": n, "text": "some words"}))
            })
            .collect();
        let view = shards.segment(&documents, &[]);
        snapshots.push(shards.shard(number as u32, vec![view]));
    }
    for failing in 0..8usize {
        let is_failing = |shard: u32| failing >> shard & 1 == 1;
        let faulty: Vec<ShardSnapshot> = snapshots
            .iter()
            .cloned()
            .map(|mut snapshot| {
                let highlight_offset_max = if is_failing(snapshot.shard) { 3 } else { 1000 };
                snapshot.settings = Arc::new(limber_search::ShardSettings {
                    highlight_offset_max,
                    ..(*snapshot.settings).clone()
                });
                snapshot
            })
            .collect();
        for (from, size) in [(0, 1), (0, 2), (1, 5), (0, 13), (0, 20), (12, 6), (0, 0), (40, 5)] {
            let body = json!({"query": {"match": {"text": "words"}}, "sort": ["n"], "from": from, "size": size,
                "highlight": {"fields": {"text": {}}}, "aggs": {"m": {"max": {"field": "n"}}}});
            let whole = support::search(&snapshots, &body);
            let mut failed: Vec<u32> =
                whole.hits.iter().map(|hit| hit.shard).filter(|shard| is_failing(*shard)).collect();
            failed.sort_unstable();
            failed.dedup();
            let mut request = parse(&body);
            let found = limber_search::execute(&faulty, &request, &support::context());
            request.allows_partial = Some(false);
            let strict = limber_search::execute(&faulty, &request, &support::context());
            if failed.len() == 3 {
                for error in [found.unwrap_err(), strict.unwrap_err()] {
                    assert!(matches!(error, Error::AllShardsFailed { phase: "fetch", .. }), "{error:?}");
                }
                continue;
            }
            let found = found.unwrap();
            let left: Vec<&Option<String>> =
                whole.hits.iter().filter(|hit| !is_failing(hit.shard)).map(|hit| &hit.id).collect();
            assert_eq!(found.hits.iter().map(|hit| &hit.id).collect::<Vec<_>>(), left);
            assert!(found.hits.iter().all(|hit| hit.highlight.is_some()));
            let (total, aggregations) = (found.total, &found.aggregations);
            assert_eq!((total, aggregations), (whole.total, &whole.aggregations));
            let numbers: Vec<u32> = found.shards.failures.iter().map(|failure| failure.shard).collect();
            assert_eq!(numbers, failed);
            assert_eq!((found.shards.total, found.shards.successful), (3, 3 - failed.len() as u32));
            match strict {
                Ok(strict) => assert!(failed.is_empty() && strict.hits.len() == whole.hits.len()),
                Err(Error::SomeShardsFailed { phase: "fetch", failures }) => {
                    assert_eq!(failures.len(), failed.len());
                }
                Err(error) => panic!("{error:?}"),
            }
        }
    }
}

/// A request that accepts no partial answer fails if a shard fails or the time is over.
#[test]
fn partial_results_are_refused_if_not_allowed() {
    let (_shards, mut snapshots) = shards();
    let mut request = parse(&json!({"sort": ["n"]}));
    request.allows_partial = Some(false);
    let mut context = support::context();
    context.deadline = Some(Instant::now());
    let error = limber_search::execute(&snapshots, &request, &context).unwrap_err();
    assert!(matches!(error, Error::AllShardsFailed { phase: "query", .. }), "{error:?}");
    let other = support::Shards::new(&json!({"properties": {"m": {"type": "long"}}}));
    snapshots.push(other.shard(2, vec![]));
    let error = limber_search::execute(&snapshots, &request, &support::context()).unwrap_err();
    let shown = support::shown(&error);
    assert_eq!(shown["error"]["reason"], "Partial shards failure");
    assert_eq!(shown["error"]["phase"], "query");
    assert_eq!(shown["error"]["root_cause"][0]["reason"], "No mapping found for [n] in order to sort on");
}

#[test]
fn sort_keys_of_different_types_do_not_mix() {
    let (_shards, mut snapshots) = shards();
    let mut other = support::Shards::new(&json!({"properties": {"n": {"type": "keyword"}}}));
    let view = other.segment(&[("x".to_owned(), json!({"n": "1.5"}))], &[]);
    snapshots.push(other.shard(0, vec![view]));
    let error =
        limber_search::execute(&snapshots, &parse(&json!({"sort": ["n"]})), &support::context()).unwrap_err();
    let error = error.to_request_error();
    assert_eq!((error.kind, error.reason.as_str()), ("search_phase_execution_exception", ""));
    assert_eq!(
        error.caused_by.expect("a cause").reason,
        "Can't sort on field [n]; the field has incompatible sort types: [LONG] and [STRING] across shards!"
    );
}

#[test]
fn whole_numbers_and_others_are_sorted_as_doubles() {
    let (_shards, mut snapshots) = shards();
    let mut other = support::Shards::new(&json!({"properties": {"n": {"type": "double"}}}));
    let view = other.segment(&[("x".to_owned(), json!({"n": 1.5})), ("y".to_owned(), json!({}))], &[]);
    snapshots.push(other.shard(0, vec![view]));
    let response = support::search(&snapshots, &json!({"sort": ["n"], "search_after": [1.2], "size": 2}));
    let sorts: Vec<_> = response.hits.iter().map(|hit| hit.sort.clone()).collect();
    assert_eq!(json!(sorts), json!([[1.5], [2.0]]));
}

#[test]
fn no_shard_at_all_is_an_empty_answer() {
    let response = support::search(&[], &json!({"query": {"match_all": {}}}));
    assert_eq!((response.hits.len(), response.total.unwrap().value), (0, 0));
}

#[test]
fn terminate_after_stops_each_shard() {
    let (_shards, shards) = shards();
    let response = support::search(
        &shards,
        &json!({"query": {"match": {"text": "all"}}, "terminate_after": 3, "min_score": 0.0001}),
    );
    assert_eq!((response.hits.len(), response.terminated_early), (6, Some(true)));
}

/// Documents that the post filter excludes do not count; aggregations see those before the end.
#[test]
fn terminate_after_counts_what_the_post_filter_lets_through() {
    let (_shards, shards) = shards();
    let body = json!({"query": {"range": {"n": {"gte": 0}}}, "post_filter": {"range": {"n": {"gte": 20}}},
        "sort": ["n"], "terminate_after": 3, "aggs": {"seen": {"value_count": {"field": "n"}}}});
    let response = support::search(&shards, &body);
    let sorts: Vec<_> = response.hits.iter().map(|hit| hit.sort.clone()).collect();
    assert_eq!(json!(sorts), json!([[20], [20], [21], [21], [22], [22]]));
    assert_eq!(response.total.map(|total| total.value), Some(6));
    assert_eq!(response.terminated_early, Some(true));
    assert_eq!(response.aggregations_to_json().expect("JSON"), json!({"seen": {"value": 46}}));
}

#[test]
fn aggregations_cover_all_hits_of_all_shards_whatever_the_page() {
    let (_shards, shards) = shards();
    for (query, size) in [(json!({"match_all": {}}), 0), (json!({"range": {"n": {"lt": 10}}}), 2)] {
        let body = json!({"query": query, "size": size, "sort": ["n"], "track_total_hits": false,
            "aggs": {"sum": {"sum": {"field": "n"}}, "low": {"filter": {"range": {"n": {"lt": 5}}}}}});
        let response = support::search(&shards, &body);
        let sum = if size == 0 { 2 * 49 * 50 / 2 } else { 2 * 45 };
        let expected = json!({"sum": {"value": sum as f64}, "low": {"doc_count": 10}});
        assert_eq!(response.aggregations_to_json().expect("JSON"), expected, "{body}");
        assert_eq!(response.hits.len(), size);
    }
}

/// A document with many values is in many buckets and has many values in each of them. Once there is no more
/// memory, nothing more of it is counted.
#[test]
fn a_document_in_many_buckets_with_many_values_is_given_up_at_its_first_refusal() {
    let mut shards = support::Shards::new(&json!({"properties": {"k": {"type": "keyword"}}}));
    let values: Vec<String> = (0..2_000).map(|n| format!("key{n}")).collect();
    let view = shards.segment(&[("1".to_owned(), json!({"k": values}))], &[]);
    let snapshots = [shards.shard(0, vec![view])];
    let mut context = support::context();
    context.ledger = Ledger::new(8 << 20);
    for kind in ["terms", "significant_terms", "rare_terms"] {
        let body = json!({"size": 0, "aggs": {"a": {"terms": {"field": "k", "size": 2_000},
            "aggs": {"b": {kind: {"field": "k"}, "aggs": {"c": {"terms": {"field": "k"}}}}}}}});
        let before = context.ledger.request.tripped_count();
        let error = limber_search::execute(&snapshots, &parse(&body), &context).unwrap_err();
        assert_eq!(error.class(), ErrorClass::TooManyRequests, "{kind}");
        assert!(context.ledger.request.tripped_count() - before < 100, "{kind}");
    }
}
