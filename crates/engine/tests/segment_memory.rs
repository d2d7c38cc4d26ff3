//! Tests the memory of the term index in settings and statistics.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};

use common::*;
use limber_engine::*;
use limber_mapping::ErrorClass;
use limber_search::{SearchRequest, UrlParameters};
use serde_json::{Value, json};

const DOCUMENTS: usize = 20_000;

/// Makes ids without a pattern, so that their FSTs become as large as possible.
fn id(number: usize) -> String {
    let mixed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{:016x}{:08x}", mixed ^ (mixed >> 29), mixed as u32)
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn fill(node: &Node) {
    let body = json!({"mappings": {"properties": {"k": {"type": "keyword"}}}});
    node.create_index("t", &body).expect("created");
    for segment in 0..4 {
        let numbers = segment * DOCUMENTS / 4..(segment + 1) * DOCUMENTS / 4;
        let ids: Vec<String> = numbers.map(id).collect();
        let sources: Vec<String> =
            ids.iter().map(|id| json!({"k": format!("key {id}")}).to_string()).collect();
        let operations: Vec<_> =
            ids.iter().zip(&sources).map(|(id, source)| index("t", id, source.as_bytes())).collect();
        let request =
            BulkRequest { operations: &operations, pipeline: None, refresh: RefreshPolicy::Immediate };
        assert!(!node.bulk(request).expect("written").errors);
    }
}

fn set(node: &Node, settings: Value) {
    node.put_cluster_settings(&json!({"persistent": settings})).expect("set");
}

fn of_node(node: &Node) -> Value {
    let request = StatsRequest { sections: vec!["segment_memory".into()], ..StatsRequest::default() };
    node.node_indices_stats(&request).expect("stats")["segment_memory"].clone()
}

fn number(stats: &Value, path: &str) -> u64 {
    stats.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path} in {stats}"))
}

/// Looks documents up by id and by term until `stop` is set. Every lookup must find its document.
fn look_up(node: &Node, first: usize, stop: &AtomicBool) -> usize {
    let mut number = first;
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        number = (number + 7919) % DOCUMENTS;
        let found = search(node, "t", json!({"ids": {"values": [id(number)]}}));
        assert_eq!(found.len(), 1, "id of {number}");
        let found = search(node, "t", json!({"term": {"k": format!("key {}", id(number))}}));
        assert_eq!(found.len(), 1, "key of {number}");
        count += 1;
    }
    count
}

/// Stops the lookups when dropped, even when an assertion fails meanwhile.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn the_budget_holds_and_the_scheme_changes_while_look_ups_go_on() {
    const BUDGET: u64 = 3 << 10;
    let folder = folder();
    let node = open(folder.path());
    fill(&node);
    let whole = number(&of_node(&node), "/term_index_size_in_bytes");
    assert!(whole > 2 * BUDGET, "the test needs a working set beyond the budget, not {whole}");
    set(&node, json!({"indices.segment_memory.off_heap.size": format!("{BUDGET}b")}));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..3)
            .map(|worker| {
                let (node, stop) = (&node, &stop);
                scope.spawn(move || look_up(node, worker * 31, stop))
            })
            .collect();
        let stopping = Stop(&stop);
        for round in 0..6 {
            std::thread::sleep(std::time::Duration::from_millis(50));
            let native = round % 2 == 0;
            set(&node, json!({"indices.segment_memory.off_heap.enable": !native}));
            let stats = of_node(&node);
            let resident = number(&stats, "/cache/resident_size_in_bytes");
            match native {
                true => {
                    assert_eq!(stats["resident_page_count"], stats["page_count"], "all loaded");
                    assert!(resident >= whole, "{resident} of {whole}");
                }
                // Pages in use at the moment of the switch may exceed the budget until they are released.
                false => assert!(resident <= BUDGET + (8 << 10), "{resident}"),
            }
        }
        drop(stopping);
        assert!(workers.into_iter().all(|worker| worker.join().expect("no look-up failed") > 0));
    });
    let stats = of_node(&node);
    assert!(number(&stats, "/cache/resident_size_in_bytes") <= BUDGET);
    assert!(number(&stats, "/cache/eviction_count") > 0);
    let rows = node.segment_memory("_all", IndicesOptions::BROADCAST).expect("rows");
    let fields: Vec<&str> = rows.keys().map(|(_, field)| &**field).collect();
    assert_eq!(fields, ["_id", "k"]);
    assert_eq!(rows.values().map(|row| row.index_bytes).sum::<u64>(), whole);
    node.close();
    drop(node);
    let report = inspect_data_folder(folder.path()).expect("inspected");
    assert_eq!((report.index_bytes(), report.document_count), (whole, DOCUMENTS as u64));
    assert_eq!(report.histogram.iter().sum::<u64>(), report.segment_count * 2);
}

