//! Measures the walker and the tokenizer: nanoseconds per document, and per token.
//!
//! ```text
//! zstd -dc /path/to/http_logs/documents.ndjson.zst > /tmp/logs.ndjson
//! cargo run --release -p limber-mapping --example walk -- /tmp/logs.ndjson
//! ```

use std::hint::black_box;
use std::time::Instant;

use limber_mapping::analysis::Analyzers;
use limber_mapping::document::{Scratch, parse};
use limber_mapping::testing::NullSink;
use limber_mapping::{Mapping, MappingSettings};
use serde_json::{Value, json};

const ROUNDS: usize = 7;

fn main() {
    let path = std::env::args().nth(1).expect("the path of an NDJSON file of http_logs");
    let bytes = std::fs::read(&path).expect("the file is readable");
    let documents: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    println!("{} documents, {} bytes each", documents.len(), bytes.len() / documents.len());

    let plain = json!({"dynamic": "strict", "properties": {
        "@timestamp": {"type": "date", "format": "strict_date_optional_time||epoch_second"},
        "clientip": {"type": "ip"},
        "request": {"type": "text"},
        "status": {"type": "integer"},
        "size": {"type": "integer"},
    }});
    let mut raw = plain.clone();
    raw["properties"]["request"]["fields"] = json!({"raw": {"type": "keyword", "ignore_above": 256}});
    walk("http_logs", &plain, &documents);
    walk("http_logs with request.raw", &raw, &documents);

    let built: Vec<String> = documents.iter().map(|document| access_log(document)).collect();
    let built: Vec<&[u8]> = built.iter().map(|document| document.as_bytes()).collect();
    walk(
        "log_ingest",
        &json!({"properties": {
            "@timestamp": {"type": "date"},
            "clientip": {"type": "ip"},
            "response": {"type": "integer"},
            "request": {"type": "text"},
            "machine": {"properties": {"os": {"type": "keyword"}, "ram": {"type": "long"}}},
            "referer": {"type": "keyword"},
        }}),
        &built,
    );

    let requests: Vec<String> = documents
        .iter()
        .map(|document| {
            serde_json::from_slice::<Value>(document).expect("JSON")["request"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    let analyzers = Analyzers::built_in();
    for name in ["standard", "whitespace", "simple", "english"] {
        let analyzer = analyzers.get(name).expect("built in");
        let mut best = f64::MAX;
        let mut tokens = 0u64;
        for _ in 0..ROUNDS {
            tokens = 0;
            let mut folded = 0u64;
            let start = Instant::now();
            for request in &requests {
                analyzer.tokens(request, |token| {
                    tokens += 1;
                    folded ^= token.text.len() as u64;
                });
            }
            best = best.min(start.elapsed().as_nanos() as f64 / tokens as f64);
            black_box(folded);
        }
        println!("{name}: {best:.1} ns a token, {:.1} tokens a value", tokens as f64 / requests.len() as f64);
    }
}

fn walk(name: &str, mapping: &Value, documents: &[&[u8]]) {
    let mapping = Mapping::parse(mapping, &MappingSettings::default()).expect("a mapping");
    let mut scratch = Scratch::new();
    let mut sink = NullSink::default();
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for document in documents {
            parse(&mapping, document, &mut scratch, &mut sink).expect("a document");
        }
        best = best.min(start.elapsed().as_nanos() as f64 / documents.len() as f64);
    }
    black_box(sink.folded);
    let bytes: usize = documents.iter().map(|document| document.len()).sum();
    let size = bytes as f64 / documents.len() as f64;
    println!("{name}: {best:.0} ns a document of {size:.0} bytes, {:.0} MB/s", size / best * 1000.0);
}

/// Returns the same request in the shape of the built-in track's documents.
fn access_log(document: &[u8]) -> String {
    let value: Value = serde_json::from_slice(document).expect("JSON");
    json!({
        "@timestamp": "2025-10-16T10:00:00Z",
        "clientip": value["clientip"],
        "response": value["status"],
        "request": value["request"],
        "machine": {"os": "linux", "ram": 8_589_934_592u64},
        "referer": "https://example.com/login",
    })
    .to_string()
}
