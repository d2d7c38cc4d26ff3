//! A valid segment with some bytes changed: opening and reading it may fail, but never panics.

use std::sync::{Arc, LazyLock};

use limber_mapping::document::{self, Scratch};
use limber_mapping::{Mapping, MappingSettings};
use limber_segment::columns::Batch;
use limber_segment::postings::Want;
use limber_segment::{
    Buffer, DocumentMeta, NO_MORE_DOCS, Segment, SegmentId, SegmentMeta, StoredCodec, StoredReader,
    WriteIdentity,
};
use limber_store::term_index::TermIndexCache;
use limber_store::{Directory, FsDirectory};
use serde_json::json;

const DOC_COUNT: u64 = 300;

/// Files by name.
type Files = Vec<(String, Vec<u8>)>;

/// The files of a small segment and its metadata.
static SEGMENT: LazyLock<(SegmentMeta, Files)> = LazyLock::new(|| {
    let body = json!({"properties": {"t": {"type": "text"}, "k": {"type": "keyword"}, "n": {"type": "long"}, "d": {"type": "date"}}});
    let mapping = Mapping::parse(&body, &MappingSettings::default()).expect("the mapping is valid");
    let mut buffer = Buffer::new(StoredCodec::Lz4);
    let mut scratch = Scratch::new();
    for n in 0..DOC_COUNT {
        let mut source = json!({"t": format!("word{} and word{}", n % 7, n % 31), "k": [format!("k{}", n % 11), format!("l{}", n % 3)], "d": n * 1000});
        if n % 5 != 0 {
            source["n"] = json!(n * n % 1009);
        }
        let (source, id) = (source.to_string(), id(n));
        let meta = DocumentMeta {
            id: id.as_bytes(),
            routing: None,
            identity: WriteIdentity { seq_no: n, primary_term: 1, version: 1 },
        };
        buffer.begin(&meta, source.as_bytes());
        document::parse(&mapping, source.as_bytes(), &mut scratch, &mut buffer)
            .expect("the document is valid");
        buffer.commit().expect("the document is kept");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let directory = FsDirectory::open(folder.path()).expect("the folder opens");
    let (meta, _) = buffer.write(&directory, SegmentId(1), &mapping).expect("the segment is written");
    let files = directory.list().expect("the folder lists");
    let files =
        files.into_iter().map(|name| (name.clone(), directory.open(&name).expect("the file opens").to_vec()));
    (meta, files.collect())
});

/// Ids that count, as generated ones do.
fn id(number: u64) -> String {
    format!("{number:020}")
}

/// Runs one case. `changes` has five bytes per change: offset (3), file (1), value to xor (1).
pub fn segment_reader(changes: &[u8]) {
    let (meta, files) = &*SEGMENT;
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (number, (name, bytes)) in files.iter().enumerate() {
        let mut bytes = bytes.clone();
        for change in changes.chunks_exact(5) {
            let at = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize;
            if !bytes.is_empty() && usize::from(change[3]) % files.len() == number {
                let at = at % bytes.len();
                bytes[at] ^= change[4];
            }
        }
        std::fs::write(folder.path().join(name), bytes).expect("the file is written");
    }
    let directory: Arc<dyn Directory> = Arc::new(FsDirectory::open(folder.path()).expect("the folder opens"));
    let cache = TermIndexCache::native();
    let Ok(segment) = Segment::open(&directory, meta, &cache) else { return };
    let _ = segment.check();
    let mut reader = StoredReader::default();
    let mut room = Vec::new();
    for doc in [0, 150, DOC_COUNT as u32 - 1] {
        let _ = segment.source(doc, &mut reader).map(<[u8]>::len);
        let _ = segment.id(doc, &mut reader, &mut room);
    }
    let _ = (segment.find_id(id(77).as_bytes()), segment.find_id(b"77"));
    read_terms(&segment);
    read_columns(&segment);
}

fn read_terms(segment: &Segment) {
    for (path, term) in [("t", &b"word3"[..]), ("k", b"k5")] {
        let Ok(Some(terms)) = segment.terms(path) else { continue };
        let mut found = Vec::new();
        for ord in 0..terms.len().min(64) {
            let _ = terms.term(ord, &mut found);
        }
        let _ = terms.ordinal(b"word4");
        let Ok(Some(info)) = terms.get(term) else { continue };
        let want = if path == "t" { Want::Positions } else { Want::Docs };
        let Ok(mut postings) = segment.postings(path, &info, want) else { continue };
        let mut positions = Vec::new();
        // Damaged postings cannot be endless, because a cursor only moves forward.
        while postings.next() != NO_MORE_DOCS {
            if path == "t" {
                postings.positions(&mut positions);
            }
        }
        let _ = postings.status();
        if let Ok(mut postings) = segment.postings(path, &info, Want::Docs) {
            let _ = postings.advance(200);
        }
    }
    let _ = segment.norms("t").map(|norms| norms.map(|norms| norms.get(7)));
}

fn read_columns(segment: &Segment) {
    let docs: Vec<u32> = (0..DOC_COUNT as u32).collect();
    for path in ["n", "d"] {
        if let Ok(Some(column)) = segment.numbers(path) {
            let mut values = Vec::new();
            let _ = column.values(7, &mut values);
            let _ = column.gather(&docs, &mut Batch::default());
            let _ = column.window_range(0);
        }
        if let Ok(Some(points)) = segment.points(path) {
            let _ = points.count(10..=100_000);
            let mut bits = [0u64; DOC_COUNT.div_ceil(64) as usize];
            let _ = points.fill_bits(10..=100_000, &mut bits);
        }
        let _ = segment.presence(path).map(|presence| presence.map(|presence| presence.count()));
    }
    if let Ok(Some(column)) = segment.ordinals("k") {
        let mut values = Vec::new();
        let _ = column.values(7, &mut values);
        let _ = column.gather(&docs, &mut Batch::default());
    }
}
