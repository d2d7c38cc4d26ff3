//! Compares an index with `index.sort.*` to one without: whatever is written, deleted, merged and recovered,
//! both answer the same.

mod common;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use common::*;
use limber_engine::*;
use limber_search::{SearchRequest, SearchResponse, UrlParameters};
use proptest::prelude::*;
use serde_json::{Value, json};

#[derive(Debug, Clone)]
enum Step {
    Index {
        id: u8,
        n: Vec<i8>,
        color: Option<u8>,
        nested: u8,
    },
    Delete {
        id: u8,
    },
    Refresh,
    Flush,
    Merge,
    /// The process ends and starts again.
    Reopen {
        closes: bool,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let document = (0u8..40, prop::collection::vec(-3i8..9, 0..3), prop::option::of(0u8..4), 0u8..3);
    let step = prop_oneof![
        16 => document.prop_map(|(id, n, color, nested)| Step::Index { id, n, color, nested }),
        3 => (0u8..40).prop_map(|id| Step::Delete { id }),
        3 => Just(Step::Refresh),
        1 => Just(Step::Flush),
        1 => Just(Step::Merge),
        1 => any::<bool>().prop_map(|closes| Step::Reopen { closes }),
    ];
    prop::collection::vec(step, 1..80)
}

/// Returns values of `index.sort.*`, each with a search sort that matches it.
fn sorts() -> [(Value, Value); 4] {
    [
        (json!({"field": "n"}), json!([{"n": "asc"}])),
        (
            json!({"field": ["n", "color"], "order": ["desc", "asc"], "missing": ["_first", "_last"]}),
            json!([{"n": {"order": "desc", "missing": "_first"}}, {"color": "asc"}]),
        ),
        (
            json!({"field": ["color", "n"], "order": ["desc", "asc"], "mode": ["max", "max"]}),
            json!([{"color": "desc"}, {"n": {"mode": "max"}}, "_doc"]),
        ),
        (
            json!({"field": ["color", "f"], "missing": ["_first", "_last"]}),
            json!([{"color": {"missing": "_first"}}]),
        ),
    ]
}

fn ask(node: &Node, name: &str, body: &Value) -> SearchResponse {
    let request = SearchRequest::parse(body, &UrlParameters::default()).expect("valid");
    let searched = node.search(
        name,
        IndicesOptions::SEARCH,
        Placement::default(),
        &request,
        None,
        Arc::new(AtomicBool::new(false)),
    );
    let (response, _) = searched.expect("searches");
    assert!(response.shards.failures.is_empty(), "{:?}", response.shards.failures);
    response
}

/// Returns the sort values of the hits, without document positions.
fn keys(response: &SearchResponse, sorts: &Value) -> Vec<Vec<Value>> {
    let is_field = |(at, _): &(usize, &Value)| sorts[*at] != "_doc";
    let keys = response.hits.iter().map(|hit| hit.sort.as_deref().unwrap_or_default());
    keys.map(|keys| keys.iter().enumerate().filter(is_field).map(|(_, key)| key.clone()).collect()).collect()
}

#[track_caller]
fn assert_same(node: &Node, sorts: &Value) {
    assert_eq!(
        search(node, "sorted", json!({"match_all": {}})),
        search(node, "plain", json!({"match_all": {}}))
    );
    for query in [
        json!({"match_all": {}}),
        json!({"range": {"n": {"gte": 1, "lt": 6}}}),
        json!({"term": {"color": "c1"}}),
        json!({"match_phrase": {"text": "b c1"}}),
        json!({"geo_shape": {"area": {"shape": "POINT (13.5 8.5)"}}}),
        json!({"geo_shape": {"area": {"shape": "BBOX (5, 20, 15, 0)", "relation": "within"}}}),
        json!({"nested": {"path": "o", "query": {"range": {"o.v": {"gte": 4}}}}}),
    ] {
        assert_eq!(search(node, "sorted", query.clone()), search(node, "plain", query.clone()), "{query}");
        for (size, track) in [(1, json!(false)), (3, json!(false)), (3, json!(4)), (100, json!(true))] {
            for after in [None, Some(3)] {
                let mut body =
                    json!({"query": query, "sort": sorts, "size": size, "track_total_hits": track});
                if let Some(n) = after {
                    let after = |key: &Value| match key.as_object().and_then(|key| key.keys().next()) {
                        Some(name) if name == "n" => json!(n),
                        Some(_) => json!("c2"),
                        None => json!(-1),
                    };
                    body["search_after"] = sorts.as_array().expect("a list").iter().map(after).collect();
                }
                let [ours, plain] = ["sorted", "plain"].map(|name| ask(node, name, &body));
                assert_eq!(keys(&ours, sorts), keys(&plain, sorts), "{body}");
                assert_eq!(ours.total, plain.total, "{body}");
            }
        }
    }
}

fn run(steps: &[Step], which: usize) {
    let folder = tempfile::tempdir().expect("tempdir");
    let mut node = open(folder.path());
    let (index_sort, sorts) = &sorts()[which];
    let mut body = json!({
        "settings": {"number_of_shards": 1, "number_of_replicas": 0, "merge.policy.segments_per_tier": 2},
        "mappings": {"properties": {
            "n": {"type": "integer"}, "color": {"type": "keyword"}, "f": {"type": "double"}, "text": {"type": "text"},
            "o": {"type": "nested", "properties": {"v": {"type": "long"}}}, "area": {"type": "geo_shape"},
        }},
    });
    node.create_index("plain", &body).expect("created");
    body["settings"]["sort"] = index_sort.clone();
    node.create_index("sorted", &body).expect("created");
    for step in steps {
        match step {
            Step::Index { id, n, color, nested } => {
                let mut source = json!({"n": n, "f": f64::from(*id) / 3.0});
                if let Some(color) = color {
                    source["color"] = format!("c{color}").into();
                    source["text"] = format!("a b c{color} b").into();
                }
                let corner = f64::from(*id);
                source["area"] = n.iter().map(|size| json!({
                    "type": "envelope", "coordinates": [[corner, corner], [corner + 4.0 + f64::from(*size), corner - 1.0]]
                })).collect();
                source["o"] = (0..*nested).map(|at| json!({"v": at * 2 + id % 5})).collect();
                for name in ["plain", "sorted"] {
                    write(&node, index(name, &format!("id{id}"), source.to_string().as_bytes()))
                        .expect("written");
                }
            }
            Step::Delete { id } => {
                for name in ["plain", "sorted"] {
                    write(&node, delete(name, &format!("id{id}"))).expect("answers");
                }
            }
            Step::Refresh => drop(node.refresh("_all", IndicesOptions::BROADCAST).expect("refreshes")),
            Step::Flush => drop(node.flush("_all", IndicesOptions::BROADCAST, false).expect("flushes")),
            Step::Merge => {
                let request = ForceMergeRequest { max_num_segments: Some(1), ..ForceMergeRequest::default() };
                node.force_merge("_all", IndicesOptions::BROADCAST, &request).expect("merges");
            }
            Step::Reopen { closes } => {
                if *closes {
                    node.close();
                }
                drop(node);
                node = open(folder.path());
            }
        }
    }
    node.refresh("_all", IndicesOptions::BROADCAST).expect("refreshes");
    assert_same(&node, sorts);
    node.close();
    drop(node);
    let report = check_data_folder(folder.path()).expect("checks");
    assert_eq!(report.problem_count, 0, "{:?}", report.lines);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sorted_and_unsorted_indices_answer_the_same(steps in steps(), which in 0usize..4) {
        run(&steps, which);
    }
}

/// The index has more documents than a window, written out of order in several segments.
#[test]
fn windows_beyond_the_first() {
    let folder = tempfile::tempdir().expect("tempdir");
    let node = open(folder.path());
    let (index_sort, sorts) = &sorts()[1];
    let mut body = json!({
        "settings": {"number_of_shards": 1, "number_of_replicas": 0, "translog.durability": "async"},
        "mappings": {"properties": {"n": {"type": "integer"}, "color": {"type": "keyword"}}},
    });
    node.create_index("plain", &body).expect("created");
    body["settings"]["sort"] = index_sort.clone();
    node.create_index("sorted", &body).expect("created");
    for part in 0..2 {
        for number in part * 6000..part * 6000 + 6000_u32 {
            let source =
                json!({"n": number.wrapping_mul(2_654_435_761) % 2500, "color": format!("c{}", number % 4)});
            let source = source.to_string();
            for name in ["plain", "sorted"] {
                write(&node, BulkOperation::new(OperationKind::Index, name, source.as_bytes()))
                    .expect("written");
            }
        }
        node.refresh("_all", IndicesOptions::BROADCAST).expect("refreshes");
    }
    for merged in [false, true] {
        if merged {
            let request = ForceMergeRequest { max_num_segments: Some(1), ..ForceMergeRequest::default() };
            node.force_merge("_all", IndicesOptions::BROADCAST, &request).expect("merges");
        }
        for (size, track) in [(10, json!(false)), (250, json!(1000)), (5000, json!(false)), (10, json!(true))]
        {
            for query in [json!({"match_all": {}}), json!({"term": {"color": "c2"}})] {
                let body = json!({"query": query, "sort": sorts, "size": size, "track_total_hits": track});
                let [ours, plain] = ["sorted", "plain"].map(|name| ask(&node, name, &body));
                assert_eq!(keys(&ours, sorts), keys(&plain, sorts), "{body}");
                assert_eq!(ours.total, plain.total, "{body}");
            }
        }
    }
}
