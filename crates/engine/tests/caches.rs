//! Tests the caches on a changing index: the same writes to an index with caches and to one without give the
//! same responses.

mod common;

use std::sync::Arc;

use common::*;
use limber_engine::*;
use limber_search::{SearchRequest, UrlParameters};
use serde_json::{Value, json};

fn answer(node: &Node, name: &str, body: &Value) -> Value {
    let request = SearchRequest::parse(body, &UrlParameters::default()).expect("valid");
    let found =
        node.search(name, IndicesOptions::SEARCH, Placement::default(), &request, None, Arc::default());
    let (mut found, _) = found.expect("searches");
    found.took_millis = 0;
    let mut shown = found.to_json(&Default::default()).expect("there is memory");
    shown["hits"]["hits"].as_array_mut().expect("hits").iter_mut().for_each(|hit| hit["_index"] = "".into());
    shown
}

fn figures(node: &Node, name: &str) -> Value {
    let stats = node.stats(name, IndicesOptions::BROADCAST, &StatsRequest::default()).expect("stats");
    stats["_all"]["total"]["request_cache"].clone()
}

#[test]
fn answers_are_kept_until_something_else_can_be_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let node = open(folder.path());
    let create = |name: &str, has_caches: bool| {
        let settings = json!({
            "number_of_shards": 2, "number_of_replicas": 0, "refresh_interval": "-1",
            "index.requests.cache.enable": has_caches, "index.queries.cache.enabled": has_caches,
        });
        let mappings = json!({"properties": {"n": {"type": "long"}, "k": {"type": "keyword"}}});
        node.create_index(name, &json!({"settings": settings, "mappings": mappings})).expect("created");
    };
    create("cached", true);
    create("plain", false);
    let mut seed = 41u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let bodies = [
        json!({"size": 0, "track_total_hits": true}),
        json!({"size": 0, "query": {"range": {"n": {"gte": 10}}}, "aggs": {"k": {"terms": {"field": "k"}}}}),
        json!({"size": 0, "query": {"match": {"k": "k1"}}, "aggs": {"n": {"avg": {"field": "n"}}}}),
        json!({"size": 5, "query": {"bool": {"filter": [{"range": {"n": {"lt": 25}}}]}}, "sort": ["n", "_doc"]}),
    ];
    for step in 0..300 {
        let id = random(40).to_string();
        let source = json!({"n": random(50), "k": format!("k{}", random(3))}).to_string();
        let kind = random(10);
        for name in ["cached", "plain"] {
            match kind {
                0..=4 => drop(write(&node, index(name, &id, source.as_bytes())).expect("written")),
                5 => drop(write(&node, delete(name, &id))),
                6 | 7 => drop(node.refresh(name, IndicesOptions::BROADCAST).expect("refreshed")),
                8 => {
                    let merge = ForceMergeRequest {
                        max_num_segments: Some(1),
                        only_expunge_deletes: false,
                        flush: true,
                    };
                    node.force_merge(name, IndicesOptions::BROADCAST, &merge).expect("merged");
                }
                _ => drop(node.clear_cache(name, IndicesOptions::BROADCAST, step % 2 == 0, true, true)),
            }
        }
        let body = &bodies[random(4) as usize];
        assert_eq!(answer(&node, "cached", body), answer(&node, "plain", body), "step {step}: {body}");
    }
    assert!(figures(&node, "cached")["hit_count"].as_u64().is_some_and(|hits| hits > 50));
    assert_eq!(figures(&node, "plain")["miss_count"], 0);

    // A changed mapping can change the result like a document.
    let body = json!({"size": 0, "query": {"match": {"new": "x"}}});
    write(&node, index("cached", "new", br#"{"n": 1}"#)).expect("written");
    node.refresh("cached", IndicesOptions::BROADCAST).expect("refreshed");
    let first = answer(&node, "cached", &body);
    let before = figures(&node, "cached");
    assert_eq!(answer(&node, "cached", &body), first);
    let after = figures(&node, "cached");
    assert_eq!(after["hit_count"].as_u64(), before["hit_count"].as_u64().map(|hits| hits + 2));
    node.put_mapping(
        "cached",
        IndicesOptions::BROADCAST,
        false,
        &json!({"properties": {"new": {"type": "keyword"}}}),
    )
    .expect("merged");
    answer(&node, "cached", &body);
    assert_eq!(figures(&node, "cached")["hit_count"], after["hit_count"]);
    node.clear_cache("cached", IndicesOptions::BROADCAST, true, true, true).expect("cleared");
    assert_eq!(figures(&node, "cached")["memory_size_in_bytes"], 0);
}
