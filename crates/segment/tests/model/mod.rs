//! A naive model of documents and a segment written from it, with which every accessor is compared.
#![allow(dead_code)] // Each test binary uses only a part of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use limber_mapping::Representation;
use limber_segment::columns::{Batch, Cardinality, ColumnWriter};
use limber_segment::file::{SectionKind, SegmentWriter};
use limber_segment::points::{PointDocs, PointsWriter};
use limber_segment::postings::{FieldSinks, FieldWriter, IndexOptions, Want};
use limber_segment::stored::StoredWriter;
use limber_segment::*;
use limber_store::random::SplitMix64;
use limber_store::term_index::TermIndexCache;
use limber_store::{CrashDirectory, Directory};

/// One document: numbers and whole terms as given, tokens by position.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    pub id: String,
    pub routing: Option<String>,
    pub source: String,
    pub numbers: BTreeMap<&'static str, Vec<i64>>,
    pub terms: BTreeMap<&'static str, Vec<String>>,
    pub texts: BTreeMap<&'static str, Vec<String>>,
}

/// (path, column, points)
pub const NUMBERS: [(&str, bool, bool); 7] = [
    ("_seq_no", true, true),
    ("time", true, true),
    ("status", true, true),
    ("price", true, true),
    ("wide", true, false),
    ("rare", true, true),
    ("hidden", false, true),
];
/// (path, column)
pub const TERMS: [(&str, bool); 4] = [("_id", false), ("host", true), ("tags", true), ("plain", false)];
pub const TEXTS: [&str; 2] = ["body", "title"];

/// Makes documents with every kind of field: dense, sparse, multi-valued, ascending, few distinct values,
/// full range.
pub fn documents(random: &mut SplitMix64, first: u64, count: usize) -> Vec<Document> {
    const WORDS: [&str; 12] =
        ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay", "kite", "lynx"];
    let has_rare = random.below(2) == 0;
    (0..count as u64)
        .map(|n| {
            let number = first + n;
            let mut document = Document { id: format!("doc-{number:05}"), ..Document::default() };
            if random.below(5) == 0 {
                document.routing = Some(format!("r{}", random.below(3)));
            }
            document.source =
                format!("{{\"n\":{number},\"pad\":\"{}\"}}", "x".repeat(random.below(300) as usize));
            let mut values = |path, values: Vec<i64>| {
                document.numbers.insert(path, values);
            };
            values("_seq_no", vec![number as i64]);
            values("time", vec![1_700_000_000_000 + (number as i64) / 3 * 1000]);
            values("status", vec![[200, 200, 200, 304, 404, 100_500][random.below(6) as usize]]);
            let mut prices: Vec<i64> = (0..random.below(4)).map(|_| random.below(50) as i64 - 20).collect();
            prices.sort_unstable();
            values("price", prices);
            values("wide", vec![random.draw() as i64; random.below(2) as usize]);
            if has_rare && random.below(40) == 0 {
                values("rare", vec![random.below(1 << 40) as i64]);
            }
            values("hidden", (0..random.below(3)).map(|_| random.below(9) as i64).collect());
            let mut terms = |path, values: Vec<String>| {
                document.terms.insert(path, values);
            };
            terms("_id", vec![format!("doc-{number:05}")]);
            terms("host", vec![format!("10.0.{}.{}", random.below(3), random.below(40))]);
            terms(
                "tags",
                (0..random.below(4)).map(|_| WORDS[random.below(12) as usize].to_owned()).collect(),
            );
            terms("plain", vec![format!("p{}", random.below(7)); random.below(2) as usize]);
            for (path, most) in [("body", 30), ("title", 2)] {
                let words = (0..random.below(most)).map(|_| WORDS[random.below(12) as usize].to_owned());
                document.texts.insert(path, words.collect());
            }
            document
        })
        .collect()
}

fn is_present<T>(documents: &[Document], get: impl Fn(&Document) -> Option<&Vec<T>>) -> bool {
    documents.iter().any(|document| get(document).is_some_and(|values| !values.is_empty()))
}

