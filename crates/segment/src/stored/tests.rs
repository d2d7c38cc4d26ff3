use super::*;

const CODECS: [StoredCodec; 4] =
    [StoredCodec::Lz4, StoredCodec::Zstd, StoredCodec::Dictionary, StoredCodec::BestDictionary];

type Document = (Vec<u8>, Option<Vec<u8>>, Vec<u8>);

/// The sections as they are written, without a container.
struct Sections {
    blocks: Vec<u8>,
    index: Vec<u8>,
    checksums: Vec<u8>,
    dictionary: Option<Vec<u8>>,
}

impl Sections {
    fn open(&self) -> crate::Result<Stored<'_>> {
        Stored::open(&self.blocks, &self.index, Some(&self.checksums), self.dictionary.as_deref())
    }

    /// Opens the sections as format version 1 has them.
    fn open_without_checksums(&self) -> crate::Result<Stored<'_>> {
        Stored::open(&self.blocks, &self.index, None, None)
    }
}

fn encode(codec: StoredCodec, documents: &[Document]) -> Sections {
    use crate::file::{NO_FIELD, SectionKind, SegmentFile, SegmentId, SegmentWriter};
    let temporary = tempfile::tempdir().expect("tempdir");
    let directory = limber_store::FsDirectory::open(temporary.path()).expect("opens");
    let mut writer = SegmentWriter::new(&directory, SegmentId(1));
    let dictionary = match codec.has_dictionary() {
        true => documents.iter().step_by(90).take(5).flat_map(|(_, _, source)| source.clone()).collect(),
        false => Vec::new(),
    };
    let dictionary = if codec.has_dictionary() && dictionary.is_empty() { vec![b' '] } else { dictionary };
    let mut stored = StoredWriter::with_dictionary(codec, dictionary);
    for (id, routing, source) in documents {
        stored.push(id, routing.as_deref(), source).expect("compresses");
    }
    stored.write(&mut writer).expect("writes");
    let meta = writer.finish(&[], documents.len() as u32, None).expect("finishes");
    let file = SegmentFile::open(&directory, &meta).expect("opens");
    let section = |kind| file.bytes(kind, NO_FIELD).expect("is there").to_vec();
    Sections {
        blocks: section(SectionKind::StoredBlocks),
        index: section(SectionKind::StoredIndex),
        checksums: section(SectionKind::StoredChecksums),
        dictionary: file.bytes(SectionKind::StoredDictionary, NO_FIELD).map(<[u8]>::to_vec),
    }
}

