//! Measures a column, a points index and a merge:
//! `cargo run --release -p limber-segment --example column_costs [rows] [columns|merges]`.
//!
//! Columns: wall clock, best of several runs. Merges: CPU time of the merging thread (Linux). The data is
//! that of a web log (timestamps, statuses, sizes).

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use limber_mapping::Representation;
use limber_segment::columns::{Batch, ColumnWriter, NumberColumn, OrdinalColumn};
use limber_segment::file::{SectionKind, SegmentWriter};
use limber_segment::points::{Points, PointsWriter};
use limber_segment::postings::{FieldSinks, FieldWriter, IndexOptions};
use limber_segment::stored::StoredWriter;
use limber_segment::{FieldInfo, LiveDocs, Segment, SegmentId, SegmentView, StoredCodec, merge};
use limber_store::term_index::TermIndexCache;
use limber_store::{Directory, FsDirectory};

fn random(n: u64) -> u64 {
    let mut mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 27)
}

fn time(n: u64) -> i64 {
    893_964_617_000 + (n / 24) as i64 * 1000
}

fn status(n: u64) -> i64 {
    match random(n) % 100 {
        0..83 => 200,
        83..97 => 304,
        97..99 => 404,
        _ => 500,
    }
}

fn size(n: u64) -> i64 {
    (random(n ^ 77) % (1 << (1 + random(n ^ 99) % 16))) as i64
}

fn price(n: u64) -> i64 {
    (random(n) % 10_000) as f64 as i64 * 1_000_003
}

/// Returns the best of several runs, in nanoseconds per row.
fn best(rows: usize, mut run: impl FnMut() -> u64) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..7 {
        let start = Instant::now();
        black_box(run());
        best = best.min(start.elapsed().as_nanos() as f64);
    }
    best / rows as f64
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows: usize = std::env::args().nth(1).map_or(Ok(4_000_000), |rows| rows.parse())?;
    let part = std::env::args().nth(2).unwrap_or_default();
    if part != "merges" {
        columns(rows)?;
    }
    if part != "columns" {
        merges(rows / 8)?;
    }
    Ok(())
}

fn columns(rows: usize) -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "{:<8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10}",
        "column", "write", "B/row", "blocks", "groups", "run", "1 in 2", "1 in 20", "get"
    );
    for (name, value) in
        [("time", time as fn(u64) -> i64), ("status", status), ("size", size), ("wide", price)]
    {
        let values: Vec<i64> = (0..rows as u64).map(value).collect();
        let mut bytes = Vec::new();
        let write = best(rows, || {
            bytes.clear();
            let mut writer = ColumnWriter::new();
            writer
                .push_run(0, &values, &mut bytes)
                .and_then(|()| writer.finish(rows as u32, &mut bytes))
                .is_ok() as u64
        });
        let column = NumberColumn::open(&bytes)?;
        let mut block = [0i64; 128];
        let blocks = best(rows, || {
            let mut sum = 0i64;
            for number in 0..column.block_count() {
                let len = column.read_block(number, &mut block).unwrap_or(0);
                sum = sum.wrapping_add(block[..len].iter().sum::<i64>());
            }
            sum as u64
        });
        let mut group = Box::new([0i64; 4096]);
        let groups = best(rows, || {
            let mut sum = 0i64;
            for number in 0..rows.div_ceil(4096) {
                let len = column.read_group(number, &mut group).unwrap_or(0);
                sum = sum.wrapping_add(group[..len].iter().sum::<i64>());
            }
            sum as u64
        });
        let gather = |step: usize| {
            let docs: Vec<u32> = match step {
                1 => (0..rows as u32).collect(),
                _ => (0..rows as u32).filter(|n| random(u64::from(*n)).is_multiple_of(step as u64)).collect(),
            };
            let mut batch = Batch::default();
            best(docs.len(), || {
                let mut sum = 0i64;
                for docs in docs.chunks(4096 / step) {
                    if column.gather(docs, &mut batch).is_ok() {
                        sum = sum.wrapping_add(batch.values.iter().sum::<i64>());
                    }
                }
                sum as u64
            })
        };
        let (run, half, sparse) = (gather(1), gather(2), gather(20));
        let get = best(100_000, || {
            let docs = (0..100_000u64).map(|n| (random(n) % rows as u64) as u32);
            docs.map(|doc| column.get(doc).ok().flatten().unwrap_or(0) as u64).fold(0, u64::wrapping_add)
        });
        let size = bytes.len() as f64 / rows as f64;
        println!(
            "{name:<8} {write:>8.2}n {size:>9.3} {blocks:>8.3}n {groups:>8.3}n {run:>8.3}n {half:>8.3}n {sparse:>8.2}n {get:>9.1}n"
        );
        if name == "size" {
            let ordinals = OrdinalColumn::open(&bytes)?;
            let mut group = Box::new([0u32; 4096]);
            let scan = best(rows, || {
                let mut sum = 0u32;
                for number in 0..rows.div_ceil(4096) {
                    let len = ordinals.read_group(number, &mut group).unwrap_or(0);
                    sum = sum.wrapping_add(group[..len].iter().fold(0, |sum, ord| sum.wrapping_add(*ord)));
                }
                u64::from(sum)
            });
            println!("{:<8} {:>9} {:>9} {:>9} {scan:>8.3}n", "as u32", "", "", "");
        }
        points(name, &values, &bytes)?;
    }
    Ok(())
}