fn sorted<T: Ord + Clone>(values: &[T]) -> Vec<T> {
    let mut values = values.to_vec();
    values.sort();
    values
}

/// Writes a segment with the writers of its parts; only fields that some document has.
pub fn write(
    documents: &[Document],
    directory: &dyn Directory,
    id: SegmentId,
    codec: StoredCodec,
) -> SegmentMeta {
    write_to(SegmentWriter::new(directory, id), documents, codec)
}

pub fn write_to(mut writer: SegmentWriter<'_>, documents: &[Document], codec: StoredCodec) -> SegmentMeta {
    let mut fields = Vec::new();
    let doc_count = documents.len() as u32;
    for (path, has_column, has_points) in NUMBERS {
        if is_present(documents, |document| document.numbers.get(path)) {
            let number = fields.len() as u32;
            fields.push(info(path, Representation::Number, has_points, has_column, false));
            write_numbers(documents, path, has_column, has_points, number, &mut writer);
        }
    }
    for (path, has_column) in TERMS {
        if is_present(documents, |document| document.terms.get(path)) {
            let number = fields.len() as u32;
            fields.push(info(path, Representation::Terms, true, has_column, false));
            write_terms(documents, path, has_column, number, &mut writer);
        }
    }
    for path in TEXTS {
        if is_present(documents, |document| document.texts.get(path)) {
            let number = fields.len() as u32;
            fields.push(info(path, Representation::Text, true, false, true));
            write_text(documents, path, number, &mut writer);
        }
    }
    let mut stored = StoredWriter::new(codec);
    for document in documents {
        let routing = document.routing.as_ref().map(|routing| routing.as_bytes());
        stored.push(document.id.as_bytes(), routing, document.source.as_bytes()).expect("compresses");
    }
    stored.write(&mut writer).expect("writes");
    let seq_nos = documents.iter().map(|document| document.numbers["_seq_no"][0] as u64);
    let bounds = seq_nos.clone().min().zip(seq_nos.max());
    writer.finish(&fields, doc_count, bounds).expect("finishes")
}

fn info(path: &str, representation: Representation, index: bool, column: bool, text: bool) -> FieldInfo {
    let path = path.into();
    FieldInfo {
        path,
        representation,
        index,
        column,
        norms: text,
        frequencies: text,
        positions: text,
        spatial: false,
    }
}

fn write_numbers(
    documents: &[Document],
    path: &str,
    has_column: bool,
    has_points: bool,
    number: u32,
    writer: &mut SegmentWriter<'_>,
) {
    let doc_count = documents.len() as u32;
    let (mut column, mut points) = (ColumnWriter::new(), PointsWriter::default());
    let mut bytes = Vec::new();
    for (doc, document) in (0u32..).zip(documents) {
        let values = sorted(document.numbers.get(path).map_or(&[][..], |values| values));
        column.push(doc, &values, &mut bytes).expect("writes");
        values.iter().for_each(|value| points.push(doc, *value));
    }
    let mut summary = None;
    if has_column {
        summary = Some(column.finish(doc_count, &mut bytes).expect("writes"));
        writer.put(SectionKind::Column, number, &bytes).expect("writes");
    }
    if has_points {
        let mut section = writer.begin(SectionKind::Points, number);
        points.finish(doc_count, summary.as_ref(), &mut section).expect("writes");
        writer.end(section);
    }
}

