//! Builds shards from documents for tests: JSON in, segments in a temporary folder, a snapshot out.
#![allow(dead_code)]

use std::sync::Arc;

use limber_mapping::document::{self, Parsed, Scratch};
use limber_mapping::{ErrorClass, Mapping, MappingSettings};
use limber_search::{
    Error, IndexRef, SearchContext, SearchRequest, SearchResponse, ShardSettings, ShardSnapshot,
    UrlParameters,
};
use limber_segment::{
    Buffer, DocumentMeta, LiveDocs, Segment, SegmentId, SegmentView, StoredCodec, WriteIdentity,
};
use limber_store::term_index::TermIndexCache;
use limber_store::{Directory, FsDirectory, Ledger};
use serde_json::{Value, json};

/// 2024-06-01T00:00:00Z, the `now` of all tests.
pub const NOW_MILLIS: i64 = 1_717_200_000_000;

pub struct Shards {
    folder: tempfile::TempDir,
    directory: Arc<dyn Directory>,
    cache: Arc<TermIndexCache>,
    mapping: Arc<Mapping>,
    segment_count: u64,
    seq_no: u64,
}

impl Shards {
    pub fn new(mapping: &Value) -> Shards {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let directory: Arc<dyn Directory> = Arc::new(FsDirectory::open(folder.path()).expect("opens"));
        let mapping =
            Arc::new(Mapping::parse(mapping, &MappingSettings::default()).expect("a sound mapping"));
        Shards { folder, directory, cache: TermIndexCache::native(), mapping, segment_count: 0, seq_no: 0 }
    }

    /// Writes one segment of these documents; those of `deleted` are marked afterwards.
    pub fn segment(&mut self, documents: &[(String, Value)], deleted: &[u32]) -> SegmentView {
        let mut buffer = Buffer::new(StoredCodec::Lz4);
        let mut scratch = Scratch::default();
        for (id, source) in documents {
            let bytes = source.to_string();
            let meta = DocumentMeta {
                id: id.as_bytes(),
                routing: None,
                identity: WriteIdentity { seq_no: self.seq_no, primary_term: 1, version: 1 },
            };
            self.seq_no += 1;
            buffer.begin(&meta, bytes.as_bytes());
            match document::parse(&self.mapping, bytes.as_bytes(), &mut scratch, &mut buffer)
                .expect("a sound document")
            {
                Parsed::Done => buffer.commit().expect("commits"),
                Parsed::NeedsMapping => panic!("the mapping names all fields"),
            }
        }
        self.segment_count += 1;
        let (meta, _) =
            buffer.write(&*self.directory, SegmentId(self.segment_count), &self.mapping).expect("writes");
        let segment = Arc::new(Segment::open(&self.directory, &meta, &self.cache).expect("opens"));
        let live = (!deleted.is_empty()).then(|| {
            let mut live = LiveDocs::all(segment.doc_count());
            deleted.iter().for_each(|doc| {
                live.delete(*doc);
            });
            Arc::new(live)
        });
        SegmentView { segment, live }
    }

    pub fn shard(&self, number: u32, segments: Vec<SegmentView>) -> ShardSnapshot {
        ShardSnapshot {
            index: Arc::new(IndexRef { name: "t".to_owned(), uuid: "uuid".to_owned() }),
            shard: number,
            mapping: self.mapping.clone(),
            segments,
            settings: Arc::new(ShardSettings::default()),
            scripts: Default::default(),
            documents: None,
            caches: None,
            nested: None,
            hides_documents: false,
        }
    }
}

pub fn context() -> SearchContext {
    SearchContext::new(Ledger::new(1 << 30), NOW_MILLIS)
}

pub fn search(shards: &[ShardSnapshot], body: &Value) -> SearchResponse {
    search_in(&context(), shards, body)
}

pub fn search_in(context: &SearchContext, shards: &[ShardSnapshot], body: &Value) -> SearchResponse {
    let request = SearchRequest::parse(body, &UrlParameters::default())
        .unwrap_or_else(|error| panic!("{error:?} in {body}"));
    limber_search::execute(shards, &request, context).unwrap_or_else(|error| panic!("{error:?} in {body}"))
}

pub fn ids(response: &SearchResponse) -> Vec<String> {
    response.hits.iter().map(|hit| hit.id.clone().expect("an id")).collect()
}

/// Builds the recorded shards, with `segment_documents` per segment.
pub fn recorded_shards(
    mapping: &Value,
    documents: &Value,
    segment_documents: usize,
) -> (Vec<Shards>, Vec<ShardSnapshot>) {
    let (mut kept, mut snapshots) = (Vec::new(), Vec::new());
    let mut id = 0;
    for (number, documents) in documents.as_array().expect("shards").iter().enumerate() {
        let mut shard = Shards::new(mapping);
        let mut segments = Vec::new();
        for chunk in documents.as_array().expect("documents").chunks(segment_documents) {
            let named: Vec<(String, Value)> = chunk
                .iter()
                .map(|document| {
                    id += 1;
                    (id.to_string(), document.clone())
                })
                .collect();
            segments.push(shard.segment(&named, &[]));
        }
        snapshots.push(shard.shard(number as u32, segments));
        kept.push(shard);
    }
    (kept, snapshots)
}

/// Returns the body of an error in the recorded form, with the status that the crate `limber` gives it.
pub fn shown(error: &Error) -> Value {
    let status = match error.class() {
        ErrorClass::BadRequest => 400,
        ErrorClass::NotFound => 404,
        ErrorClass::TooManyRequests => 429,
        ErrorClass::Internal => 500,
        class => panic!("a status for {class:?}, which nothing recorded has"),
    };
    json!({"error": error.to_json(), "status": status})
}
