//! Measures the processor time of the questions of `bench/columns` without a server:
//!
//! ```text
//! python3 -c "import sys, json; sys.path.insert(0, 'bench'); import column_questions as all
//! print(json.dumps(all.MAPPING))
//! for name, body, *_ in all.FURTHER + all.MORE_TAXIS: print(json.dumps([name, body]))" > questions.ndjson
//! cargo run --release -p limber-search --example columns -- taxis.ndjson 3000000 questions.ndjson
//! ```
//!
//! `taxis.ndjson` has documents of the track `nyc_taxis`, as `bench/columns --data` keeps them; with
//! `all.LOGS_MAPPING` and `all.LOGS` they are those of `http_logs`. They become segments of a million. Printed
//! is the least processor time of all threads, in milliseconds and in nanoseconds a document. The answers
//! are written to the file that `ANSWERS` names, so that those of two builds can be compared.

use std::io::{BufRead, Write};
use std::sync::Arc;

use limber_mapping::document::{self, Scratch};
use limber_mapping::{Mapping, MappingSettings};
use limber_search::{IndexRef, SearchContext, SearchRequest, ShardSettings, ShardSnapshot, UrlParameters};
use limber_segment::{Buffer, DocumentMeta, Segment, SegmentId, SegmentView, StoredCodec, WriteIdentity};
use limber_store::term_index::TermIndexCache;
use limber_store::{Directory, FsDirectory, Ledger};
use serde_json::{Value, json};

/// The allocator of the server.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Returns the processor time of all threads, in nanoseconds.
fn processor_time() -> u64 {
    // The kernel brings a thread's time up to date when it stops running.
    std::thread::sleep(std::time::Duration::from_millis(2));
    let tasks = std::fs::read_dir("/proc/self/task").expect("a process has threads");
    let of_thread = |task: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    tasks.filter_map(of_thread).sum()
}

/// Documents of a segment; its buffer has 1 GiB at most.
const SEGMENT_DOCUMENTS: usize = 1_000_000;

/// Writes segments of the first documents of a file.
fn segments(directory: &Arc<dyn Directory>, mapping: &Mapping, file: &str, count: usize) -> Vec<SegmentView> {
    let mut scratch = Scratch::default();
    let lines = std::io::BufReader::new(std::fs::File::open(file).expect("opens"));
    let lines: Vec<String> = lines.lines().take(count).map(|line| line.expect("a line")).collect();
    let write = |(number, lines): (usize, &[String])| {
        let mut buffer = Buffer::new(StoredCodec::Lz4);
        for (at, line) in lines.iter().enumerate() {
            let number = number * SEGMENT_DOCUMENTS + at;
            let id = number.to_string();
            let identity = WriteIdentity { seq_no: number as u64, primary_term: 1, version: 1 };
            buffer.begin(&DocumentMeta { id: id.as_bytes(), routing: None, identity }, line.as_bytes());
            document::parse(mapping, line.as_bytes(), &mut scratch, &mut buffer).expect("a sound document");
            buffer.commit().expect("commits");
        }
        let (meta, _) = buffer.write(&**directory, SegmentId(number as u64 + 1), mapping).expect("writes");
        SegmentView::new(Arc::new(Segment::open(directory, &meta, &TermIndexCache::native()).expect("opens")))
    };
    lines.chunks(SEGMENT_DOCUMENTS).enumerate().map(write).collect()
}

/// Returns the least processor time of a search, in nanoseconds, and what it answers.
fn least(shard: &ShardSnapshot, body: &Value, rounds: usize) -> Result<(u64, Value), String> {
    let (mut least, mut answer) = (u64::MAX, Value::Null);
    for _ in 0..rounds {
        let before = processor_time();
        let request = SearchRequest::parse(body, &UrlParameters::default()).map_err(|error| error.reason)?;
        let context = SearchContext::new(Ledger::new(4 << 30), 0);
        let response = limber_search::execute(std::slice::from_ref(shard), &request, &context)
            .map_err(|error| format!("{error:?}"))?;
        least = least.min(processor_time() - before);
        let hits: Vec<Value> = response.hits.iter().map(|hit| json!([hit.id, hit.score, hit.sort])).collect();
        answer = json!([response.aggregations_to_json().expect("JSON"), hits]);
    }
    Ok((least, answer))
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, count, questions, rest @ ..] = arguments.as_slice() else {
        panic!("DOCUMENTS COUNT QUESTIONS [NAME [ROUNDS]]")
    };
    let count: usize = count.parse().expect("a number of documents");
    let only = rest.first().map_or("", String::as_str);
    let rounds = rest.get(1).map_or(5, |rounds| rounds.parse().expect("a number of rounds"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let directory: Arc<dyn Directory> = Arc::new(FsDirectory::open(folder.path()).expect("opens"));
    let questions = std::fs::read_to_string(questions).expect("reads");
    let (properties, questions) = questions.split_once('\n').expect("a mapping and questions");
    let properties: Value = serde_json::from_str(properties).expect("the properties of a mapping");
    let mapping = json!({ "properties": properties });
    let mapping = Arc::new(Mapping::parse(&mapping, &MappingSettings::default()).expect("a sound mapping"));
    let mut answers = std::env::var_os("ANSWERS").map(|path| std::fs::File::create(path).expect("opens"));
    let segments = segments(&directory, &mapping, file, count);
    let shard = ShardSnapshot {
        index: Arc::new(IndexRef { name: "taxis".to_owned(), uuid: "u".to_owned() }),
        shard: 0,
        mapping,
        segments,
        settings: Arc::new(ShardSettings::default()),
        scripts: Default::default(),
        caches: None,
        documents: None,
        nested: None,
        hides_documents: false,
    };
    for line in questions.lines() {
        let question: Value = serde_json::from_str(line).expect("a name and a search");
        let name = question[0].as_str().expect("a name");
        if !name.contains(only) {
            continue;
        }
        match least(&shard, &question[1], rounds) {
            Ok((nanos, answer)) => {
                if let Some(file) = &mut answers {
                    writeln!(file, "{}", json!([name, answer])).expect("writes");
                }
                println!("{name:44} {:8.2} ms {:8.2} ns", nanos as f64 / 1e6, nanos as f64 / count as f64)
            }
            Err(error) => println!("{name:44} {error}"),
        }
    }
}