fn inverted(
    writer: &mut SegmentWriter<'_>,
    number: u32,
    options: IndexOptions,
    norms: Option<&[u8]>,
    fill: impl FnOnce(&mut FieldWriter<'_>),
    doc_count_with_field: u32,
) {
    let mut terms = writer.begin(SectionKind::Terms, number);
    let mut index = writer.begin(SectionKind::TermIndex, number);
    let mut postings = writer.begin(SectionKind::Postings, number);
    let mut positions = writer.begin(SectionKind::Positions, number);
    let sinks = FieldSinks {
        terms: &mut terms,
        index: &mut index,
        postings: &mut postings,
        positions: &mut positions,
    };
    let mut field = FieldWriter::new(options, norms, sinks);
    fill(&mut field);
    let directory = field.finish(doc_count_with_field).expect("finishes");
    writer.end(terms);
    writer.end(index);
    writer.end(postings);
    writer.end(positions);
    writer.put(SectionKind::TermDirectory, number, &directory).expect("writes");
}

/// Returns the documents of every term.
pub fn docs_by_term(documents: &[Document], path: &str) -> BTreeMap<String, BTreeSet<u32>> {
    let mut terms: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for (doc, document) in (0u32..).zip(documents) {
        for term in document.terms.get(path).into_iter().flatten() {
            terms.entry(term.clone()).or_default().insert(doc);
        }
    }
    terms
}

fn write_terms(
    documents: &[Document],
    path: &str,
    has_column: bool,
    number: u32,
    writer: &mut SegmentWriter<'_>,
) {
    let terms = docs_by_term(documents, path);
    let with_field =
        documents.iter().filter(|d| d.terms.get(path).is_some_and(|v| !v.is_empty())).count() as u32;
    let options = IndexOptions { frequencies: false, positions: false };
    let fill = |field: &mut FieldWriter<'_>| {
        for (term, docs) in &terms {
            let docs: Vec<u32> = docs.iter().copied().collect();
            assert!(field.add(term.as_bytes(), &docs, &[], &[]).expect("writes"));
        }
    };
    inverted(writer, number, options, None, fill, with_field);
    if path == ID_PATH {
        let hashes = terms.keys().map(|id| id_filter::id_hash(id.as_bytes()));
        writer.put(SectionKind::IdFilter, number, &id_filter::encode(terms.len(), hashes)).expect("writes");
    }
    if has_column {
        let mut section = writer.begin(SectionKind::Column, number);
        let mut column = ColumnWriter::new();
        let names: Vec<&String> = terms.keys().collect();
        for (doc, document) in (0u32..).zip(documents) {
            let values = document.terms.get(path).map_or(&[][..], |values| values);
            let ordinals: BTreeSet<i64> =
                values.iter().map(|value| names.binary_search(&value).expect("known") as i64).collect();
            let ordinals: Vec<i64> = ordinals.into_iter().collect();
            column.push(doc, &ordinals, &mut section).expect("writes");
        }
        column.finish(documents.len() as u32, &mut section).expect("writes");
        writer.end(section);
    }
}

/// Returns (document, positions) of every token.
pub fn positions_by_token(documents: &[Document], path: &str) -> BTreeMap<String, BTreeMap<u32, Vec<u32>>> {
    let mut terms: BTreeMap<String, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
    for (doc, document) in (0u32..).zip(documents) {
        for (position, token) in (0u32..).zip(document.texts.get(path).into_iter().flatten()) {
            terms.entry(token.clone()).or_default().entry(doc).or_default().push(position);
        }
    }
    terms
}

fn norm(document: &Document, path: &str) -> u8 {
    let length = document.texts.get(path).map_or(0, |tokens| tokens.len());
    if length == 0 { 0 } else { limber_codec::norm::encode(length as u32) }
}

fn write_text(documents: &[Document], path: &str, number: u32, writer: &mut SegmentWriter<'_>) {
    let norms: Vec<u8> = documents.iter().map(|document| norm(document, path)).collect();
    writer.put(SectionKind::Norms, number, &limber_segment::norms::encode(&norms)).expect("writes");
    let terms = positions_by_token(documents, path);
    let options = IndexOptions { frequencies: true, positions: true };
    let fill = |field: &mut FieldWriter<'_>| {
        for (term, docs) in &terms {
            let numbers: Vec<u32> = docs.keys().copied().collect();
            let freqs: Vec<u32> = docs.values().map(|positions| positions.len() as u32).collect();
            let positions: Vec<u32> = docs.values().flatten().copied().collect();
            assert!(field.add(term.as_bytes(), &numbers, &freqs, &positions).expect("writes"));
        }
    };
    let with_field = norms.iter().filter(|norm| **norm != 0).count() as u32;
    inverted(writer, number, options, Some(&norms), fill, with_field);
}