#[test]
fn opening_segments_loads_nothing_unless_the_scheme_is_native() {
    let folder = folder();
    let node = open(folder.path());
    fill(&node);
    node.close();
    drop(node);
    let node = open(folder.path());
    assert_eq!(node.term_index_stats().load_count, 0);
    assert_eq!(look_up_once(&node), 1);
    assert!(node.term_index_stats().load_count > 0);
    set(&node, json!({"indices.segment_memory.off_heap.enable": false}));
    node.close();
    drop(node);
    let node = open(folder.path());
    let stats = of_node(&node);
    assert_eq!(stats["cache"]["scheme"], "native", "the setting is kept");
    assert!(number(&stats, "/page_count") > 0);
    assert_eq!(stats["resident_page_count"], stats["page_count"]);
}

#[test]
fn a_thousand_segments_open_without_loading_a_page() {
    const SHARDS: usize = 10;
    const SEGMENTS: usize = 1000;
    const DOCUMENTS_EACH: usize = 64;
    let folder = folder();
    let node = open(folder.path());
    let body = json!({"settings": {"number_of_shards": SHARDS, "translog.durability": "async"},
        "mappings": {"properties": {"k": {"type": "keyword"}}}});
    node.create_index("t", &body).expect("created");
    // One refresh creates a segment in each shard.
    for round in 0..SEGMENTS / SHARDS {
        let first = round * SHARDS * DOCUMENTS_EACH;
        let ids: Vec<String> = (first..first + SHARDS * DOCUMENTS_EACH).map(id).collect();
        let source = json!({"k": "same"}).to_string();
        let operations: Vec<_> = ids.iter().map(|id| index("t", id, source.as_bytes())).collect();
        let request =
            BulkRequest { operations: &operations, pipeline: None, refresh: RefreshPolicy::Immediate };
        assert!(!node.bulk(request).expect("written").errors);
    }
    node.close();
    drop(node);
    let node = open(folder.path());
    let rows = node.segment_memory("_all", IndicesOptions::BROADCAST).expect("rows");
    let of_ids = rows.iter().find(|((_, field), _)| &**field == "_id").expect("a row").1;
    assert_eq!(of_ids.segment_count, SEGMENTS as u64);
    assert!(of_ids.index_bytes > 0, "there is something to load");
    assert_eq!(node.term_index_stats().load_count, 0);
    assert_eq!(node.ledger().segment_memory.used_bytes(), 0);
    let segments_bytes = node.ledger().segments.used_bytes();
    assert!((SEGMENTS as u64 * 100..16 << 20).contains(&segments_bytes), "{segments_bytes} bytes of tables");
    // An id is searched only in segments whose filter may contain it: the right one and few others.
    assert_eq!(look_up_once(&node), 1);
    let loads = node.term_index_stats().load_count;
    assert!((1..SEGMENTS as u64 / 20).contains(&loads), "{loads} loads");
}

