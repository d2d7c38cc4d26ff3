//! A valid segment with some bytes changed: it opens or not, answers or fails, but never panics.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use limber_mapping::document::{self, Scratch};
use limber_mapping::{Mapping, MappingSettings};
use limber_segment::buffer::{Buffer, DocumentMeta};
use limber_segment::postings::Want;
use limber_segment::{NO_MORE_DOCS, Segment, SegmentId, SegmentMeta, StoredCodec, StoredReader};
use limber_store::term_index::{ResidentTermIndex, TermIndexCache};
use limber_store::{Directory, FsDirectory};
use serde_json::json;

/// The files of a small segment and its metadata.
static SEGMENT: LazyLock<(SegmentMeta, Vec<(String, Vec<u8>)>)> = LazyLock::new(|| {
    let body = json!({"properties": {"t": {"type": "text"}, "k": {"type": "keyword"}, "n": {"type": "long"}, "d": {"type": "date"}}});
    let mapping = Mapping::parse(&body, &MappingSettings::default()).expect("the mapping is valid");
    let mut buffer = Buffer::new();
    let mut scratch = Scratch::new();
    for n in 0..300u64 {
        let source = json!({"t": format!("word{} and word{}", n % 7, n % 31), "k": [format!("k{}", n % 11)], "n": n * n % 1009, "d": n * 1000}).to_string();
        let id = n.to_string();
        let meta = DocumentMeta { id: id.as_bytes(), routing: None, seq_no: n, primary_term: 1, version: 1 };
        buffer.begin(&meta, source.as_bytes());
        document::parse(&mapping, source.as_bytes(), &mut scratch, &mut buffer).expect("the document is valid");
        buffer.commit();
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let directory = FsDirectory::open(folder.path()).expect("the folder opens");
    let meta = buffer.write(&directory, SegmentId(1), &mapping, StoredCodec::Lz4).expect("the segment is written");
    let files = directory.list().expect("the folder lists");
    let files = files.into_iter().map(|name| (name.clone(), directory.open(&name).expect("the file opens").to_vec()));
    (meta, files.collect())
});

fuzz_target!(|changes: &[u8]| {
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
    let cache: Arc<dyn TermIndexCache> = Arc::new(ResidentTermIndex::default());
    let Ok(segment) = Segment::open(&directory, meta, &cache) else { return };
    let _ = segment.check();
    let mut reader = StoredReader::default();
    for doc in [0, 150, 299] {
        let _ = segment.source(doc, &mut reader).map(<[u8]>::len);
    }
    let _ = segment.find_id(b"77");
    if let Ok(Some(terms)) = segment.terms("t")
        && let Ok(Some(info)) = terms.get(b"word3")
        && let Ok(mut postings) = segment.postings("t", &info, Want::Positions)
    {
        let mut positions = Vec::new();
        while let Ok(doc) = postings.next() {
            if doc == NO_MORE_DOCS {
                break;
            }
            let _ = postings.positions(&mut positions);
        }
    }
    if let Ok(Some(column)) = segment.numbers("n") {
        let mut values = Vec::new();
        let _ = column.values(7, &mut values);
    }
});
