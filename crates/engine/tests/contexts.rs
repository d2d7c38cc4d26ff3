//! Tests points in time and scrolls: an unchanging view of indices is read page by page, until it is closed,
//! expires or loses an index.

mod common;

use std::sync::Arc;

use common::*;
use limber_engine::*;
use limber_mapping::ErrorClass;
use limber_search::{SearchRequest, SearchResponse, UrlParameters};
use serde_json::{Value, json};

fn open_pit(node: &Node, expression: &str, keep_alive_ms: u64) -> limber_search::Result<String> {
    let wanted = OpenPointInTime {
        expression,
        options: IndicesOptions::SEARCH,
        placement: Placement::default(),
        index_filter: None,
        allow_partial: false,
        keep_alive_ms,
    };
    node.open_point_in_time(&wanted).map(|(id, _)| id)
}

fn find(node: &Node, body: &Value) -> limber_search::Result<SearchResponse> {
    let request = SearchRequest::parse(body, &UrlParameters::default())?;
    node.search("_all", IndicesOptions::SEARCH, Placement::default(), &request, None, Arc::default())
        .map(|(found, _)| found)
}

fn open_contexts(node: &Node) -> Value {
    let stats = node.stats("_all", IndicesOptions::BROADCAST, &StatsRequest::default()).expect("stats");
    stats["_all"]["total"]["search"]["open_contexts"].clone()
}

#[test]
fn a_point_in_time_is_paged_through_while_its_indices_change() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let node = open(folder.path());
    for name in ["b", "a"] {
        node.create_index(name, &json!({"settings": {"number_of_shards": 2, "number_of_replicas": 0}}))
            .expect("created");
        for number in 0..20 {
            let source = format!(r#"{{"n": {}}}"#, number % 3);
            write(&node, index(name, &format!("{number}"), source.as_bytes())).expect("written");
        }
    }
    node.refresh("_all", IndicesOptions::BROADCAST).expect("refreshed");
    let id = open_pit(&node, "a,b", 60_000).expect("opened");
    assert_eq!(open_contexts(&node), 4);
    for number in 0..10 {
        write(&node, delete("a", &number.to_string())).expect("deleted");
    }
    node.refresh("_all", IndicesOptions::BROADCAST).expect("refreshed");
    let mut body = json!({"pit": {"id": id, "keep_alive": "1m"}, "size": 7, "sort": [{"n": "desc"}]});
    let mut seen = Vec::new();
    let mut last: Option<(i64, i64)> = None;
    loop {
        let page = find(&node, &body).expect("a page");
        assert_eq!(page.total.map(|total| total.value), Some(40));
        for hit in &page.hits {
            let sort = hit.sort.as_ref().expect("sort values");
            let [n, tie] = [0, 1].map(|at| sort[at].as_i64().expect("an integer"));
            assert!(last.is_none_or(|(before, tie_before)| n < before || (n == before && tie > tie_before)));
            last = Some((n, tie));
            // The position of the shard when shards are ordered by ordinal and then by index name.
            let place = 2 * i64::from(hit.shard) + i64::from(&*hit.index == "b");
            assert_eq!(tie >> 32, place);
            seen.push(format!("{}/{}", hit.index, hit.id.as_deref().expect("an id")));
        }
        let Some(hit) = page.hits.last() else { break };
        body["search_after"] = json!(hit.sort);
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 40);
    // Without a value for it, the search has no such tiebreaker.
    body["search_after"] = json!([2]);
    assert_eq!(find(&node, &body).expect("a page").hits[0].sort.as_ref().map(Vec::len), Some(1));

    node.delete_index("b", IndicesOptions::BROADCAST).expect("deleted");
    let left = find(&node, &json!({"pit": {"id": id}})).expect("what is left");
    assert_eq!((left.shards.total, left.shards.successful, left.shards.failures.len()), (4, 2, 2));
    assert_eq!(left.total.map(|total| total.value), Some(20));
    assert_eq!(node.close_point_in_time(&id).expect("an id"), Some(4));
    assert_eq!(node.close_point_in_time(&id).expect("an id"), None);
    assert_eq!(find(&node, &json!({"pit": {"id": id}})).expect_err("closed").class(), ErrorClass::NotFound);
    assert_eq!(node.close_point_in_time("zzz").expect_err("no id").class, ErrorClass::BadRequest);
    assert_eq!(open_contexts(&node), 0);
    // One over no index is closed, too: it had no shards.
    let id = open_pit(&node, "none*", 60_000).expect("opened");
    assert_eq!(node.close_point_in_time(&id).expect("an id"), Some(0));
}

#[test]
fn points_in_time_are_limited_and_expire() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let node = open(folder.path());
    write(&node, index("t", "1", br#"{"day": "2024-01-01"}"#)).expect("written");
    node.refresh("t", IndicesOptions::BROADCAST).expect("refreshed");
    assert_eq!(
        open_pit(&node, "t", 90_000_000).expect_err("more than a day").class(),
        ErrorClass::BadRequest
    );
    let gone = open_pit(&node, "t", 0).expect("opened");
    assert_eq!(
        find(&node, &json!({"pit": {"id": gone}})).expect_err("expired").class(),
        ErrorClass::NotFound
    );
    node.put_cluster_settings(&json!({"transient": {"search.max_open_scroll_context": 1}})).expect("set");
    let id = open_pit(&node, "t", 60_000).expect("the expired one makes room");
    assert_eq!(open_pit(&node, "t", 60_000).expect_err("one too many").class(), ErrorClass::TooManyRequests);
    // A scroll is a context too, but it cannot be closed or searched like a point in time.
    assert_eq!(node.clear_scroll(&[&id]), Ok(0));
    assert_eq!(node.clear_scroll(&["_all"]), Ok(0));
    assert_eq!(node.close_point_in_time(&id).expect("an id"), Some(1));
    let filter = |from: &str| {
        let query = json!({"range": {"day": {"gte": from}}});
        let query = limber_search::request::read_query(&query).expect("a query");
        let wanted = OpenPointInTime {
            expression: "t",
            options: IndicesOptions::SEARCH,
            placement: Placement::default(),
            index_filter: Some(query),
            allow_partial: false,
            keep_alive_ms: 60_000,
        };
        let (id, shards) = node.open_point_in_time(&wanted).expect("opened");
        node.close_point_in_time(&id).expect("an id");
        shards.skipped
    };
    assert_eq!((filter("2023-12-31"), filter("2024-01-02")), (0, 1));
}

#[test]
fn a_scroll_ends_with_its_index_even_if_another_one_takes_the_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let node = open(folder.path());
    let fill = || {
        for id in ["1", "2", "3"] {
            write(&node, index("t", id, b"{}")).expect("written");
        }
        node.refresh("t", IndicesOptions::BROADCAST).expect("refreshed");
    };
    fill();
    let request = SearchRequest::parse(&json!({"size": 1}), &UrlParameters::default()).expect("valid");
    let first = node.search(
        "t",
        IndicesOptions::SEARCH,
        Placement::default(),
        &request,
        Some(60_000),
        Arc::default(),
    );
    let id = first.expect("a page").1.expect("a scroll");
    assert_eq!(node.scroll(&id, None, Arc::default()).expect("a page").hits.len(), 1);
    node.delete_index("t", IndicesOptions::DELETE).expect("deleted");
    fill();
    let error = node.scroll(&id, None, Arc::default()).expect_err("its index is gone");
    assert_eq!(error.class(), ErrorClass::NotFound);
}
