//! Compares segments written by the buffer, and merges of them, with the naive model.

mod model;

use std::sync::Arc;

use limber_mapping::{FieldSink, Mapping, MappingSettings};
use limber_segment::postings::Want;
use limber_segment::{
    Buffer, DocumentMeta, Error, Segment, SegmentId, SegmentView, StoredCodec, TERM_BYTES_MAX, WriteIdentity,
    merge,
};
use limber_store::random::SplitMix64;
use model::{Document, NUMBERS, TERMS, TEXTS, assert_holds, documents, memory, open};
use proptest::prelude::*;

fn mapping() -> Mapping {
    let mut properties = serde_json::Map::new();
    let own = |path: &str| !path.starts_with('_');
    for (path, doc_values, index) in NUMBERS.iter().filter(|(path, ..)| own(path)) {
        let field = serde_json::json!({ "type": "long", "doc_values": doc_values, "index": index });
        properties.insert((*path).to_owned(), field);
    }
    for (path, doc_values) in TERMS.iter().filter(|(path, _)| own(path)) {
        properties
            .insert((*path).to_owned(), serde_json::json!({ "type": "keyword", "doc_values": doc_values }));
    }
    for path in TEXTS {
        properties.insert(path.to_owned(), serde_json::json!({ "type": "text" }));
    }
    let body = serde_json::json!({ "properties": properties });
    Mapping::parse(&body, &MappingSettings::default()).expect("a sound mapping")
}

/// Passes every value of `document` to the buffer, without ending the document.
fn feed(buffer: &mut Buffer, mapping: &Mapping, document: &Document) -> u32 {
    let seq_no = document.numbers["_seq_no"][0] as u64;
    let (id, routing) = (document.id.as_bytes(), document.routing.as_deref());
    let meta = DocumentMeta { id, routing, identity: WriteIdentity { seq_no, primary_term: 1, version: 3 } };
    let doc = buffer.begin(&meta, document.source.as_bytes());
    let field = |path: &str| mapping.field(path).expect("mapped").clone();
    for (path, values) in document.numbers.iter().filter(|(path, _)| !path.starts_with('_')) {
        // The model keeps values sorted; documents do not.
        values.iter().rev().for_each(|value| buffer.number(&field(path), *value));
    }
    for (path, values) in document.terms.iter().filter(|(path, _)| !path.starts_with('_')) {
        values.iter().for_each(|value| buffer.term(&field(path), value.as_bytes()));
    }
    for (path, tokens) in document.texts.iter().filter(|(_, tokens)| !tokens.is_empty()) {
        buffer.text(&field(path), &tokens.join(" "));
    }
    doc
}

/// Writes a segment of `documents`; between them, other documents are begun and rolled back.
fn segment(random: &mut SplitMix64, documents: &[Document], id: u64) -> Segment {
    let (mapping, directory) = (mapping(), memory());
    let mut buffer = Buffer::new(StoredCodec::Lz4);
    let strangers = model::documents(random, 900_000, 3);
    for (doc, document) in (0u32..).zip(documents) {
        if random.below(4) == 0 {
            feed(&mut buffer, &mapping, &strangers[random.below(3) as usize]);
            buffer.rollback();
        }
        assert_eq!(feed(&mut buffer, &mapping, document), doc);
        buffer.commit().expect("a sound document");
        assert_eq!(buffer.id(doc), document.id.as_bytes());
    }
    assert_eq!(buffer.doc_count() as usize, documents.len());
    let (meta, live) = buffer.write(&*directory, SegmentId(id), &mapping).expect("writes");
    assert!(live.is_none());
    let seq_nos = documents.iter().map(|document| document.numbers["_seq_no"][0] as u64);
    assert_eq!((meta.min_seq_no, meta.max_seq_no), (seq_nos.clone().min(), seq_nos.max()));
    open(&directory, &meta).expect("opens")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    #[test]
    fn a_buffer_becomes_the_segment_of_its_documents(seed in any::<u64>(), count in 1usize..300) {
        let mut random = SplitMix64::new(seed);
        let documents = documents(&mut random, 0, count);
        assert_holds(&segment(&mut random, &documents, 1), &documents);
    }

    #[test]
    fn and_merges_like_any_other(seed in any::<u64>(), counts in prop::collection::vec(1usize..150, 2..4)) {
        let (mut random, directory) = (SplitMix64::new(seed), memory());
        let (mut views, mut all) = (Vec::new(), Vec::new());
        for (id, count) in (1u64..).zip(counts) {
            let documents = documents(&mut random, id * 10_000, count);
            let segment = Arc::new(segment(&mut random, &documents, id));
            views.push(SegmentView { segment, live: None });
            all.extend(documents);
        }
        let (meta, _) = merge(&views, &*directory, SegmentId(77), StoredCodec::Lz4, None).expect("merges");
        assert_holds(&open(&directory, &meta).expect("opens"), &all);
    }
}

