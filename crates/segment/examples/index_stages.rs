//! Measures the stages of indexing: CPU nanoseconds per document of http_logs by stage, on one thread, with
//! the program's allocator. Other documents need their mapping (the body of `mappings`).
//!
//! ```text
//! cargo run --release -p limber-segment --example index_stages -- \
//!     documents.ndjson [documents per segment] [rounds] [mapping.json]
//! ```
//!
//! `walk`: mapping walk into a sink that keeps nothing. `store`: ids, sources and the fields of every
//! document, without a walk. `fields`: what the values of the walk add to both. `write`: buffer to segment.
//! Each is the minimum over all segments, since other work on the machine only adds time. Then follow the
//! bytes per document that full buffers claim to hold, and the page faults per 1,000 documents of filling
//! and of writing buffers; both are means.

mod support;

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use limber_mapping::document::{self, Parsed, Scratch};
use limber_mapping::{Field, FieldSink, Mapping, MappingSettings, Nested, SpaceId};
use limber_segment::stored::StoredCodec;
use limber_segment::{Buffer, DocumentMeta, SegmentId, WriteIdentity};
use limber_store::FsDirectory;
use support::{MAPPING, auto_id, cpu_time};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments
        .first()
        .ok_or("usage: index_stages documents.ndjson [documents a segment] [rounds] [mapping.json]")?;
    let segment_docs: usize = arguments.get(1).map_or(Ok(250_000), |count| count.parse())?;
    let rounds: usize = arguments.get(2).map_or(Ok(3), |count| count.parse())?;

    let corpus = std::fs::read(path)?;
    let lines: Vec<&[u8]> = corpus.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let mapping = arguments.get(3).map_or(Ok(MAPPING.to_owned()), std::fs::read_to_string)?;
    let mapping = Mapping::parse(&serde_json::from_str(&mapping)?, &MappingSettings::default())?;
    let folder = std::env::temp_dir().join(format!("index-stages-{}", std::process::id()));
    let mut measured: Vec<[f64; 4]> = Vec::new();
    let mut memory = Memory::default();
    for _ in 0..rounds {
        for segment in lines.chunks_exact(segment_docs.min(lines.len())) {
            let stages = measure(segment, &mapping, &folder, &mut memory);
            std::fs::remove_dir_all(&folder)?;
            measured.push(stages?.map(|duration| duration.as_nanos() as f64 / segment.len() as f64));
        }
    }
    let [walk, store, feed, write] =
        [0, 1, 2, 3].map(|stage| measured.iter().map(|stages| stages[stage]).fold(f64::INFINITY, f64::min));
    println!(
        "walk {walk:.0}, store {store:.0}, fields {:.0}, write {write:.0}, all {:.0} ns a document",
        feed - walk - store,
        feed + write
    );
    let doc_count = (measured.len() * segment_docs.min(lines.len())) as f64;
    println!(
        "{:.0} bytes a document; page faults per 1,000 documents: filling {:.1}, writing {:.1}",
        memory.held_bytes as f64 / doc_count,
        memory.filling_faults as f64 * 1e3 / doc_count,
        memory.writing_faults as f64 * 1e3 / doc_count
    );
    Ok(())
}

/// Sums over all segments.
#[derive(Default)]
struct Memory {
    held_bytes: usize,
    filling_faults: u64,
    writing_faults: u64,
}

/// Returns the CPU time of the walk alone, of the buffer without a walk, of both together, and of writing
/// that buffer.
fn measure(
    lines: &[&[u8]],
    mapping: &Mapping,
    folder: &Path,
    memory: &mut Memory,
) -> Result<[Duration; 4], Box<dyn Error>> {
    let directory = FsDirectory::open(folder)?;
    let mut scratch = Scratch::new();
    let walked = timed(|| {
        lines
            .iter()
            .try_for_each(|source| document::parse(mapping, source, &mut scratch, &mut Nowhere).map(drop))
    })?;
    let mut buffer = Buffer::new(StoredCodec::Lz4);
    let stored = timed(|| feed(lines, &mut buffer, |_, _| Ok(Parsed::Done)))?;
    drop(buffer);
    let mut buffer = Buffer::new(StoredCodec::Lz4);
    let empty_faults = page_faults()?;
    let fed = timed(|| {
        feed(lines, &mut buffer, |source, sink| Ok(document::parse(mapping, source, &mut scratch, sink)?))
    })?;
    memory.held_bytes += buffer.memory_bytes();
    let full_faults = page_faults()?;
    let written = timed(|| buffer.write(&directory, SegmentId(1), mapping).map(drop))?;
    memory.filling_faults += full_faults - empty_faults;
    memory.writing_faults += page_faults()? - full_faults;
    Ok([walked, stored, fed, written])
}

fn feed(
    lines: &[&[u8]],
    buffer: &mut Buffer,
    mut walk: impl FnMut(&[u8], &mut Buffer) -> Result<Parsed, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    for (seq_no, source) in (0u64..).zip(lines) {
        let id = auto_id(seq_no);
        buffer.begin(
            &DocumentMeta {
                id: &id,
                routing: None,
                identity: WriteIdentity { seq_no, primary_term: 1, version: 1 },
            },
            source,
        );
        match walk(source, buffer)? {
            Parsed::Done => buffer.commit()?,
            Parsed::NeedsMapping => return Err("a field that the mapping does not know".into()),
        }
    }
    Ok(())
}

/// A sink that keeps nothing.
struct Nowhere;

impl FieldSink for Nowhere {
    fn term(&mut self, _: &Field, value: &[u8]) {
        black_box(value);
    }

    fn number(&mut self, _: &Field, value: i64) {
        black_box(value);
    }

    fn text(&mut self, _: &Field, value: &str) {
        black_box(value);
    }

    fn shape(&mut self, _: &Field, _: &[i64], bytes: &[u8]) {
        black_box(bytes);
    }

    fn begin_nested(&mut self, _: &Nested) {}

    fn end_nested(&mut self, _: &Nested) {}

    fn turn_to(&mut self, _: SpaceId) {}
}

/// Returns the CPU time of `work` on this thread, so that other work on the machine does not count (Linux).
fn timed<E: Into<Box<dyn Error>>>(work: impl FnOnce() -> Result<(), E>) -> Result<Duration, Box<dyn Error>> {
    let started = cpu_time()?;
    work().map_err(Into::into)?;
    Ok(cpu_time()? - started)
}

/// Returns the minor page faults of this thread so far (Linux, proc(5): the tenth field of `stat`).
fn page_faults() -> Result<u64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/thread-self/stat")?;
    let after_name = stat.rsplit(')').next().ok_or("an empty stat")?;
    Ok(after_name.split_whitespace().nth(7).ok_or("a short stat")?.parse()?)
}
