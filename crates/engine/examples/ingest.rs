//! Measures what an ingest pipeline costs per document:
//! `cargo run --profile profiling -p limber-engine --example ingest [BULKS [PIPELINE]]`.
//!
//! The pipelines (`log-copy` is the track's pipeline with `ingest_time_by_copy`) and the documents are those
//! of the built-in track `log_ingest`; a bulk holds 1,000 documents. Name one pipeline and few bulks to count
//! instructions.

use std::hint::black_box;
use std::time::Instant;

use limber_engine::ingest::{Metadata, Outcome, Registry, Runner, timestamp};
use serde_json::json;

const BULK_DOCUMENT_COUNT: usize = 1_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let bulk_count: usize = arguments.next().map_or(1_000, |count| count.parse().expect("a number of bulks"));
    let only = arguments.next();
    let registry = Registry::default();
    for (id, set) in [
        ("log-pipe", json!({ "field": "ingest_time", "value": "{{_ingest.timestamp}}" })),
        ("log-copy", json!({ "field": "ingest_time", "copy_from": "_ingest.timestamp" })),
    ] {
        let processors = json!([
            { "set": set },
            { "uppercase": { "field": "machine.os", "ignore_missing": true } },
            { "convert": { "field": "response", "type": "integer", "ignore_missing": true } },
            { "remove": { "field": "referer", "ignore_missing": true } },
        ]);
        registry.put(id, &json!({ "processors": processors })).expect("a valid pipeline");
    }
    registry.put("nothing", &json!({ "processors": [] })).expect("a valid pipeline");
    let grok = json!([{ "grok": { "field": "request", "patterns": ["%{WORD:verb} %{NOTSPACE:path} HTTP/%{NUMBER:version}"] } }]);
    registry.put("grok", &json!({ "processors": grok })).expect("a valid pipeline");

    let documents: Vec<String> = (0..BULK_DOCUMENT_COUNT)
        .map(|number| {
            format!(
                "{{\"@timestamp\":\"2025-10-16T10:{:02}:00Z\",\"clientip\":\"192.168.1.{}\",\"response\":{},\"request\":\"GET /api/users/{number} HTTP/1.1\",\
                 \"machine\":{{\"os\":\"linux\",\"ram\":8589934592}},\"referer\":\"https://example.com/login\"}}",
                number % 60,
                number % 256,
                [200, 301, 404, 500][number % 4],
            )
        })
        .collect();
    let bytes: usize = documents.iter().map(String::len).sum();
    println!("{} bytes a document", bytes / documents.len());
    for id in ["nothing", "log-pipe", "log-copy", "grok"] {
        if only.as_ref().is_some_and(|only| only != id) {
            continue;
        }
        let mut out = Vec::new();
        let start = Instant::now();
        for _ in 0..bulk_count {
            let snapshot = registry.snapshot();
            let now = timestamp(1_760_608_800_123_456_789);
            let mut runner = Runner::new(&snapshot, &now);
            out.clear();
            for document in &documents {
                let metadata = Metadata { index: "logs", version: Some(-3), ..Metadata::default() };
                let outcome = runner.run(&[id], metadata, document.as_bytes(), &mut out);
                assert!(matches!(outcome, Outcome::Changed(None)), "{outcome:?}");
            }
            black_box(&out);
        }
        let nanos = start.elapsed().as_nanos() as usize / (bulk_count * BULK_DOCUMENT_COUNT);
        println!("{id}: {nanos} ns a document");
    }
    println!("{:#}", registry.snapshot().stats());
}