pub fn open(directory: &Arc<dyn Directory>, meta: &SegmentMeta) -> Result<Segment> {
    let cache = TermIndexCache::native();
    Segment::open(directory, meta, &cache)
}

pub fn memory() -> Arc<dyn Directory> {
    Arc::new(CrashDirectory::new(1))
}

/// Compares every accessor of the segment with `documents`, in order.
pub fn assert_holds(segment: &Segment, documents: &[Document]) {
    assert_eq!(segment.doc_count() as usize, documents.len());
    assert_stored(segment, documents);
    for (path, has_column, has_points) in NUMBERS {
        let values: Vec<Vec<i64>> =
            documents.iter().map(|d| sorted(d.numbers.get(path).map_or(&[][..], |values| values))).collect();
        assert_numbers(segment, path, has_column, &values);
        if has_points {
            assert_points(segment, path, &values);
        }
        assert_presence(segment, path, values.iter().map(|values| !values.is_empty()).collect());
    }
    for (path, has_column) in TERMS {
        let terms = docs_by_term(documents, path);
        let postings = terms
            .iter()
            .map(|(term, docs)| (term.clone(), docs.iter().map(|doc| (*doc, Vec::new())).collect()));
        assert_terms(segment, path, &postings.collect(), false);
        if has_column {
            assert_ordinals(segment, path, documents);
        }
        let presence = documents.iter().map(|d| d.terms.get(path).is_some_and(|values| !values.is_empty()));
        assert_presence(segment, path, presence.collect());
    }
    for path in TEXTS {
        assert_terms(segment, path, &positions_by_token(documents, path), true);
        if let Some(norms) = segment.norms(path).expect("reads") {
            for (doc, document) in (0u32..).zip(documents) {
                assert_eq!(norms.get(doc), norm(document, path), "{path} {doc}");
            }
        }
        let presence = documents.iter().map(|d| d.texts.get(path).is_some_and(|values| !values.is_empty()));
        assert_presence(segment, path, presence.collect());
    }
    assert!(
        segment.numbers("none").expect("fine").is_none() && segment.terms("none").expect("fine").is_none()
    );
    let report = segment.check();
    assert!(report.is_sound(), "{:?}", report.problems);
    assert_eq!(report.document_count as usize, documents.len());
}

fn assert_stored(segment: &Segment, documents: &[Document]) {
    let (mut reader, mut id) = (StoredReader::new(), Vec::new());
    for (doc, document) in (0u32..).zip(documents) {
        let stored = segment.document(doc, &mut reader).expect("reads");
        assert_eq!(stored.id, document.id.as_bytes());
        assert_eq!(stored.routing, document.routing.as_ref().map(|routing| routing.as_bytes()));
        assert_eq!(stored.source, document.source.as_bytes());
        segment.id(doc, &mut reader, &mut id).expect("reads");
        assert_eq!(id, document.id.as_bytes());
        let found = segment.find_id(document.id.as_bytes()).expect("reads");
        assert_eq!(found, Some(doc), "{}", document.id);
    }
    assert_eq!(segment.find_id(b"nobody").expect("reads"), None);
}

fn assert_presence(segment: &Segment, path: &str, expected: Vec<bool>) {
    let Some(presence) = segment.presence(path).expect("reads") else {
        assert!(expected.iter().all(|is| !is), "{path}");
        return;
    };
    let count = expected.iter().filter(|is| **is).count();
    assert_eq!(presence.count().expect("reads") as usize, count, "{path}");
    for (doc, is) in (0u32..).zip(&expected) {
        assert_eq!(presence.contains(doc).expect("reads"), *is, "{path} {doc}");
    }
    let mut words = [0; 64];
    for (window, expected) in expected.chunks(4096).enumerate() {
        presence.fill_window(window, &mut words).expect("reads");
        for place in 0..4096 {
            let is = words[place / 64] >> (place % 64) & 1 != 0;
            assert_eq!(is, expected.get(place).copied().unwrap_or(false), "{path} {window} {place}");
        }
    }
}

