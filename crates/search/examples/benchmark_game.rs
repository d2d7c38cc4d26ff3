//! An engine for the public search benchmark game (`quickwit-oss/search-benchmark-game`): one thread, no
//! HTTP.
//!
//! ```text
//! benchmark_game index FOLDER < corpus.ndjson     lines of {"id", "text", "sort_field"}: one segment
//! benchmark_game serve FOLDER                     lines of COLLECTOR, tab, query on standard input;
//!                                                 one line each on standard output
//! ```
//!
//! Collectors are those of the game: `COUNT`, `TOP_k`, `TOP_k_COUNT`, `TOP_k_FF` (by `sort_field`,
//! descending); queries are in Lucene's syntax. Any other collector gets `UNSUPPORTED`. Two are added:
//! `TOP_k_SOME` counts hits up to 10,000, as Elasticsearch does by default. `AGREE_k` prints 1 if the `k`
//! best documents and their scores are the same whether hits are counted or not, that is, with and without
//! skipping documents that cannot compete.
//!
//! `bench/game/run` runs it beside tantivy and Lucene.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::slice;
use std::sync::Arc;

use limber_mapping::document::{self, Scratch};
use limber_mapping::{Mapping, MappingSettings};
use limber_search::query::{Query, query_string};
use limber_search::request::{Order, Sort, TrackTotalHits};
use limber_search::{
    IndexRef, SearchContext, SearchRequest, SearchResponse, ShardSettings, ShardSnapshot, UrlParameters,
};
use limber_segment::{
    Buffer, DocumentMeta, Segment, SegmentId, SegmentMeta, SegmentView, StoredCodec, WriteIdentity, merge,
};
use limber_store::term_index::TermIndexCache;
use limber_store::{Directory, FsDirectory, Ledger};
use serde_json::{Value, json};

/// The same allocator as `limber serve`.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Documents in a buffer before it is flushed.
const BUFFERED_DOCS: u32 = 100_000;
/// Hits that Elasticsearch counts by default.
const COUNTED_BY_DEFAULT: u32 = 10_000;
const SEGMENT_LIST: &str = "segment.json";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "index", folder] => index(Path::new(folder)),
        [_, "serve", folder] => serve(Path::new(folder)),
        _ => {
            eprintln!("benchmark_game index FOLDER < corpus.ndjson | benchmark_game serve FOLDER");
            std::process::exit(2);
        }
    }
}

/// Returns the mapping of what the game's other engines store: terms with positions, and the document's id.
fn mapping() -> Arc<Mapping> {
    let mapping = json!({ "_source": { "enabled": false }, "properties": {
        "text": { "type": "text" }, "sort_field": { "type": "long", "index": false },
    } });
    Arc::new(Mapping::parse(&mapping, &MappingSettings::default()).expect("a sound mapping"))
}

fn open_directory(folder: &Path) -> Arc<dyn Directory> {
    Arc::new(FsDirectory::open(folder).expect("the folder opens"))
}

fn index(folder: &Path) {
    fs::create_dir_all(folder).expect("the folder can be made");
    let (directory, mapping, cache) = (open_directory(folder), mapping(), TermIndexCache::native());
    let (mut views, mut metas) = (Vec::new(), Vec::new());
    let mut write = |buffer: Buffer| {
        let (meta, _) =
            buffer.write(&*directory, SegmentId(metas.len() as u64 + 1), &mapping).expect("writes");
        views.push(SegmentView::new(Arc::new(Segment::open(&directory, &meta, &cache).expect("opens"))));
        metas.push(meta);
    };
    let (mut buffer, mut scratch) = (Buffer::new(StoredCodec::Lz4), Scratch::default());
    for (number, line) in (0..).zip(BufReader::new(std::io::stdin()).lines()) {
        let line = line.expect("lines of UTF-8");
        let corpus: Value = serde_json::from_str(&line).expect("lines of JSON");
        let id = corpus["id"].as_str().expect("an id");
        let source = json!({ "text": corpus["text"], "sort_field": corpus["sort_field"] }).to_string();
        let meta = DocumentMeta {
            id: id.as_bytes(),
            routing: None,
            identity: WriteIdentity { seq_no: number, primary_term: 1, version: 1 },
        };
        buffer.begin(&meta, b"");
        document::parse(&mapping, source.as_bytes(), &mut scratch, &mut buffer).expect("a sound document");
        buffer.commit().expect("commits");
        if buffer.doc_count() == BUFFERED_DOCS {
            write(std::mem::replace(&mut buffer, Buffer::new(StoredCodec::Lz4)));
        }
    }
    if !buffer.is_empty() {
        write(buffer);
    }
    let whole = SegmentId(metas.len() as u64 + 1);
    let (meta, _) = merge(&views, &*directory, whole, StoredCodec::Lz4, None).expect("merges");
    drop(views);
    for file in metas.iter().flat_map(|meta| &meta.files) {
        fs::remove_file(folder.join(&file.name)).expect("a merged segment goes");
    }
    let list = serde_json::to_vec(&meta).expect("a list of files is JSON");
    fs::write(folder.join(SEGMENT_LIST), list).expect("writes");
    println!("{} documents, {} bytes", meta.doc_count, meta.bytes);
}