fn points(name: &str, values: &[i64], column: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    let rows = values.len();
    let mut bytes = Vec::new();
    let start = Instant::now();
    let mut writer = PointsWriter::with_capacity(rows);
    values.iter().zip(0..).for_each(|(value, doc)| writer.push(doc, *value));
    let summary = {
        let mut writer = ColumnWriter::new();
        let mut scratch = Vec::new();
        writer.push_run(0, values, &mut scratch)?;
        writer.finish(rows as u32, &mut scratch)?
    };
    writer.finish(rows as u32, Some(&summary), &mut bytes)?;
    let write = start.elapsed().as_nanos() as f64 / rows as f64;
    let points = Points::open(&bytes, Some(NumberColumn::open(column)?))?;
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    for share in [0.01, 0.22, 0.9] {
        let (low, high) =
            (sorted[rows / 20], sorted[rows / 20 + ((rows - 1 - rows / 20) as f64 * share) as usize]);
        let count = best(1, || points.count(low..=high).unwrap_or(0));
        let mut bits = vec![0u64; rows.div_ceil(64)];
        let hits = points.count(low..=high)?;
        let fill = best(hits.max(1) as usize, || {
            bits.fill(0);
            points.fill_bits(low..=high, &mut bits).is_ok() as u64
        });
        println!(
            "  points {name}: write {write:.1} ns, {:.3} B/row; {hits} hits: count {:.2} µs, bits {fill:.2} ns a hit",
            bytes.len() as f64 / rows as f64,
            count / 1000.0
        );
    }
    Ok(())
}

