//! Measures the cost of aggregations per document:
//! `cargo run --release -p limber-search --example aggregations`.
//!
//! One segment of documents like those of Rally's `http_logs`, one every few seconds; all aggregations run on
//! one thread.

use std::sync::Arc;
use std::time::Instant;

use limber_mapping::document::{self, Scratch};
use limber_mapping::{Mapping, MappingSettings};
use limber_search::{IndexRef, SearchContext, SearchRequest, ShardSettings, ShardSnapshot, UrlParameters};
use limber_segment::{Buffer, DocumentMeta, Segment, SegmentId, SegmentView, StoredCodec, WriteIdentity};
use limber_store::term_index::TermIndexCache;
use limber_store::{Directory, FsDirectory, Ledger};
use serde_json::{Value, json};

const DOCUMENT_COUNT: u64 = 1_000_000;

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let directory: Arc<dyn Directory> = Arc::new(FsDirectory::open(folder.path()).expect("opens"));
    let mapping = json!({ "properties": {
        "@timestamp": { "type": "date" }, "clientip": { "type": "ip" }, "status": { "type": "integer" }, "size": { "type": "integer" },
        "path": { "type": "keyword" }, "method": { "type": "keyword" },
    } });
    let mapping = Arc::new(Mapping::parse(&mapping, &MappingSettings::default()).expect("a sound mapping"));
    let mut buffer = Buffer::new(StoredCodec::Lz4);
    let mut scratch = Scratch::default();
    let mut random = 7u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    for number in 0..DOCUMENT_COUNT {
        let status = [200, 200, 200, 200, 304, 404, 500][next(7) as usize];
        let path = next(20_000).min(next(20_000));
        let source = format!(
            "{{\"@timestamp\":{},\"clientip\":\"10.{}.{}.{}\",\"status\":{status},\"size\":{},\"path\":\"/images/{path}.gif\",\"method\":\"GET\"}}",
            894_000_000_000 + number * 3_000,
            next(4),
            next(200),
            next(200),
            next(100_000),
        );
        let id = number.to_string();
        let meta = DocumentMeta {
            id: id.as_bytes(),
            routing: None,
            identity: WriteIdentity { seq_no: number, primary_term: 1, version: 1 },
        };
        buffer.begin(&meta, source.as_bytes());
        document::parse(&mapping, source.as_bytes(), &mut scratch, &mut buffer).expect("a sound document");
        buffer.commit().expect("commits");
    }
    let (meta, _) = buffer.write(&*directory, SegmentId(1), &mapping).expect("writes");
    let cache = TermIndexCache::native();
    let segment = Arc::new(Segment::open(&directory, &meta, &cache).expect("opens"));
    let shard = ShardSnapshot {
        index: Arc::new(IndexRef { name: "logs".to_owned(), uuid: "u".to_owned() }),
        shard: 0,
        mapping,
        segments: vec![SegmentView::new(segment)],
        settings: Arc::new(ShardSettings::default()),
        scripts: Default::default(),
        caches: None,
        documents: None,
        nested: None,
        hides_documents: false,
    };
    let hourly = json!({ "date_histogram": { "field": "@timestamp", "calendar_interval": "hour" } });
    let below = |outer: Value, inner: Value| {
        let mut outer = outer;
        outer["aggs"] = json!({ "below": inner });
        outer
    };
    let zoned =
        json!({ "field": "@timestamp", "calendar_interval": "hour", "time_zone": "America/New_York" });
    let ranges = json!([{ "to": 1000 }, { "from": 1000, "to": 50_000 }, { "from": 50_000 }]);
    let requests = [
        ("hourly date_histogram", hourly.clone()),
        ("hourly, New York", json!({ "date_histogram": zoned })),
        ("hourly > avg size", below(hourly.clone(), json!({ "avg": { "field": "size" } }))),
        ("hourly > terms status", below(hourly, json!({ "terms": { "field": "status" } }))),
        ("terms status", json!({ "terms": { "field": "status" } })),
        ("terms path (20,000)", json!({ "terms": { "field": "path" } })),
        (
            "terms path > stats size",
            below(json!({ "terms": { "field": "path" } }), json!({ "stats": { "field": "size" } })),
        ),
        ("terms clientip", json!({ "terms": { "field": "clientip" } })),
        ("histogram size", json!({ "histogram": { "field": "size", "interval": 1000 } })),
        ("range size", json!({ "range": { "field": "size", "ranges": ranges } })),
        ("sum size", json!({ "sum": { "field": "size" } })),
        ("stats size", json!({ "stats": { "field": "size" } })),
        ("cardinality clientip", json!({ "cardinality": { "field": "clientip" } })),
        ("cardinality size", json!({ "cardinality": { "field": "size" } })),
    ];
    let queries = [("all", json!({ "match_all": {} })), ("status 200", json!({ "term": { "status": 200 } }))];
    for (name, aggregation) in requests {
        for (query_name, query) in &queries {
            let body =
                json!({ "size": 0, "track_total_hits": false, "query": query, "aggs": { "a": aggregation } });
            let request = SearchRequest::parse(&body, &UrlParameters::default()).expect("a sound request");
            let mut best = f64::INFINITY;
            for _ in 0..5 {
                let context = SearchContext::new(Ledger::new(4 << 30), 0);
                let start = Instant::now();
                let response = limber_search::execute(std::slice::from_ref(&shard), &request, &context)
                    .expect("answers");
                assert!(response.aggregations.is_some());
                best = best.min(start.elapsed().as_secs_f64());
            }
            println!(
                "{name:28} {query_name:10} {:8.2} ms  {:6.2} ns a document",
                best * 1e3,
                best * 1e9 / DOCUMENT_COUNT as f64
            );
        }
    }
}