fn documents(count: usize) -> Vec<Document> {
    (0..count)
        .map(|n| {
            let routing = (n % 7 == 3).then(|| format!("r{}", n % 3).into_bytes());
            let repeat = if n % 97 == 50 { 3000 } else { n % 13 };
            // Some blocks have documents of several lines.
            let space = if n % 300 == 299 { "\n" } else { "" };
            let source = format!(r#"{{"n":{n},{space}"text":"{}"}}"#, "some words here ".repeat(repeat));
            (format!("id-{n}").into_bytes(), routing, source.into_bytes())
        })
        .collect()
}

#[test]
fn every_document_comes_back_in_any_order() {
    for codec in CODECS {
        for count in [0, 1, 5, 700] {
            let documents = documents(count);
            let sections = encode(codec, &documents);
            let stored = sections.open().expect("opens");
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
    let Sections { blocks, index, checksums, .. } = encode(
        StoredCodec::Lz4,
        &[(b"a".to_vec(), None, b"{}".to_vec()), (b"b".to_vec(), Some(b"r".to_vec()), b"[]".to_vec())],
    );
    // Too small to compress, so both parts are stored uncompressed.
    assert_eq!(blocks, b"\x08\x08\x04\x04\x02\x02\x02\x03\x01abr{}[]");
    assert_eq!(checksums.len(), 8);
    assert_eq!(index, b"\0\x02\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0");
}

#[test]
fn forged_bytes_are_refused_without_panic() {
    let mut sections = encode(StoredCodec::Lz4, &documents(300));
    for bit in (0..sections.blocks.len() * 8).step_by(101) {
        sections.blocks[bit / 8] ^= 1 << (bit % 8);
        // Without checksums the block is refused or yields other bytes of the recorded size, but never a
        // panic.
        let _ = sections.open_without_checksums().expect("the index is whole").check();
        sections.blocks[bit / 8] ^= 1 << (bit % 8);
    }
    for bit in 0..sections.index.len() * 8 {
        sections.index[bit / 8] ^= 1 << (bit % 8);
        let checked = sections.open_without_checksums().and_then(|stored| stored.check());
        assert!(checked.is_err() || bit < 8, "bit {bit}");
        assert!(sections.open().and_then(|stored| stored.check()).is_err(), "bit {bit}");
        sections.index[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Whichever bit of whichever section rots, a document is either what was written or refused.
#[test]
fn no_document_of_a_rotten_block_is_shown() {
    for codec in CODECS {
        let documents = documents(300);
        let mut sections = encode(codec, &documents);
        let dictionary_len = sections.dictionary.as_ref().map_or(0, Vec::len);
        let lens = [sections.blocks.len(), sections.index.len(), sections.checksums.len(), dictionary_len];
        let mut refused = 0;
        for (which, len) in lens.into_iter().enumerate() {
            for bit in (0..len * 8).step_by([41, 3, 3, 997][which]) {
                let flip = |sections: &mut Sections| {
                    let Sections { blocks, index, checksums, dictionary } = sections;
                    let section = [Some(blocks), Some(index), Some(checksums), dictionary.as_mut()]
                        .into_iter()
                        .nth(which);
                    section.flatten().expect("a section")[bit / 8] ^= 1 << (bit % 8);
                };
                flip(&mut sections);
                if let Ok(stored) = sections.open() {
                    let mut reader = StoredReader::new();
                    for (doc, (id, routing, source)) in documents.iter().enumerate().step_by(7) {
                        let expected = StoredDocument { id, routing: routing.as_deref(), source };
                        match stored.document(1, doc as u32, &mut reader) {
                            Ok(found) => assert_eq!(found, expected, "section {which}, bit {bit}"),
                            Err(_) => refused += 1,
                        }
                    }
                }
                flip(&mut sections);
            }
        }
        assert!(refused > 100, "{refused}");
    }
}

#[test]
fn bytes_of_a_block_with_a_dictionary() {
    let documents =
        [(b"AAAA".to_vec(), None, b"{\"n\":1}".to_vec()), (b"AAAB".to_vec(), None, b"{}".to_vec())];
    let Sections { blocks, index, dictionary, .. } = encode(StoredCodec::Dictionary, &documents);
    assert_eq!(dictionary.as_deref(), Some(&b"{\"n\":1}"[..]));
    // Too small to compress. The last characters of the ids are a line from 11 in steps of 1.
    let head = b"\x80\x80\x80\x80\x08\x03\x04\x01AAA\0\x02\x16";
    assert_eq!(blocks, [b"\x0e\x0e\x0b\x0b", &head[..], b"{\"n\":1}\n{}\n"].concat());
    assert_eq!(index[0], 2);
}

/// A dictionary where none belongs, none where one is needed, and those of another kind.
#[test]
fn dictionaries_that_do_not_fit_are_refused() {
    let mut sections = encode(StoredCodec::Dictionary, &documents(50));
    let magic = super::compress::ZSTD_DICTIONARY_MAGIC.to_vec();
    for forged in [None, Some(Vec::new()), Some(vec![0; format::DICTIONARY_BYTES_READ_MAX + 1]), Some(magic)]
    {
        sections.dictionary = forged;
        let error = sections.open().expect_err("refused").to_string();
        assert!(error.contains("stored dictionary"), "{error}");
    }
    let mut sections = encode(StoredCodec::Zstd, &documents(50));
    sections.dictionary = Some(vec![0]);
    assert!(sections.open().is_err());
}