#[test]
fn a_scroll_finds_pages_of_segments_that_were_merged_away() {
    let folder = folder();
    let node = open(folder.path());
    fill(&node);
    let body = json!({"query": {"prefix": {"k": "key 1"}}, "size": 100, "sort": ["_doc"]});
    let request = SearchRequest::parse(&body, &UrlParameters::default()).expect("valid");
    let never = || std::sync::Arc::new(AtomicBool::new(false));
    let (first, id) = node
        .search("t", IndicesOptions::SEARCH, Placement::default(), &request, Some(60_000), never())
        .expect("a page");
    let id = id.expect("a scroll");
    let merge = ForceMergeRequest { max_num_segments: Some(1), flush: true, ..ForceMergeRequest::default() };
    assert_eq!(node.force_merge("t", IndicesOptions::BROADCAST, &merge).expect("merged").failed, 0);
    // Nothing of the old segments stays in memory, and their files are deleted.
    set(&node, json!({"indices.segment_memory.off_heap.size": "0b"}));
    set(&node, json!({"indices.segment_memory.off_heap.size": "10%"}));
    let loads_before = node.term_index_stats().load_count;
    let mut found = first.hits.len();
    loop {
        let page = node.scroll(&id, None, never()).expect("a page");
        assert!(page.shards.failures.is_empty(), "{:?}", page.shards.failures);
        if page.hits.is_empty() {
            break;
        }
        found += page.hits.len();
    }
    assert_eq!(found as u64, first.total.expect("counted").value);
    assert!(node.term_index_stats().load_count > loads_before, "pages were loaded anew");
}

fn look_up_once(node: &Node) -> usize {
    search(node, "t", json!({"ids": {"values": [id(5)]}})).len()
}

#[test]
fn a_budget_beyond_the_limit_is_refused() {
    let folder = folder();
    let node = open(folder.path());
    let key = "indices.segment_memory.off_heap.size";
    let refused = node.put_cluster_settings(&json!({"persistent": {key: "5gb"}})).expect_err("refused");
    assert_eq!((refused.class, refused.kind), (ErrorClass::BadRequest, "illegal_argument_exception"));
    assert!(refused.reason.contains("memory.limit") && refused.reason.contains("5gb"), "{}", refused.reason);
    for size in ["100%", "128mb", "0b", "1048576b"] {
        set(&node, json!({key: size}));
    }
    assert_eq!(node.term_index_stats().budget_bytes, 1 << 20);
    node.close();
    drop(node);
    let mut small = config(folder.path());
    small.memory_limit_bytes = 64 << 20;
    small.settings.insert(key.into(), "65mb".into());
    // A stored setting takes precedence over the configuration file, which is not checked then.
    assert_eq!(Node::open(small).expect("opens").term_index_stats().budget_bytes, 1 << 20);
    let other = self::folder();
    let mut wrong = config(other.path());
    wrong.settings.insert(key.into(), "257mb".into());
    assert!(Node::open(wrong).is_err_and(|error| error.reason.contains("memory.limit")));
}

fn segment_count(node: &Node) -> u64 {
    let request = StatsRequest { sections: vec!["segments".into()], ..StatsRequest::default() };
    number(&node.node_indices_stats(&request).expect("stats"), "/segments/count")
}

/// The policy of an index decides about its segments only while open segments leave memory for requests.
#[test]
fn segments_that_crowd_the_memory_are_merged_whatever_their_policy_says() {
    const FIELDS: usize = 400;
    let folder = folder();
    let mut small = config(folder.path());
    small.memory_limit_bytes = 32 << 20;
    let node = Node::open(small).expect("opens");
    let never =
        json!({"settings": {"index.merge.policy": {"max_merged_segment": "1b", "segments_per_tier": 1e9}}});
    node.create_index("t", &never).expect("created");
    let fields: serde_json::Map<String, Value> =
        (0..FIELDS).map(|number| (format!("f{number}"), json!("x"))).collect();
    let source = Value::Object(fields).to_string();
    for number in 0..40 {
        let id = id(number);
        let operations = [index("t", &id, source.as_bytes())];
        let request =
            BulkRequest { operations: &operations, pipeline: None, refresh: RefreshPolicy::Immediate };
        assert!(!node.bulk(request).expect("written").errors, "document {number}");
        node.maintain();
    }
    let count = segment_count(&node);
    let used = node.ledger().segments.used_bytes();
    assert!((2..30).contains(&count), "{count} segments, {used}");
    assert_eq!(search(&node, "t", json!({"term": {"f7": "x"}})).len(), 40);
}
