//! Compares segments of a sorted index with the naive model: documents are in the order of their keys, in
//! segments written by a buffer and in merges.

mod model;

use std::sync::Arc;

use limber_mapping::{FieldSink, Mapping, MappingSettings};
use limber_segment::{
    Buffer, DocumentMeta, LiveDocs, MergeDictionary, Segment, SegmentId, SegmentView, SortField, StoredCodec,
    WriteIdentity, merge_sorted,
};
use limber_store::Directory;
use limber_store::random::SplitMix64;
use model::{Document, NUMBERS, TERMS, TEXTS, assert_holds, documents, memory, open};
use proptest::prelude::*;

const DEFAULT: (StoredCodec, MergeDictionary<'_>) = (StoredCodec::Lz4, MergeDictionary::Known(None));

fn mapping() -> Mapping {
    let mut properties = serde_json::Map::new();
    for (path, doc_values, index) in NUMBERS.iter().filter(|(path, ..)| !path.starts_with('_')) {
        let field = serde_json::json!({ "type": "long", "doc_values": doc_values, "index": index });
        properties.insert((*path).to_owned(), field);
    }
    for (path, doc_values) in TERMS.iter().filter(|(path, _)| !path.starts_with('_')) {
        let field = serde_json::json!({ "type": "keyword", "doc_values": doc_values });
        properties.insert((*path).to_owned(), field);
    }
    for path in TEXTS {
        properties.insert(path.to_owned(), serde_json::json!({ "type": "text" }));
    }
    let body = serde_json::json!({ "properties": properties });
    Mapping::parse(&body, &MappingSettings::default()).expect("a sound mapping")
}

/// Makes a sort of one to three fields, in any direction, with missing values first or last.
fn sort(random: &mut SplitMix64) -> Arc<[SortField]> {
    const PATHS: [&str; 7] = ["time", "status", "price", "wide", "rare", "host", "tags"];
    let mut field = |_| SortField {
        path: PATHS[random.below(PATHS.len() as u64) as usize].into(),
        descending: random.below(2) == 0,
        takes_max: random.below(2) == 0,
        missing_first: random.below(2) == 0,
    };
    let count = 1 + u64::from(field(()).descending) + u64::from(field(()).takes_max);
    (0..count).map(|_| field(())).collect()
}

/// Compares documents by whether a value is missing and on which side that sorts, then by the value.
fn compare(sort: &[SortField], a: &Document, b: &Document) -> std::cmp::Ordering {
    for by in sort {
        let path = &*by.path;
        let order = match a.numbers.contains_key(path) || b.numbers.contains_key(path) {
            true => compare_values(by, a.numbers.get(path), b.numbers.get(path)),
            false => compare_values(by, a.terms.get(path), b.terms.get(path)),
        };
        if order.is_ne() {
            return order;
        }
    }
    std::cmp::Ordering::Equal
}

fn compare_values<T: Ord>(by: &SortField, a: Option<&Vec<T>>, b: Option<&Vec<T>>) -> std::cmp::Ordering {
    let chosen = [a, b].map(|values| {
        values.and_then(|values| if by.takes_max { values.iter().max() } else { values.iter().min() })
    });
    match chosen {
        [None, None] => std::cmp::Ordering::Equal,
        [None, Some(_)] if by.missing_first => std::cmp::Ordering::Less,
        [None, Some(_)] => std::cmp::Ordering::Greater,
        [Some(_), None] if by.missing_first => std::cmp::Ordering::Greater,
        [Some(_), None] => std::cmp::Ordering::Less,
        [Some(a), Some(b)] if by.descending => b.cmp(a),
        [Some(a), Some(b)] => a.cmp(b),
    }
}

fn feed(buffer: &mut Buffer, mapping: &Mapping, document: &Document) {
    let seq_no = document.numbers["_seq_no"][0] as u64;
    let (id, routing) = (document.id.as_bytes(), document.routing.as_deref());
    let meta = DocumentMeta { id, routing, identity: WriteIdentity { seq_no, primary_term: 1, version: 3 } };
    buffer.begin(&meta, document.source.as_bytes());
    let field = |path: &str| mapping.field(path).expect("mapped").clone();
    for (path, values) in document.numbers.iter().filter(|(path, _)| !path.starts_with('_')) {
        values.iter().rev().for_each(|value| buffer.number(&field(path), *value));
    }
    for (path, values) in document.terms.iter().filter(|(path, _)| !path.starts_with('_')) {
        values.iter().for_each(|value| buffer.term(&field(path), value.as_bytes()));
    }
    for (path, tokens) in document.texts.iter().filter(|(_, tokens)| !tokens.is_empty()) {
        buffer.text(&field(path), &tokens.join(" "));
    }
}

/// Writes a segment of `documents` in the order of `sort`; returns the documents in that order too.
fn segment(
    random: &mut SplitMix64,
    directory: &Arc<dyn Directory>,
    sort: &Arc<[SortField]>,
    documents: Vec<Document>,
    id: u64,
) -> (Segment, Vec<Document>) {
    let mapping = mapping();
    let mut buffer = Buffer::sorted(StoredCodec::Lz4, sort.clone());
    let strangers = model::documents(random, 900_000, 3);
    for document in &documents {
        if random.below(4) == 0 {
            feed(&mut buffer, &mapping, &strangers[random.below(3) as usize]);
            buffer.rollback();
        }
        feed(&mut buffer, &mapping, document);
        buffer.commit().expect("a sound document");
    }
    let written = buffer.write_sorted(&**directory, SegmentId(id), &mapping, &mut |_| {}).expect("writes");
    let segment = open(directory, &written.meta).expect("opens");
    let mut ordered: Vec<(usize, Document)> = documents.into_iter().enumerate().collect();
    ordered.sort_by(|(_, a), (_, b)| compare(sort, a, b));
    for (new, (old, _)) in ordered.iter().enumerate() {
        let place = written.doc_map.as_ref().map_or(*old, |places| places[*old] as usize);
        assert_eq!(place, new, "document {old}");
    }
    (segment, ordered.into_iter().map(|(_, document)| document).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_sorted_buffer_becomes_a_sorted_segment(seed in any::<u64>(), count in 1usize..300) {
        let (mut random, directory) = (SplitMix64::new(seed), memory());
        let sort = sort(&mut random);
        let documents = documents(&mut random, 0, count);
        let (segment, ordered) = segment(&mut random, &directory, &sort, documents, 1);
        assert_holds(&segment, &ordered);
    }

    #[test]
    fn and_merges_to_sorted_ones(
        seed in any::<u64>(),
        counts in prop::collection::vec(1usize..150, 1..5),
        delete_one_in in prop::collection::vec(prop_oneof![Just(0u64), Just(2), Just(10)], 5),
    ) {
        merges(seed, &counts, &delete_one_in);
    }
}

#[track_caller]
fn merges(seed: u64, counts: &[usize], delete_one_in: &[u64]) {
    let (mut random, directory) = (SplitMix64::new(seed), memory());
    let sort = sort(&mut random);
    let (mut views, mut parts) = (Vec::new(), Vec::new());
    for ((id, count), delete_one_in) in (1u64..).zip(counts).zip(delete_one_in) {
        let documents = documents(&mut random, id * 10_000, *count);
        let (segment, ordered) = segment(&mut random, &directory, &sort, documents, id);
        let mut live = LiveDocs::all(segment.doc_count());
        for doc in 0..segment.doc_count() {
            if *delete_one_in > 0 && random.below(*delete_one_in) == 0 {
                live.delete(doc);
            }
        }
        views.push(SegmentView {
            segment: Arc::new(segment),
            live: (*delete_one_in > 0).then(|| Arc::new(live)),
        });
        parts.push(ordered);
    }
    let (meta, map) = merge_sorted(&views, &*directory, SegmentId(77), DEFAULT, &sort, None).expect("merges");
    let mut expected: Vec<(usize, u32, &Document)> = Vec::new();
    for (segment, (view, part)) in views.iter().zip(&parts).enumerate() {
        let live = (0u32..).zip(part).filter(|(doc, _)| view.is_live(*doc));
        expected.extend(live.map(|(doc, document)| (segment, doc, document)));
    }
    expected.sort_by(|a, b| compare(&sort, a.2, b.2));
    assert_eq!(map.doc_count() as usize, expected.len());
    for (new, (segment, doc, _)) in (0u32..).zip(&expected) {
        assert_eq!(map.get(*segment, *doc), Some(new), "segment {segment} document {doc}");
    }
    let expected: Vec<Document> = expected.into_iter().map(|(.., document)| document.clone()).collect();
    assert_holds(&open(&directory, &meta).expect("opens"), &expected);
}

#[test]
fn windows_and_blocks_beyond_the_first() {
    (0..4).for_each(|seed| merges(seed, &[4500, 700, 5000], &[0, 4, 0]));
}
