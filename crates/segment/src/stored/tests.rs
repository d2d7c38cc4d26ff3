use super::*;

type Document = (Vec<u8>, Option<Vec<u8>>, Vec<u8>);

/// Blocks and index as they would be written, without a container.
fn encode(codec: StoredCodec, documents: &[Document]) -> (Vec<u8>, Vec<u8>) {
    use crate::file::{NO_FIELD, SectionKind, SegmentFile, SegmentId, SegmentWriter};
    let temporary = tempfile::tempdir().expect("tempdir");
    let directory = limber_store::FsDirectory::open(temporary.path()).expect("opens");
    let mut writer = SegmentWriter::new(&directory, SegmentId(1));
    let mut stored = StoredWriter::new(codec);
    for (id, routing, source) in documents {
        stored.push(id, routing.as_deref(), source).expect("compresses");
    }
    stored.write(&mut writer).expect("writes");
    let meta = writer.finish(&[], documents.len() as u32, None).expect("finishes");
    let file = SegmentFile::open(&directory, &meta).expect("opens");
    let section = |kind| file.bytes(kind, NO_FIELD).expect("is there").to_vec();
    (section(SectionKind::StoredBlocks), section(SectionKind::StoredIndex))
}

fn documents(count: usize) -> Vec<Document> {
    (0..count)
        .map(|n| {
            let routing = (n % 7 == 3).then(|| format!("r{}", n % 3).into_bytes());
            let repeat = if n % 97 == 50 { 3000 } else { n % 13 };
            let source = format!(r#"{{"n":{n},"text":"{}"}}"#, "some words here ".repeat(repeat));
            (format!("id-{n}").into_bytes(), routing, source.into_bytes())
        })
        .collect()
}

#[test]
fn every_document_comes_back_in_any_order() {
    for codec in [StoredCodec::Lz4, StoredCodec::Zstd] {
        for count in [0, 1, 5, 700] {
            let documents = documents(count);
            let (blocks, index) = encode(codec, &documents);
            let stored = Stored::open(&blocks, &index).expect("opens");
            stored.check().expect("sound");
            let mut reader = StoredReader::new();
            for step in [1, 37] {
                for doc in (0..count).map(|n| n * step % count) {
                    let (id, routing, source) = &documents[doc];
                    let (found, found_routing) = stored.id(1, doc as u32, &mut reader).expect("reads");
                    assert_eq!((found, found_routing), (&id[..], routing.as_deref()));
                    let found = stored.document(1, doc as u32, &mut reader).expect("reads");
                    assert_eq!(found, StoredDocument { id, routing: routing.as_deref(), source });
                }
            }
            assert!(stored.document(1, count as u32, &mut reader).is_err());
        }
    }
}

#[test]
fn bytes_of_two_tiny_documents() {
    let (blocks, index) = encode(
        StoredCodec::Lz4,
        &[(b"a".to_vec(), None, b"{}".to_vec()), (b"b".to_vec(), Some(b"r".to_vec()), b"[]".to_vec())],
    );
    // Too small to compress: both parts as they are.
    assert_eq!(blocks, b"\x08\x08\x04\x04\x02\x02\x02\x03\x01abr{}[]");
    assert_eq!(index, b"\0\x02\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0");
}

#[test]
fn forged_bytes_are_refused_without_panic() {
    let (blocks, index) = encode(StoredCodec::Lz4, &documents(300));
    for bit in (0..blocks.len() * 8).step_by(101) {
        let mut forged = blocks.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        // Either refused or other bytes of the recorded size; never a panic.
        let _ = Stored::open(&forged, &index).expect("the index is whole").check();
    }
    for bit in 0..index.len() * 8 {
        let mut forged = index.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        assert!(
            Stored::open(&blocks, &forged).and_then(|stored| stored.check()).is_err() || bit < 8,
            "bit {bit}"
        );
    }
}