fn serve(folder: &Path) {
    let list = fs::read(folder.join(SEGMENT_LIST)).expect("a folder that was indexed");
    let meta: SegmentMeta = serde_json::from_slice(&list).expect("a list of files");
    let segment = Segment::open(&open_directory(folder), &meta, &TermIndexCache::native()).expect("opens");
    let engine = Engine {
        shard: ShardSnapshot {
            index: Arc::new(IndexRef { name: "game".to_owned(), uuid: "game".to_owned() }),
            shard: 0,
            mapping: mapping(),
            segments: vec![SegmentView::new(Arc::new(segment))],
            settings: Arc::new(ShardSettings::default()),
            scripts: Default::default(),
            documents: None,
            caches: None,
            nested: None,
            hides_documents: false,
        },
        context: SearchContext::new(Ledger::new(4 << 30), 0),
    };
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("lines of UTF-8");
        let answer = line.split_once('\t').and_then(|(collector, query)| engine.answer(collector, query));
        match answer {
            Some(count) => writeln!(out, "{count}"),
            None => writeln!(out, "UNSUPPORTED"),
        }
        .and_then(|()| out.flush())
        .expect("someone reads the answers");
    }
}

struct Engine {
    shard: ShardSnapshot,
    /// Without deadlines, one context serves all queries.
    context: SearchContext,
}

impl Engine {
    /// Answers a query; `None` if there is no such collector.
    fn answer(&self, collector: &str, query: &str) -> Option<u64> {
        if matches!(collector, "COUNT" | "UNOPTIMIZED_COUNT") {
            return Some(self.count(query));
        }
        if let Some(size) = collector.strip_prefix("AGREE_") {
            let size = size.parse().ok()?;
            let mut best = [false, true].map(|counts| {
                let query = json!({ "query_string": { "query": query, "default_field": "text" } });
                let mut body = body(&query, size, counts);
                body["stored_fields"] = json!([]);
                let hits = self.search(&body).hits.into_iter();
                hits.map(|hit| (hit.id, hit.score.map(f32::to_bits))).collect::<Vec<_>>()
            });
            return Some(u64::from(std::mem::take(&mut best[0]) == best[1]));
        }
        let mut parts = collector.strip_prefix("TOP_")?.split('_');
        let size = parts.next()?.parse().ok()?;
        let mode = parts.next();
        let mut request = SearchRequest {
            query: Some(parsed(query)),
            size: Some(size),
            track_total_hits: TrackTotalHits::None,
            ..SearchRequest::default()
        };
        match mode {
            None => {}
            Some("COUNT") => request.track_total_hits = TrackTotalHits::Exact,
            Some("SOME") => request.track_total_hits = TrackTotalHits::UpTo(COUNTED_BY_DEFAULT),
            Some("FF") => {
                let mut sort = Sort::by("sort_field");
                sort.order = Order::Descending;
                request.sort = vec![sort];
            }
            Some(_) => return None,
        }
        let ranking = limber_search::rank(slice::from_ref(&self.shard), &request, &self.context);
        let ranking = ranking.expect("an answer");
        match mode {
            Some("COUNT") => ranking.total.map(|total| total.value),
            _ => Some(1),
        }
    }

    fn count(&self, query: &str) -> u64 {
        let request = SearchRequest {
            query: Some(parsed(query)),
            size: Some(0),
            track_total_hits: TrackTotalHits::Exact,
            ..SearchRequest::default()
        };
        let ranking = limber_search::rank(slice::from_ref(&self.shard), &request, &self.context);
        ranking.expect("an answer").total.expect("hits are counted").value
    }

    fn search(&self, body: &Value) -> SearchResponse {
        let request = SearchRequest::parse(body, &UrlParameters::default()).expect("a sound query");
        let shards = slice::from_ref(&self.shard);
        limber_search::execute(shards, &request, &self.context).expect("an answer")
    }
}

/// Parses a query in Lucene's syntax.
fn parsed(query: &str) -> Query {
    query_string(query, "text")
}

/// Builds a search that finds and ranks documents and fetches nothing of them.
fn body(query: &Value, size: u32, counts: bool) -> Value {
    json!({ "query": query, "size": size, "track_total_hits": counts, "stored_fields": "_none_" })
}