/// Returns the CPU time of this thread so far in nanoseconds; 0 if the system does not report it.
fn cpu_ns() -> u64 {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    schedule.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

/// Merges four segments of a small log into one, without and with deletes.
fn merges(rows: usize) -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("limber-columns-{}", std::process::id()));
    let directory: Arc<dyn Directory> = Arc::new(FsDirectory::open(&folder)?);
    let cache = TermIndexCache::native();
    let mut views = Vec::new();
    for part in 0..4u64 {
        let meta = segment(&*directory, SegmentId(part), rows as u64 * part, rows as u64)?;
        views.push(SegmentView::new(Arc::new(Segment::open(&directory, &meta, &cache)?)));
    }
    let total = rows * 4;
    for with_deletes in [false, true] {
        let mut views = views.clone();
        if with_deletes {
            for view in &mut views {
                let mut live = LiveDocs::all(rows as u32);
                (0..rows as u32).filter(|doc| random(u64::from(*doc)).is_multiple_of(20)).for_each(|doc| {
                    live.delete(doc);
                });
                view.live = Some(Arc::new(live));
            }
        }
        for codec in [StoredCodec::Lz4, StoredCodec::Zstd] {
            let id = SegmentId(100 + u64::from(with_deletes) * 2 + codec as u64);
            // A thread of its own, so that its CPU time and its profile can be told from the rest.
            let work = || merge(&views, &*directory, id, codec, None).map(|(meta, _)| (meta, cpu_ns()));
            let (meta, cpu_ns) = std::thread::scope(|scope| {
                let thread =
                    std::thread::Builder::new().name("merge".to_owned()).spawn_scoped(scope, work)?;
                thread
                    .join()
                    .map_err(|_| std::io::Error::other("the merge panicked"))?
                    .map_err(std::io::Error::other)
            })?;
            let ns = cpu_ns as f64 / total as f64;
            let bytes = meta.bytes as f64 / f64::from(meta.doc_count);
            println!(
                "merge of 4, {total} docs, deletes {with_deletes}, {codec:?}: {ns:.0} ns/doc, {bytes:.1} B/doc"
            );
            for file in &meta.files {
                println!("    {} {:.2} B/doc", file.name, file.len as f64 / f64::from(meta.doc_count));
            }
            let merged = Segment::open(&directory, &meta, &cache)?;
            let start = Instant::now();
            let report = merged.check();
            assert!(report.is_sound(), "{:?}", report.problems);
            println!("    check {:.0} ns/doc", start.elapsed().as_nanos() as f64 / total as f64);
        }
    }
    drop(views);
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Writes a segment of a web log's documents: `_id`, time, status, size, clientip (keyword), request
/// (text), source.
fn segment(
    directory: &dyn Directory,
    id: SegmentId,
    first: u64,
    rows: u64,
) -> limber_segment::Result<limber_segment::SegmentMeta> {
    let mut writer = SegmentWriter::new(directory, id);
    let mut fields = Vec::new();
    let info = |path: &str, representation, column, text| FieldInfo {
        spatial: false,
        path: path.into(),
        representation,
        index: true,
        column,
        norms: text,
        frequencies: text,
        positions: text,
    };
    for (path, value) in [("time", time as fn(u64) -> i64), ("status", status), ("size", size)] {
        let number = fields.len() as u32;
        fields.push(info(path, Representation::Number, true, false));
        let values: Vec<i64> = (first..first + rows).map(value).collect();
        let mut section = writer.begin(SectionKind::Column, number);
        let mut column = ColumnWriter::new();
        column.push_run(0, &values, &mut section)?;
        let summary = column.finish(rows as u32, &mut section)?;
        writer.end(section);
        let mut points = PointsWriter::with_capacity(rows as usize);
        values.iter().zip(0..).for_each(|(value, doc)| points.push(doc, *value));
        let mut section = writer.begin(SectionKind::Points, number);
        points.finish(rows as u32, Some(&summary), &mut section)?;
        writer.end(section);
    }
    let ids: Vec<String> = (first..first + rows).map(|n| format!("{:016x}", random(n ^ 12345))).collect();
    let hosts: Vec<String> = (first..first + rows)
        .map(|n| random(n % 7 * 1000 + random(n) % 20_000))
        .map(|ip| format!("{}.{}.{}.0", ip % 200, ip >> 8 & 255, ip >> 16 & 255))
        .collect();
    let words = ["get", "images", "french", "html", "gif", "http", "1", "0", "english", "nav", "bg", "news"];
    let texts: Vec<Vec<String>> = (first..first + rows)
        .map(|n| {
            let mut text: Vec<String> = (0..7)
                .map(|at| words[(random(n * 8 + at) % 12).min(random(n + at) % 12) as usize].to_owned())
                .collect();
            text.push(format!("page{}", random(n) % 30_000));
            text
        })
        .collect();
    for (path, terms, is_text) in
        [("_id", wrap(&ids), false), ("clientip", wrap(&hosts), false), ("request", texts.clone(), true)]
    {
        let number = fields.len() as u32;
        let column = path == "clientip";
        let representation = if is_text { Representation::Text } else { Representation::Terms };
        fields.push(info(path, representation, column, is_text));
        inverted(&mut writer, number, &terms, is_text, column, path == "_id")?;
    }
    let mut stored = StoredWriter::new(StoredCodec::Lz4);
    for (index, n) in (first..first + rows).enumerate() {
        let source = format!(
            r#"{{"@timestamp":{},"clientip":"{}","request":"GET /{} HTTP/1.0","status":{},"size":{}}}"#,
            time(n) / 1000,
            hosts[index],
            texts[index].join("/"),
            status(n),
            size(n)
        );
        stored.push(ids[index].as_bytes(), None, source.as_bytes())?;
    }
    stored.write(&mut writer)?;
    writer.finish(&fields, rows as u32, None)
}

