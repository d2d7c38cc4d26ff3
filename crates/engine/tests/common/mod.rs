//! A node on a temporary folder, without background threads.

#![allow(dead_code)]

pub mod hooked;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use limber_engine::environment::{Clock, Environment, ManualClock, SeededRandomness};
use limber_engine::*;
use limber_search::{SearchRequest, UrlParameters};
use limber_store::{CrashDisk, Disk};
use serde_json::{Map, Value, json};

pub fn config(path: &Path) -> NodeConfig {
    let mut settings = Map::new();
    settings.insert("action.destructive_requires_name".into(), "false".into());
    // The tests must not depend on how full the machine's disk is.
    settings.insert("cluster.routing.allocation.disk.threshold_enabled".into(), "false".into());
    NodeConfig {
        data_paths: vec![path.to_owned()],
        memory_limit_bytes: 256 << 20,
        cluster_name: "test".into(),
        node_name: "node".into(),
        compat_version: "8.14.3".into(),
        settings,
        background_threads: false,
        search_processors: 2,
    }
}

pub fn open(path: &Path) -> Arc<Node> {
    Node::open(config(path)).expect("opens")
}

/// Opens a node on a simulated disk, at a fixed time, with random numbers from a seed.
pub fn open_on(disk: &CrashDisk, seed: u64) -> Result<Arc<Node>> {
    let clock = Arc::new(ManualClock::at(1_700_000_000_000));
    Node::open_with(config(Path::new("/crash")), environment(clock, Arc::new(disk.clone()), seed))
}

pub fn environment(clock: Arc<dyn Clock>, disk: Arc<dyn Disk>, seed: u64) -> Environment {
    Environment { clock, randomness: Arc::new(SeededRandomness::new(seed)), disk }
}

pub fn index<'a>(index: &'a str, id: &'a str, source: &'a [u8]) -> BulkOperation<'a> {
    let mut operation = BulkOperation::new(OperationKind::Index, index, source);
    operation.id = Some(id.into());
    operation
}

pub fn delete<'a>(index: &'a str, id: &'a str) -> BulkOperation<'a> {
    let mut operation = BulkOperation::new(OperationKind::Delete, index, b"");
    operation.id = Some(id.into());
    operation
}

pub fn update<'a>(index: &'a str, id: &'a str, body: &'a [u8]) -> BulkOperation<'a> {
    let mut operation = BulkOperation::new(OperationKind::Update, index, body);
    operation.id = Some(id.into());
    operation
}

pub fn write(node: &Node, operation: BulkOperation<'_>) -> Result<WriteResponse> {
    node.write(operation, RefreshPolicy::None, None)
}

/// Returns `(_id, _source)` of all hits, sorted by id.
pub fn search(node: &Node, expression: &str, query: Value) -> Vec<(String, Value)> {
    let body = json!({"query": query, "size": 10_000});
    let request = SearchRequest::parse(&body, &UrlParameters::default()).expect("valid");
    let (response, _) = node
        .search(
            expression,
            IndicesOptions::SEARCH,
            Placement::default(),
            &request,
            None,
            Arc::new(AtomicBool::new(false)),
        )
        .expect("searches");
    assert!(response.shards.failures.is_empty(), "{:?}", response.shards.failures);
    let mut hits: Vec<(String, Value)> = response
        .hits
        .iter()
        .map(|hit| {
            let source = hit.source.as_deref().expect("source");
            (hit.id.clone().expect("id"), serde_json::from_slice(source).expect("JSON"))
        })
        .collect();
    hits.sort_by(|a, b| a.0.cmp(&b.0));
    hits
}

pub fn get(node: &Node, name: &str, id: &str) -> Option<(u64, Value)> {
    let response = node.get(&GetRequest::new(name, id)).expect("gets");
    response.found.map(|found| (found.identity.version, serde_json::from_slice(&found.source).expect("JSON")))
}
