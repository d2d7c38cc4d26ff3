//! Merges that compress stored documents with a dictionary.

mod model;

use std::sync::Arc;

use limber_mapping::document::{Parsed, Scratch, parse};
use limber_mapping::{Mapping, MappingSettings};
use limber_segment::file::SectionKind;
use limber_segment::{
    Buffer, DocumentMeta, LiveDocs, MergeDictionary, Segment, SegmentId, SegmentView, StoredCodec,
    StoredReader, WriteIdentity, merge_memory_bytes, merge_sorted,
};
use limber_store::random::SplitMix64;
use limber_store::{Directory, FsDirectory};
use model::{memory, open};
use serde_json::json;

/// Text that hardly compresses, so that few documents are enough for a dictionary, after one that repeats.
fn source(n: u64, word: &str) -> String {
    let mut random = SplitMix64::new(n);
    let noise: String = (0..20_000).map(|_| char::from(b'0' + random.below(64) as u8)).collect();
    let noise = noise.replace(['\\', '"'], "_");
    format!(r#"{{"text":"{}","noise":"{noise}"}}"#, format!("{word} ").repeat(20))
}

fn id(n: u64) -> String {
    format!("document-{n:06}")
}

/// Writes documents `first..first + count` as a segment.
fn segment(
    directory: &Arc<dyn Directory>,
    number: u64,
    codec: StoredCodec,
    (first, count): (u64, u64),
    word: &str,
) -> SegmentView {
    let mapping = json!({"dynamic": "false", "properties": {}});
    let mapping = Mapping::parse(&mapping, &MappingSettings::default()).expect("valid");
    let mut buffer = Buffer::new(codec);
    let mut scratch = Scratch::new();
    for n in first..first + count {
        let (id, source) = (id(n), source(n, word));
        let identity = WriteIdentity { seq_no: n, primary_term: 1, version: 1 };
        buffer.begin(&DocumentMeta { id: id.as_bytes(), routing: None, identity }, source.as_bytes());
        let parsed = parse(&mapping, source.as_bytes(), &mut scratch, &mut buffer).expect("parses");
        assert!(matches!(parsed, Parsed::Done));
        buffer.commit().expect("commits");
    }
    let (meta, _) = buffer.write(&**directory, SegmentId(number), &mapping).expect("writes");
    SegmentView::new(Arc::new(open(directory, &meta).expect("opens")))
}

fn merged(
    directory: &Arc<dyn Directory>,
    number: u64,
    views: &[SegmentView],
    codec: StoredCodec,
    dictionary: MergeDictionary<'_>,
) -> SegmentView {
    assert!(merge_memory_bytes(views, false).expect("known") >= 8 << 20);
    let merged = merge_sorted(views, &**directory, SegmentId(number), (codec, dictionary), &[], None);
    let (meta, _) = merged.expect("merges");
    let segment = open(directory, &meta).expect("opens");
    let report = segment.check();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    SegmentView::new(Arc::new(segment))
}

fn dictionary_of(segment: &Segment, directory: &dyn Directory) -> Vec<u8> {
    let sections = segment.file_sections();
    let section =
        sections.iter().find(|section| section.kind == SectionKind::StoredDictionary).expect("is there");
    let mut bytes = vec![0; section.len as usize];
    directory.read_into(&segment.section_file(section), section.offset, &mut bytes).expect("reads");
    bytes
}

fn check_documents(view: &SegmentView, expected: impl Iterator<Item = (u64, &'static str)>) {
    let mut reader = StoredReader::new();
    let mut doc = 0;
    for (n, word) in expected {
        let found = view.segment.document(doc, &mut reader).expect("reads");
        assert_eq!(found.id, id(n).as_bytes());
        assert_eq!(std::str::from_utf8(found.source), Ok(source(n, word).as_str()));
        doc += 1;
    }
    assert_eq!(doc, view.doc_count());
}

#[test]
fn documents_come_back_and_merges_keep_the_dictionary() {
    for codec in [StoredCodec::Lz4, StoredCodec::Zstd] {
        let directory = memory();
        let views = [
            segment(&directory, 1, codec, (0, 140), "first"),
            segment(&directory, 2, codec, (140, 180), "second"),
        ];
        assert!(!views[0].segment.has_dictionary());
        let word = |n: u64| (n, if n < 140 { "first" } else { "second" });
        let first = merged(&directory, 3, &views, codec, MergeDictionary::Known(None));
        assert!(first.segment.has_dictionary());
        check_documents(&first, (0..320).map(word));
        let known = dictionary_of(&first.segment, &*directory);
        assert!((1 << 10..=64 << 10).contains(&known.len()), "{}", known.len());

        // Other documents alike get the same dictionary, and can be copied together with the first ones.
        let more = [segment(&directory, 4, codec, (320, 280), "second")];
        let donor = MergeDictionary::Known(Some(&first.segment));
        let more = merged(&directory, 5, &more, codec, donor);
        assert_eq!(dictionary_of(&more.segment, &*directory), known);
        let all = merged(&directory, 6, &[first.clone(), more], codec, MergeDictionary::Known(None));
        assert_eq!(dictionary_of(&all.segment, &*directory), known);
        check_documents(&all, (0..600).map(word));

        // A small segment joins them without losing the dictionary, and its own is not worth one.
        let small = segment(&directory, 7, codec, (600, 5), "second");
        let all = merged(&directory, 8, &[all, small], codec, MergeDictionary::Known(None));
        assert_eq!(dictionary_of(&all.segment, &*directory), known);
        check_documents(&all, (0..605).map(word));
    }
}

/// Documents of another kind than those of the dictionary get their own.
#[test]
fn a_dictionary_that_does_not_serve_is_replaced() {
    let directory = memory();
    let lz4 = StoredCodec::Lz4;
    let first = [segment(&directory, 1, lz4, (0, 300), "first")];
    let first = merged(&directory, 2, &first, lz4, MergeDictionary::New);
    let mapping = Mapping::parse(&json!({"dynamic": "false"}), &MappingSettings::default()).expect("valid");
    let mut buffer = Buffer::new(lz4);
    let mut scratch = Scratch::new();
    for n in 0..40_000u64 {
        let source = format!(
            r#"{{"measured_at":"2026-11-{:02}T10:00:00Z","station":"Potsdam Telegrafenberg","kelvin":{}}}"#,
            n % 30 + 1,
            n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        );
        let id = id(n);
        let identity = WriteIdentity { seq_no: n, primary_term: 1, version: 1 };
        buffer.begin(&DocumentMeta { id: id.as_bytes(), routing: None, identity }, source.as_bytes());
        parse(&mapping, source.as_bytes(), &mut scratch, &mut buffer).expect("parses");
        buffer.commit().expect("commits");
    }
    let (meta, _) = buffer.write(&*directory, SegmentId(3), &mapping).expect("writes");
    let other = SegmentView::new(Arc::new(open(&directory, &meta).expect("opens")));
    let filler = segment(&directory, 4, lz4, (0, 220), "first");
    let donor = MergeDictionary::Known(Some(&first.segment));
    let both = merged(&directory, 5, &[other, filler], lz4, donor);
    assert_ne!(dictionary_of(&both.segment, &*directory), dictionary_of(&first.segment, &*directory));
}

/// After a forced merge, which asks for a new dictionary, nothing of deleted documents is left.
#[test]
fn a_new_dictionary_has_nothing_of_deleted_documents() {
    let directory = memory();
    let lz4 = StoredCodec::Lz4;
    let views =
        [segment(&directory, 1, lz4, (0, 140), "secret"), segment(&directory, 2, lz4, (140, 300), "public")];
    let all = merged(&directory, 3, &views, lz4, MergeDictionary::Known(None));
    let contains = |view: &SegmentView| {
        dictionary_of(&view.segment, &*directory).windows(6).any(|window| window == b"secret")
    };
    assert!(contains(&all));
    let mut live = LiveDocs::all(all.doc_count());
    (0..140).for_each(|doc| {
        live.delete(doc);
    });
    let rest = SegmentView { segment: all.segment.clone(), live: Some(Arc::new(live)) };
    let kept = merged(&directory, 4, std::slice::from_ref(&rest), lz4, MergeDictionary::Known(None));
    assert!(contains(&kept));
    let new = merged(&directory, 5, &[rest], lz4, MergeDictionary::New);
    assert!(!contains(&new));
    check_documents(&new, (140..440).map(|n| (n, "public")));
}

/// A rotten dictionary is named by whoever reads a document that needs it, and is not carried over.
#[test]
fn a_dictionary_that_rotted_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let directory: Arc<dyn Directory> = Arc::new(FsDirectory::open(folder.path()).expect("opens"));
    let lz4 = StoredCodec::Lz4;
    let views = [segment(&directory, 1, lz4, (0, 400), "first")];
    let all = merged(&directory, 2, &views, lz4, MergeDictionary::New);
    let sections = all.segment.file_sections();
    let section =
        *sections.iter().find(|section| section.kind == SectionKind::StoredDictionary).expect("there");
    let name = all.segment.section_file(&section);
    let mut bytes = std::fs::read(folder.path().join(&name)).expect("reads");
    // The text that all documents repeat.
    bytes[section.offset as usize..][..section.len as usize]
        .iter_mut()
        .filter(|byte| byte.is_ascii_lowercase())
        .for_each(|byte| *byte = byte.to_ascii_uppercase());
    std::fs::write(folder.path().join(&name), &bytes).expect("writes");
    let error = all.segment.document(7, &mut StoredReader::new()).map(drop).expect_err("rotten").to_string();
    assert!(error.contains(&name) && error.contains("StoredDictionary"), "{error}");
    // Ids need no dictionary.
    assert!(all.segment.id_and_routing(7, &mut StoredReader::new()).is_ok());
    assert!(!all.segment.check().is_sound());
    let known = (lz4, MergeDictionary::Known(None));
    let error =
        merge_sorted(&[all], &*directory, SegmentId(3), known, &[], None).map(drop).expect_err("refused");
    assert!(error.to_string().contains("StoredDictionary"), "{error}");
}