#[test]
fn large_enough_for_full_blocks() {
    let mut random = SplitMix64::new(7);
    let documents = documents(&mut random, 0, 5000);
    assert_holds(&segment(&mut random, &documents, 1), &documents);
}

#[test]
fn deleted_documents_are_written_but_not_found() {
    let (mapping, directory) = (mapping(), memory());
    let mut buffer = Buffer::new(StoredCodec::Zstd);
    let mut documents = documents(&mut SplitMix64::new(3), 0, 10);
    // The fifth document is an update of the second.
    documents[4].id = documents[1].id.clone();
    for document in &documents {
        let doc = feed(&mut buffer, &mapping, document);
        buffer.commit().expect("a sound document");
        if doc == 4 {
            buffer.delete(1);
        }
    }
    buffer.delete(7);
    buffer.delete(7);
    let (meta, live) = buffer.write(&*directory, SegmentId(1), &mapping).expect("writes");
    let live = live.expect("documents were deleted");
    assert_eq!((live.doc_count(), live.live_count()), (10, 8));
    assert!(!live.is_live(1) && !live.is_live(7) && live.is_live(4));
    let segment = open(&directory, &meta).expect("opens");
    assert_eq!(segment.doc_count(), 10);
    assert_eq!(segment.find_id(documents[1].id.as_bytes()).expect("reads"), Some(4));
    assert_eq!(segment.find_id(documents[7].id.as_bytes()).expect("reads"), None);
    assert_eq!(segment.find_id(documents[8].id.as_bytes()).expect("reads"), Some(8));
}

#[test]
fn values_of_one_text_field_lie_a_gap_apart() {
    let (mapping, directory) = (mapping(), memory());
    let mut buffer = Buffer::new(StoredCodec::Lz4);
    let body = mapping.field("body").expect("mapped").clone();
    for (id, values) in [(b"a", &["one two", "", "three one"][..]), (b"b", &["two"]), (b"c", &[" "])] {
        buffer.begin(
            &DocumentMeta {
                id,
                routing: None,
                identity: WriteIdentity { seq_no: 0, primary_term: 1, version: 1 },
            },
            b"{}",
        );
        values.iter().for_each(|value| buffer.text(&body, value));
        buffer.commit().expect("a sound document");
    }
    let (meta, _) = buffer.write(&*directory, SegmentId(1), &mapping).expect("writes");
    let segment = open(&directory, &meta).expect("opens");
    let terms = segment.terms("body").expect("reads").expect("there");
    assert_eq!((terms.len(), terms.doc_count_with_field(), terms.sum_total_term_freq()), (3, 2, 5));
    let check = |term: &[u8], expected: &[(u32, &[u32])]| {
        let info = terms.get(term).expect("reads").expect("there");
        let mut postings = segment.postings("body", &info, Want::Positions).expect("reads");
        let mut positions = Vec::new();
        for (doc, expected) in expected {
            postings.positions(&mut positions);
            assert_eq!(
                (postings.doc(), &positions[..], postings.freq()),
                (*doc, *expected, expected.len() as u32)
            );
            postings.next();
        }
        assert_eq!(postings.doc(), limber_segment::NO_MORE_DOCS);
    };
    // As in Elasticsearch: 0 and 1; the empty value adds a gap of 100, then comes another gap of 100 and
    // one step.
    check(b"one", &[(0, &[0, 203])]);
    check(b"three", &[(0, &[202])]);
    check(b"two", &[(0, &[1]), (1, &[0])]);
    let norms = segment.norms("body").expect("reads").expect("there");
    assert_eq!([0, 1, 2].map(|doc| norms.get(doc)), [4, 1, 0]);
}

#[test]
fn an_immense_term_refuses_its_document_alone() {
    let (mapping, directory) = (mapping(), memory());
    let mut buffer = Buffer::new(StoredCodec::Lz4);
    let host = mapping.field("host").expect("mapped").clone();
    let meta = |id| DocumentMeta {
        id,
        routing: Some("r"),
        identity: WriteIdentity { seq_no: 5, primary_term: 1, version: 1 },
    };
    buffer.begin(&meta(b"kept"), b"{}");
    buffer.term(&host, &[b'x'; TERM_BYTES_MAX]);
    buffer.commit().expect("just short enough");
    buffer.begin(&meta(b"refused"), b"{}");
    buffer.term(&host, b"before");
    buffer.term(&host, &[b'x'; TERM_BYTES_MAX + 1]);
    let error = buffer.commit().expect_err("too long");
    assert!(matches!(&error, Error::ImmenseTerm { field, bytes: 32767, .. } if field == "host"), "{error}");
    let (meta, _) = buffer.write(&*directory, SegmentId(1), &mapping).expect("writes");
    let segment = open(&directory, &meta).expect("opens");
    assert_eq!((segment.doc_count(), segment.find_id(b"refused").expect("reads")), (1, None));
    assert_eq!(segment.terms("host").expect("reads").expect("there").len(), 1);
}