fn assert_numbers(segment: &Segment, path: &str, has_column: bool, values: &[Vec<i64>]) {
    let Some(column) = segment.numbers(path).expect("reads") else {
        assert!(!has_column || values.iter().all(|values| values.is_empty()), "{path}");
        return;
    };
    let all: Vec<i64> = values.iter().flatten().copied().collect();
    let cardinality = match values {
        _ if values.iter().any(|values| values.len() > 1) => Cardinality::Multi,
        _ if values.iter().any(|values| values.is_empty()) => Cardinality::Optional,
        _ => Cardinality::Single,
    };
    assert_eq!(column.cardinality(), cardinality, "{path}");
    assert_eq!(
        (column.min(), column.max()),
        (all.iter().min().copied(), all.iter().max().copied()),
        "{path}"
    );
    assert_eq!(column.value_count() as usize, all.len());
    assert_eq!(column.is_sorted(), all.is_sorted());
    let (mut block_values, mut read) = ([0; 128], Vec::new());
    for block in 0..column.block_count() {
        let len = column.read_block(block, &mut block_values).expect("reads");
        let values = &block_values[..len];
        let range = (*values.iter().min().expect("some"), *values.iter().max().expect("some"));
        assert_eq!(column.block_range(block).expect("reads"), range, "{path} block {block}");
        read.extend_from_slice(values);
    }
    assert_eq!(read, all, "{path}");
    let mut group_values = Box::new([0; 4096]);
    for (group, expected) in all.chunks(4096).enumerate() {
        let len = column.read_group(group, &mut group_values).expect("reads");
        assert_eq!(&group_values[..len], expected);
    }
    for (window, docs) in values.chunks(4096).enumerate() {
        let range = column.window_range(window).expect("reads");
        let present: Vec<i64> = docs.iter().flatten().copied().collect();
        assert_eq!(range.is_some(), !present.is_empty(), "{path}");
        if let Some((min, max)) = range {
            assert!(present.iter().all(|value| (min..=max).contains(value)));
        }
    }
    let mut of_doc = Vec::new();
    for (doc, values) in (0u32..).zip(values) {
        assert_eq!(column.get(doc).expect("reads"), values.first().copied(), "{path} {doc}");
        column.values(doc, &mut of_doc).expect("reads");
        assert_eq!(&of_doc, values, "{path} {doc}");
    }
    let mut batch = Batch::default();
    for step in [1usize, 2, 7, 50, 1000] {
        for start in [0, values.len() / 2] {
            let docs: Vec<u32> = (start..values.len()).step_by(step).map(|doc| doc as u32).collect();
            column.gather(&docs, &mut batch).expect("reads");
            let expected: Vec<(usize, i64)> = docs
                .iter()
                .enumerate()
                .flat_map(|(at, doc)| values[*doc as usize].iter().map(move |value| (at, *value)))
                .collect();
            assert_eq!(batch.iter().collect::<Vec<_>>(), expected, "{path} every {step}");
        }
    }
}

