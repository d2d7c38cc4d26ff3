//! Measures how fast documents become a segment: indexes the http_logs corpus on one thread (mapping walk,
//! buffer, segment).
//!
//! ```text
//! cargo run --release -p limber-segment --example index_http_logs -- \
//!     documents.ndjson [documents per segment] [rounds]
//! ```
//!
//! Prints nanoseconds of CPU per document for the walk with the buffer and for the write, and the segment's
//! bytes by section.

mod support;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use limber_mapping::document::{self, Parsed, Scratch};
use limber_mapping::{Mapping, MappingSettings};
use limber_segment::file::SegmentFile;
use limber_segment::postings::{WINDOW_DOCS, Want};
use limber_segment::stored::StoredCodec;
use limber_segment::{Buffer, DocumentMeta, NO_MORE_DOCS, Segment, SegmentId, WriteIdentity};
use limber_store::term_index::TermIndexCache;
use limber_store::{Directory, FsDirectory};
use support::{MAPPING, auto_id, cpu_time};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path =
        arguments.first().ok_or("usage: index_http_logs documents.ndjson [documents a segment] [rounds]")?;
    let segment_docs: usize = arguments.get(1).map_or(Ok(1_000_000), |count| count.parse())?;
    let rounds: usize = arguments.get(2).map_or(Ok(3), |count| count.parse())?;

    let corpus = std::fs::read(path)?;
    let lines: Vec<&[u8]> = corpus.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let mapping = Mapping::parse(&serde_json::from_str(MAPPING)?, &MappingSettings::default())?;
    let folder = std::env::temp_dir().join(format!("index-http-logs-{}", std::process::id()));
    for round in 0..rounds {
        let result = index(&lines, &mapping, segment_docs, &folder);
        std::fs::remove_dir_all(&folder)?;
        println!("round {round}: {}", result?);
    }
    Ok(())
}

fn index(lines: &[&[u8]], mapping: &Mapping, count: usize, folder: &Path) -> Result<String, Box<dyn Error>> {
    let directory: Arc<dyn Directory> = Arc::new(FsDirectory::open(folder)?);
    let mut buffer = Buffer::new(StoredCodec::Lz4);
    let mut scratch = Scratch::new();
    let started = cpu_time()?;
    for seq_no in 0..count {
        let source = lines[seq_no % lines.len()];
        let id = auto_id(seq_no as u64);
        let (seq_no, primary_term, version) = (seq_no as u64, 1, 1);
        buffer.begin(
            &DocumentMeta {
                id: &id,
                routing: None,
                identity: WriteIdentity { seq_no, primary_term, version },
            },
            source,
        );
        match document::parse(mapping, source, &mut scratch, &mut buffer)? {
            Parsed::Done => buffer.commit()?,
            Parsed::NeedsMapping => return Err("a field that the mapping does not know".into()),
        }
    }
    let fed = cpu_time()? - started;
    let memory_bytes = buffer.memory_bytes();
    let started = cpu_time()?;
    let (meta, _) = buffer.write(&*directory, SegmentId(1), mapping)?;
    let written = cpu_time()? - started;
    let cache = TermIndexCache::native();
    let segment = Segment::open(&directory, &meta, &cache)?;
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    for section in SegmentFile::open(&*directory, &meta)?.sections() {
        *sizes.entry(format!("{:?}", section.kind)).or_default() += section.len;
    }
    let probes: Vec<[u8; 20]> =
        (0..100_000u64).map(|i| auto_id(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % count as u64)).collect();
    let started = cpu_time()?;
    for id in &probes {
        segment.find_id(id)?.ok_or("an id was not found again")?;
    }
    let id_found_ns = (cpu_time()? - started).as_nanos() as f64 / probes.len() as f64;
    let reads = read(&segment)?;
    let each = |duration: Duration| duration.as_nanos() as f64 / count as f64;
    Ok(format!(
        "{count} documents, walk + buffer {:.0} ns, write {:.0} ns, all {:.0} ns a document; buffer {:.1} MB, segment {:.1} MB; find_id {id_found_ns:.0} ns; {sizes:?}{reads}",
        each(fed),
        each(written),
        each(fed + written),
        memory_bytes as f64 / 1e6,
        meta.bytes as f64 / 1e6,
    ))
}

/// Measures nanoseconds per posting for the most frequent terms of `request`.
fn read(segment: &Segment) -> Result<String, Box<dyn Error>> {
    let terms = segment.terms("request")?.ok_or("no terms")?;
    let mut by_freq = Vec::new();
    let mut cursor = terms.cursor();
    while let Some((term, info)) = cursor.next()? {
        by_freq.push((info.doc_freq, term.to_vec(), info));
    }
    by_freq.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.0));
    let mut report = String::new();
    for (doc_freq, term, info) in by_freq.iter().step_by(3).take(6) {
        let open = |want| segment.postings("request", info, want).map_err(Box::<dyn Error>::from);
        let each = |ns: u128| ns as f64 / *doc_freq as f64;
        let next_ns = each(fastest(|| {
            let (mut postings, mut sum) = (open(Want::Docs)?, 0);
            while postings.doc() != NO_MORE_DOCS {
                sum += postings.doc() as u64;
                postings.next();
            }
            Ok(sum)
        })?);
        let freqs_ns = each(fastest(|| {
            let (mut postings, mut sum) = (open(Want::Freqs)?, 0);
            while postings.doc() != NO_MORE_DOCS {
                sum += postings.block_freqs().iter().map(|&freq| freq as u64).sum::<u64>();
                postings.next_block();
            }
            Ok(sum)
        })?);
        let bits_ns = each(fastest(|| {
            let (mut postings, mut window) = (open(Want::Docs)?, [0; 64]);
            while postings.doc() != NO_MORE_DOCS {
                postings.fill_bitset(postings.doc() / WINDOW_DOCS * WINDOW_DOCS, &mut window);
            }
            Ok(window[0])
        })?);
        let positions_ns = each(fastest(|| {
            let (mut postings, mut positions, mut sum) = (open(Want::Positions)?, Vec::new(), 0);
            while postings.doc() != NO_MORE_DOCS {
                postings.positions(&mut positions);
                sum += positions.len() as u64;
                postings.next();
            }
            Ok(sum)
        })?);
        let mut leaps = 0;
        let leap_ns = fastest(|| {
            leaps = 0;
            let mut postings = open(Want::Docs)?;
            while postings.doc() != NO_MORE_DOCS {
                postings.advance(postings.doc() + 1000);
                leaps += 1;
            }
            Ok(leaps)
        })? / leaps as u128;
        let term = String::from_utf8_lossy(term);
        report += &format!(
            "\n  {term:12} {doc_freq:8}: next {next_ns:.2}, block freqs {freqs_ns:.2}, bit set {bits_ns:.2}, positions \
             {positions_ns:.1}, leap of 1000 {leap_ns}"
        );
    }
    Ok(report)
}

/// Returns the wall-clock nanoseconds of the fastest of several runs.
fn fastest(mut run: impl FnMut() -> Result<u64, Box<dyn Error>>) -> Result<u128, Box<dyn Error>> {
    let mut best = u128::MAX;
    for _ in 0..15 {
        let started = Instant::now();
        std::hint::black_box(run()?);
        best = best.min(started.elapsed().as_nanos());
    }
    Ok(best)
}
