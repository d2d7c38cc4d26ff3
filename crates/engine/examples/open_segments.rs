//! Measures how long a data folder with many segments takes to open.
//!
//! ```text
//! cargo run --profile profiling -p limber-engine --example open_segments -- \
//!     [SEGMENTS] [DOCUMENTS_EACH] [ROUNDS]
//! ```

use std::time::Instant;

use limber_engine::*;
use serde_json::{Map, json};

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let at = |place: usize, default: usize| numbers.get(place).copied().unwrap_or(default);
    let (segment_count, documents_each, rounds) = (at(0, 1000), at(1, 1000), at(2, 5));
    let folder = std::env::temp_dir().join(format!("open_segments-{}", std::process::id()));
    let open = |off_heap: bool| {
        let mut settings = Map::new();
        settings.insert("cluster.routing.allocation.disk.threshold_enabled".into(), "false".into());
        settings.insert("indices.segment_memory.off_heap.enable".into(), off_heap.to_string().into());
        let config = NodeConfig {
            data_paths: vec![folder.clone()],
            memory_limit_bytes: 1 << 30,
            cluster_name: "example".into(),
            node_name: "node".into(),
            compat_version: "8.14.3".into(),
            settings,
            background_threads: false,
            search_processors: 1,
        };
        Node::open(config).expect("opens")
    };
    let node = open(true);
    node.create_index("t", &json!({"mappings": {"properties": {"k": {"type": "keyword"}}}}))
        .expect("created");
    for segment in 0..segment_count {
        // The ids follow no pattern, so that their FSTs become as large as possible.
        let id = |at: usize| {
            format!(
                "{:020x}",
                ((segment * documents_each + at + 1) as u128).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c)
            )
        };
        let ids: Vec<String> = (0..documents_each).map(id).collect();
        let sources: Vec<String> = ids.iter().map(|id| json!({"k": id}).to_string()).collect();
        let operations: Vec<_> = ids
            .iter()
            .zip(&sources)
            .map(|(id, source)| {
                let mut operation = BulkOperation::new(OperationKind::Index, "t", source.as_bytes());
                operation.id = Some(id.into());
                operation
            })
            .collect();
        let request =
            BulkRequest { operations: &operations, pipeline: None, refresh: RefreshPolicy::Immediate };
        assert!(!node.bulk(request).expect("written").errors);
    }
    node.close();
    drop(node);
    for off_heap in [true, false].repeat(rounds) {
        let start = Instant::now();
        let node = open(off_heap);
        let seconds = start.elapsed().as_secs_f64();
        let stats = node.term_index_stats();
        println!(
            "off_heap {off_heap}: {segment_count} segments of {documents_each} documents in {:.1} ms, {} loads, {} KiB of pages, {} KiB of tables",
            seconds * 1e3,
            stats.load_count,
            stats.resident_bytes >> 10,
            node.ledger().segments.used_bytes() >> 10,
        );
        node.close();
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}