fn assert_points(segment: &Segment, path: &str, values: &[Vec<i64>]) {
    let mut all: Vec<i64> = values.iter().flatten().copied().collect();
    let Some(points) = segment.points(path).expect("reads") else {
        assert!(all.is_empty(), "{path}");
        return;
    };
    all.sort_unstable();
    assert_eq!((points.min(), points.max()), (all.first().copied(), all.last().copied()));
    assert_eq!(points.value_count() as usize, all.len());
    assert_eq!(points.is_single_valued(), values.iter().all(|values| values.len() <= 1));
    let with_value = values.iter().filter(|values| !values.is_empty()).count();
    assert_eq!(points.doc_count_with_value() as usize, with_value);
    let mut bounds = vec![i64::MIN, i64::MAX];
    for place in [0, all.len() / 3, all.len() / 2, all.len().saturating_sub(1)] {
        if let Some(value) = all.get(place) {
            bounds.extend([value.saturating_sub(1), *value, value.saturating_add(1)]);
        }
    }
    for start in &bounds {
        for end in &bounds {
            let range = *start..=*end;
            let expected = all.iter().filter(|value| range.contains(value)).count() as u64;
            assert_eq!(points.count(range.clone()).expect("reads"), expected, "{path} {range:?}");
            assert!(points.count_at_most(range.clone()) >= expected);
            let mut bits = vec![0u64; values.len().div_ceil(64)];
            points.fill_bits(range.clone(), &mut bits).expect("reads");
            for (doc, values) in values.iter().enumerate() {
                let is = values.iter().any(|value| range.contains(value));
                assert_eq!(bits[doc / 64] >> (doc % 64) & 1 != 0, is, "{path} {range:?} {doc}");
            }
            let mut delivered = 0;
            let count = |docs: PointDocs<'_>| match docs {
                PointDocs::Docs(docs) => docs.len(),
                PointDocs::Range(docs) => docs.len(),
            };
            let visit = &mut |docs: PointDocs<'_>| {
                delivered += count(docs);
                Ok(())
            };
            points.intersect(range, visit).expect("reads");
            assert_eq!(delivered as u64, expected);
        }
    }
}

type Postings = BTreeMap<String, BTreeMap<u32, Vec<u32>>>;

fn assert_terms(segment: &Segment, path: &str, expected: &Postings, has_positions: bool) {
    let Some(terms) = segment.terms(path).expect("reads") else {
        assert!(expected.is_empty(), "{path}");
        return;
    };
    assert_eq!(terms.len() as usize, expected.len(), "{path}");
    let with_field: BTreeSet<u32> = expected.values().flat_map(|docs| docs.keys().copied()).collect();
    assert_eq!(terms.doc_count_with_field() as usize, with_field.len(), "{path}");
    let mut cursor = terms.range(Bound::Unbounded, Bound::Unbounded).expect("reads");
    for (ord, (term, docs)) in (0u64..).zip(expected) {
        let (found, info) = cursor.next().expect("reads").expect("another term");
        assert_eq!((found, info.ord), (term.as_bytes(), ord));
        assert_eq!(terms.get(term.as_bytes()).expect("reads"), Some(info));
        assert_eq!(terms.ordinal(term.as_bytes()).expect("reads"), Ok(ord));
        assert_eq!(info.doc_freq as usize, docs.len());
        let want = if has_positions { Want::Positions } else { Want::Docs };
        let mut postings = segment.postings(path, &info, want).expect("opens");
        let mut positions = Vec::new();
        for (doc, expected) in docs {
            assert_eq!(postings.doc(), *doc, "{path} {term}");
            if has_positions {
                assert_eq!(postings.freq() as usize, expected.len(), "{path} {term} {doc}");
                postings.positions(&mut positions);
                assert_eq!(&positions, expected, "{path} {term} {doc}");
            }
            postings.next();
        }
        assert_eq!(postings.doc(), NO_MORE_DOCS);
        postings.status().expect("sound");
    }
    assert!(cursor.next().expect("reads").is_none());
}

fn assert_ordinals(segment: &Segment, path: &str, documents: &[Document]) {
    let Some(column) = segment.ordinals(path).expect("reads") else {
        assert!(!is_present(documents, |document| document.terms.get(path)));
        return;
    };
    let names: Vec<String> = docs_by_term(documents, path).into_keys().collect();
    let mut of_doc = Vec::new();
    for (doc, document) in (0u32..).zip(documents) {
        column.values(doc, &mut of_doc).expect("reads");
        let found: Vec<&String> = of_doc.iter().map(|ord| &names[*ord as usize]).collect();
        let expected: BTreeSet<&String> = document.terms.get(path).into_iter().flatten().collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{path} {doc}");
    }
}
