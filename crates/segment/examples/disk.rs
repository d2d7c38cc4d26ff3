//! Measures what an index takes on disk: indexes documents, merges the segments into one, and prints the
//! bytes per document of each part, what the merge cost, and what reading stored documents costs.
//!
//! ```text
//! cargo run --release -p limber-segment --example disk -- \
//!     documents.ndjson [documents per segment] [lz4|zstd] [mapping.json]
//! ```
//!
//! Ids are those that the server generates; with `ELASTICSEARCH_IDS` in the environment, those of
//! Elasticsearch. Without a mapping, documents are those of http_logs. Times are CPU nanoseconds or
//! microseconds.

mod support;

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use limber_mapping::document::{self, Parsed, Scratch};
use limber_mapping::{Mapping, MappingSettings};
use limber_segment::file::NO_FIELD;
use limber_segment::{
    Buffer, DocumentMeta, Segment, SegmentId, SegmentMeta, SegmentView, StoredCodec, StoredReader,
    WriteIdentity, merge,
};
use limber_store::term_index::TermIndexCache;
use limber_store::{Directory, FsDirectory};
use support::{MAPPING, auto_id, cpu_time, elasticsearch_id};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments
        .first()
        .ok_or("usage: disk documents.ndjson [documents a segment] [lz4|zstd] [mapping.json]")?;
    let segment_docs: usize = arguments.get(1).map_or(Ok(100_000), |count| count.parse())?;
    let codec = match arguments.get(2).map(String::as_str) {
        Some("zstd") => StoredCodec::Zstd,
        _ => StoredCodec::Lz4,
    };
    let corpus = std::fs::read(path)?;
    let lines: Vec<&[u8]> = corpus.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let mapping = arguments.get(3).map_or(Ok(MAPPING.to_owned()), std::fs::read_to_string)?;
    let mapping = Mapping::parse(&serde_json::from_str(&mapping)?, &MappingSettings::default())?;
    let folder = std::env::temp_dir().join(format!("limber-disk-{}", std::process::id()));
    let result = measure(&lines, &mapping, segment_docs, codec, &folder);
    std::fs::remove_dir_all(&folder)?;
    result
}

fn measure(
    lines: &[&[u8]],
    mapping: &Mapping,
    segment_docs: usize,
    codec: StoredCodec,
    folder: &Path,
) -> Result<(), Box<dyn Error>> {
    let directory: Arc<dyn Directory> = Arc::new(FsDirectory::open(folder)?);
    let cache = TermIndexCache::native();
    let each = |duration: Duration| duration.as_nanos() as f64 / lines.len() as f64;
    let started = cpu_time()?;
    let mut views = Vec::new();
    let mut bytes = 0;
    for (number, lines) in lines.chunks(segment_docs).enumerate() {
        let meta = index(lines, number * segment_docs, mapping, codec, &*directory, number as u64 + 1)?;
        bytes += meta.bytes;
        views.push(SegmentView { segment: Arc::new(Segment::open(&directory, &meta, &cache)?), live: None });
    }
    let indexed = cpu_time()? - started;
    println!(
        "{} documents in {} segments: {:.0} ns, {:.1} bytes a document",
        lines.len(),
        views.len(),
        each(indexed),
        bytes as f64 / lines.len() as f64
    );
    // The second merge is of what the first merged: its input is large and written by a merge.
    for id in [1_000, 1_001] {
        let started = cpu_time()?;
        let (meta, _) = merge(&views, &*directory, SegmentId(id), codec, None)?;
        let merged = cpu_time()? - started;
        let segment = Arc::new(Segment::open(&directory, &meta, &cache)?);
        println!(
            "merge: {:.0} ns, {:.1} bytes a document",
            each(merged),
            meta.bytes as f64 / lines.len() as f64
        );
        if id == 1_001 {
            print_parts(&segment);
        }
        read(&segment)?;
        views = vec![SegmentView { segment, live: None }];
    }
    Ok(())
}