fn wrap(terms: &[String]) -> Vec<Vec<String>> {
    terms.iter().map(|term| vec![term.clone()]).collect()
}

fn inverted(
    writer: &mut SegmentWriter<'_>,
    number: u32,
    docs: &[Vec<String>],
    is_text: bool,
    column: bool,
    is_id: bool,
) -> limber_segment::Result<()> {
    let mut tokens: Vec<(&str, u32, u32)> = Vec::new();
    for (doc, terms) in (0u32..).zip(docs) {
        tokens.extend(terms.iter().zip(0..).map(|(term, position)| (term.as_str(), doc, position)));
    }
    tokens.sort_unstable();
    let norms: Option<Vec<u8>> =
        is_text.then(|| docs.iter().map(|terms| limber_codec::norm::encode(terms.len() as u32)).collect());
    if let Some(norms) = &norms {
        writer.put(SectionKind::Norms, number, &limber_segment::norms::encode(norms))?;
    }
    let mut sections =
        [SectionKind::Terms, SectionKind::TermIndex, SectionKind::Postings, SectionKind::Positions]
            .map(|kind| writer.begin(kind, number));
    let [terms, index, postings, positions] = &mut sections;
    let options = IndexOptions { frequencies: is_text, positions: is_text };
    let mut field =
        FieldWriter::new(options, norms.as_deref(), FieldSinks { terms, index, postings, positions });
    let mut ordinals = vec![0i64; docs.len()];
    let (mut numbers, mut freqs, mut places): (Vec<u32>, Vec<u32>, Vec<u32>) = Default::default();
    for (ord, of_term) in tokens.chunk_by(|a, b| a.0 == b.0).enumerate() {
        numbers.clear();
        freqs.clear();
        places.clear();
        for of_doc in of_term.chunk_by(|a, b| a.1 == b.1) {
            numbers.push(of_doc[0].1);
            ordinals[of_doc[0].1 as usize] = ord as i64;
            if is_text {
                freqs.push(of_doc.len() as u32);
                places.extend(of_doc.iter().map(|token| token.2));
            }
        }
        field.add(of_term[0].0.as_bytes(), &numbers, &freqs, &places)?;
    }
    let directory = field.finish(docs.len() as u32)?;
    sections.into_iter().for_each(|section| writer.end(section));
    writer.put(SectionKind::TermDirectory, number, &directory)?;
    if is_id {
        let hashes = docs.iter().map(|id| limber_segment::id_filter::id_hash(id[0].as_bytes()));
        writer.put(SectionKind::IdFilter, number, &limber_segment::id_filter::encode(docs.len(), hashes))?;
    }
    if column {
        let mut section = writer.begin(SectionKind::Column, number);
        let mut column = ColumnWriter::new();
        column.push_run(0, &ordinals, &mut section)?;
        column.finish(docs.len() as u32, &mut section)?;
        writer.end(section);
    }
    Ok(())
}
