//! Long writes and openings beside others: a bulk is cut into parts without a visible difference, and opening an
//! index refuses no more than the start.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{config, environment, get};
use limber_engine::environment::Clock;
use limber_engine::*;
use limber_store::CrashDisk;
use limber_work::Work;
use serde_json::json;

/// A clock that jumps ahead at each reading, so that everything seems to take long.
#[derive(Default)]
struct SlowClock(AtomicU64);

impl Clock for SlowClock {
    fn now_millis(&self) -> u64 {
        1_700_000_000_000
    }

    fn monotonic_nanos(&self) -> u64 {
        self.0.fetch_add(100_000_000, Ordering::Relaxed)
    }
}

fn opened(disk: &CrashDisk) -> Arc<Node> {
    let environment = environment(Arc::<SlowClock>::default(), Arc::new(disk.clone()), 1);
    Node::open_with(config(Path::new("/crash")), environment).expect("opens")
}

#[test]
fn a_slow_bulk_gives_the_same_results_in_the_same_order() {
    let disk = CrashDisk::new(1);
    let node = opened(&disk);
    node.create_index("a", &json!({"settings": {"number_of_shards": 1}})).expect("created");
    let large = format!(r#"{{"t":"{}"}}"#, "x ".repeat(20_000));
    let sources: Vec<String> =
        (0..40).map(|n| if n % 7 == 3 { large.clone() } else { json!({"n": n}).to_string() }).collect();
    let ids: Vec<String> = (0..40).map(|n| (n % 25).to_string()).collect();
    let mut operations = Vec::new();
    for (number, (id, source)) in ids.iter().zip(&sources).enumerate() {
        operations.push(match number {
            30 => common::delete("a", id),
            // An operation with a generated id, in the middle of others.
            20 => BulkOperation::new(OperationKind::Index, "a", source.as_bytes()),
            _ => common::index("a", id, source.as_bytes()),
        });
    }
    let request = BulkRequest { operations: &operations, pipeline: None, refresh: RefreshPolicy::None };
    let response = node.bulk(request).expect("answers");
    assert!(!response.errors);
    let check = |node: &Node| {
        for (number, id) in ids.iter().enumerate().filter(|(number, _)| *number >= 15 && *number != 20) {
            let found = get(node, "a", id);
            let expected = (number != 30).then(|| serde_json::from_str(&sources[number]).expect("JSON"));
            assert_eq!(found.map(|(_, source)| source), expected, "{number}");
        }
    };
    check(&node);
    drop(node);
    disk.crash();
    check(&opened(&disk));
}

#[test]
fn an_index_with_more_filters_than_a_request_may_declare_opens_and_takes_changes() {
    let temporary = tempfile::tempdir().expect("tempdir");
    let node = common::open(temporary.path());
    let filters = vec!["lowercase"; 1_001];
    let analysis = json!({"analyzer": {"long": {"tokenizer": "standard", "filter": filters}}});
    let body = json!({
        "settings": {"number_of_shards": 1, "analysis": analysis},
        "mappings": {"properties": {"t": {"type": "text", "analyzer": "long"}}},
    });
    // Outside of a request nothing is refused, as in an earlier build.
    node.create_index("a", &body).expect("created");
    node.close_index("a", IndicesOptions::METADATA).expect("closed");
    let _request = Work::default().enter();
    let error = node.create_index("b", &body).expect_err("refused");
    assert!(error.reason.contains("at most [1000] are supported"), "{error}");
    node.put_mapping(
        "a",
        IndicesOptions::METADATA_OPEN_CLOSED,
        false,
        &json!({"properties": {"k": {"type": "keyword"}}}),
    )
    .expect("a closed index takes fields");
    node.put_settings(
        "a",
        IndicesOptions::METADATA_OPEN_CLOSED,
        &json!({"index.refresh_interval": "5s"}),
        false,
    )
    .expect("a closed index takes settings");
    let more = json!({"index.analysis.analyzer.longer": {"tokenizer": "standard", "filter": filters}});
    let error =
        node.put_settings("a", IndicesOptions::METADATA_OPEN_CLOSED, &more, false).expect_err("refused");
    assert!(error.reason.contains("at most [1000] are supported"), "{error}");
    assert!(node.open_index("a", IndicesOptions::METADATA).expect("opened"));
    node.put_settings(
        "a",
        IndicesOptions::METADATA_OPEN_CLOSED,
        &json!({"index.refresh_interval": "6s"}),
        false,
    )
    .expect("an open index takes settings");
}

#[test]
fn a_bulk_whose_client_has_gone_creates_no_further_index() {
    let temporary = tempfile::tempdir().expect("tempdir");
    let node = common::open(temporary.path());
    let work = Work::default();
    work.cancelled.store(true, Ordering::Relaxed);
    let request = work.enter();
    // A deletion with a version of its own creates a missing index, and goes through no pipeline.
    let mut delete = BulkOperation::new(OperationKind::Delete, "missing", b"");
    (delete.id, delete.version, delete.version_type) = (Some("1".into()), Some(1), VersionType::External);
    let operations = [delete];
    let bulk = BulkRequest { operations: &operations, pipeline: None, refresh: RefreshPolicy::None };
    let error = node.bulk(bulk).map(drop).expect_err("cancelled");
    assert_eq!(error.kind, "task_cancelled_exception");
    drop(request);
    let found = node.resolve("missing", IndicesOptions::METADATA).map(drop).expect_err("not created");
    assert_eq!(found.kind, "index_not_found_exception");
}