/// Sources are freed first, and finally all of the buffer is reported. The segment is small and held until
/// it is complete.
#[test]
fn a_buffer_tells_what_it_frees_while_it_is_written() {
    let (mapping, directory) = (mapping(), memory());
    let host = mapping.field("host").expect("mapped").clone();
    let mut buffer = Buffer::new(StoredCodec::Lz4);
    let mut state = 1u64;
    for number in 0..2000u64 {
        let noise: String = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'!' + (state >> 60) as u8)
        })
        .take(2000)
        .collect();
        let id = number.to_be_bytes();
        let meta = DocumentMeta {
            id: &id,
            routing: None,
            identity: WriteIdentity { seq_no: number, primary_term: 1, version: 1 },
        };
        buffer.begin(&meta, noise.as_bytes());
        buffer.term(&host, &noise.as_bytes()[..20]);
        buffer.commit().expect("a sound document");
    }
    let (memory_bytes, writing_bytes) = (buffer.memory_bytes(), buffer.writing_bytes());
    let mut freed = Vec::new();
    buffer.write_sorted(&*directory, SegmentId(1), &mapping, &mut |bytes| freed.push(bytes)).expect("writes");
    let freed_bytes: usize = freed.iter().sum();
    assert!(
        freed[0] > 1_000_000 && writing_bytes == 2 * memory_bytes - freed[0],
        "{writing_bytes} {freed:?}"
    );
    assert!((memory_bytes - 64_000..=memory_bytes).contains(&freed_bytes), "{freed_bytes} of {memory_bytes}");
}

#[test]
fn an_empty_buffer_is_an_empty_segment() {
    let (mapping, directory) = (mapping(), memory());
    let (meta, _) = Buffer::new(StoredCodec::Lz4).write(&*directory, SegmentId(1), &mapping).expect("writes");
    let segment = open(&directory, &meta).expect("opens");
    assert_eq!((segment.doc_count(), segment.find_id(b"x").expect("reads")), (0, None));
}

#[test]
fn a_field_is_indexed_as_its_mapping_says() {
    let body = serde_json::json!({ "properties": {
        "docs": { "type": "text", "index_options": "docs", "norms": false },
        "freqs": { "type": "text", "index_options": "freqs" },
        "tags": { "type": "keyword", "index_options": "freqs", "norms": true },
        "unsearchable": { "type": "text", "index": false },
        "hidden": { "type": "keyword", "index": false, "doc_values": false },
    }});
    let (mapping, directory) = (Mapping::parse(&body, &MappingSettings::default()).expect("sound"), memory());
    let mut buffer = Buffer::new(StoredCodec::Lz4);
    let field = |path: &str| mapping.field(path).expect("mapped").clone();
    for (id, text) in [(b"a", "x y x"), (b"b", "y"), (b"c", "x")] {
        buffer.begin(
            &DocumentMeta {
                id,
                routing: None,
                identity: WriteIdentity { seq_no: 0, primary_term: 1, version: 1 },
            },
            b"{}",
        );
        ["docs", "freqs", "unsearchable"].iter().for_each(|path| buffer.text(&field(path), text));
        text.split(' ').for_each(|word| buffer.term(&field("tags"), word.as_bytes()));
        buffer.term(&field("hidden"), text.as_bytes());
        buffer.commit().expect("a sound document");
    }
    let (meta, _) = buffer.write(&*directory, SegmentId(1), &mapping).expect("writes");
    let segment = open(&directory, &meta).expect("opens");
    let x = |path: &str| {
        let info =
            segment.terms(path).expect("reads").expect("there").get(b"x").expect("reads").expect("there");
        let mut postings = segment.postings(path, &info, Want::Positions).expect("reads");
        let (mut found, mut positions) = (Vec::new(), Vec::new());
        while postings.doc() != limber_segment::NO_MORE_DOCS {
            postings.positions(&mut positions);
            assert!(positions.is_empty());
            found.push((postings.doc(), postings.freq()));
            postings.next();
        }
        found
    };
    assert_eq!(x("docs"), [(0, 1), (2, 1)]);
    assert_eq!(x("freqs"), [(0, 2), (2, 1)]);
    assert_eq!(x("tags"), [(0, 2), (2, 1)]);
    let norms = |path: &str| {
        let norms = segment.norms(path).expect("reads");
        norms.map(|norms| [0, 1, 2].map(|doc| norms.get(doc)))
    };
    assert_eq!([norms("docs"), norms("freqs"), norms("tags")], [None, Some([3, 1, 1]), Some([3, 1, 1])]);
    assert!(segment.field("unsearchable").is_none() && segment.field("hidden").is_none());
    let mut ordinals = Vec::new();
    segment.ordinals("tags").expect("reads").expect("there").values(0, &mut ordinals).expect("reads");
    assert_eq!(ordinals, [0, 1]);
}

#[test]
fn buffers_and_segments_go_from_thread_to_thread() {
    fn check<T: Send>() {}
    check::<Buffer>();
    check::<Segment>();
    check::<limber_segment::postings::Postings>();
    fn check_shared<T: Sync>() {}
    check_shared::<Segment>();
}