fn id_of(number: u64) -> [u8; 20] {
    static IS_ELASTICSEARCH: LazyLock<bool> =
        LazyLock::new(|| std::env::var_os("ELASTICSEARCH_IDS").is_some());
    if *IS_ELASTICSEARCH { elasticsearch_id(number) } else { auto_id(number) }
}

fn index(
    lines: &[&[u8]],
    first: usize,
    mapping: &Mapping,
    codec: StoredCodec,
    directory: &dyn Directory,
    id: u64,
) -> Result<SegmentMeta, Box<dyn Error>> {
    let mut buffer = Buffer::new(codec);
    let mut scratch = Scratch::new();
    for (number, source) in (first as u64..).zip(lines) {
        let identity = WriteIdentity { seq_no: number, primary_term: 1, version: 1 };
        buffer.begin(&DocumentMeta { id: &id_of(number), routing: None, identity }, source);
        match document::parse(mapping, source, &mut scratch, &mut buffer)? {
            Parsed::Done => buffer.commit()?,
            Parsed::NeedsMapping => return Err("a field that the mapping does not know".into()),
        }
    }
    Ok(buffer.write(directory, SegmentId(id), mapping)?.0)
}

fn print_parts(segment: &Segment) {
    let mut parts: BTreeMap<(String, String), u64> = BTreeMap::new();
    for section in segment.file_sections() {
        let path = match section.field {
            NO_FIELD => "",
            number => &segment.fields()[number as usize].path,
        };
        *parts.entry((path.to_owned(), format!("{:?}", section.kind))).or_default() += section.len;
    }
    let mut parts: Vec<_> = parts.into_iter().collect();
    parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    for ((path, kind), bytes) in parts {
        let each = bytes as f64 / f64::from(segment.doc_count());
        if each >= 0.005 {
            println!("  {each:6.2}  {kind} {path}");
        }
    }
}

/// Measures what hits and scrolls read.
fn read(segment: &Segment) -> Result<(), Box<dyn Error>> {
    let doc_count = segment.doc_count();
    let scattered: Vec<u32> = (0..20_000u32)
        .map(|n| ((u64::from(n.wrapping_mul(0x9e37_79b9)) * u64::from(doc_count)) >> 32) as u32)
        .collect();
    let mut reader = StoredReader::new();
    let started = cpu_time()?;
    for &doc in &scattered {
        black_box(segment.document(doc, &mut reader)?.source.len());
    }
    let scattered_us = (cpu_time()? - started).as_secs_f64() * 1e6 / scattered.len() as f64;
    let started = cpu_time()?;
    for &doc in &scattered {
        let mut reader = StoredReader::new();
        black_box(segment.document(doc, &mut reader)?.source.len());
    }
    let single_us = (cpu_time()? - started).as_secs_f64() * 1e6 / scattered.len() as f64;
    let started = cpu_time()?;
    for &doc in &scattered {
        black_box(segment.id_and_routing(doc, &mut reader)?.0.len());
    }
    let id_us = (cpu_time()? - started).as_secs_f64() * 1e6 / scattered.len() as f64;
    let started = cpu_time()?;
    for doc in 0..doc_count {
        black_box(segment.document(doc, &mut reader)?.source.len());
    }
    let in_turn_ns = (cpu_time()? - started).as_nanos() as f64 / f64::from(doc_count);
    let probes: Vec<[u8; 20]> = scattered.iter().map(|&doc| id_of(u64::from(doc))).collect();
    let started = cpu_time()?;
    for id in &probes {
        black_box(segment.find_id(id)?);
    }
    let find_ns = (cpu_time()? - started).as_nanos() as f64 / probes.len() as f64;
    println!(
        "read: scattered {scattered_us:.1} us, each with a new reader {single_us:.1} us, ids {id_us:.2} us, in turn \
         {in_turn_ns:.0} ns a document; find_id {find_ns:.0} ns"
    );
    Ok(())
}
