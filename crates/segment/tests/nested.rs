//! Compares nested documents with a naive model: new segments, documents that were rolled back, deletes,
//! merges, and merges of merges.

mod model;

use std::sync::Arc;

use limber_mapping::document::{Parsed, Scratch, parse};
use limber_mapping::{Mapping, MappingSettings};
use limber_segment::file::SectionKind;
use limber_segment::postings::Want;
use limber_segment::{
    Buffer, DocumentMeta, LiveDocs, MergeDictionary, NO_MORE_DOCS, Segment, SegmentId, SegmentView,
    SortField, StoredCodec, WriteIdentity, merge_sorted,
};
use limber_store::Directory;
use limber_store::random::SplitMix64;
use model::{memory, open};
use proptest::prelude::*;
use serde_json::{Value, json};

const DEFAULT: (StoredCodec, MergeDictionary<'_>) = (StoredCodec::Lz4, MergeDictionary::Known(None));

fn mapping() -> Mapping {
    let body = json!({"properties": {
        "v": {"type": "long"},
        "z": {"type": "long"},
        "n": {"type": "nested", "properties": {
            "k": {"type": "keyword"},
            "v": {"type": "long"},
            "t": {"type": "text"},
            "o": {"properties": {"d": {"type": "nested", "properties": {"v": {"type": "long"}}}}},
        }},
        "m": {"type": "nested", "include_in_root": true, "properties": {"v": {"type": "long"}}},
    }});
    Mapping::parse(&body, &MappingSettings::default()).expect("a mapping")
}

fn list(random: &mut SplitMix64, most: u64, mut make: impl FnMut(&mut SplitMix64) -> Value) -> Value {
    let count = random.below(most + 1);
    (0..count).map(|_| make(random)).collect()
}

fn document(random: &mut SplitMix64) -> Value {
    let mut document = json!({});
    if random.below(2) == 0 {
        document["v"] = random.below(50).into();
    }
    let most = [0, 1, 3, 40][random.below(4) as usize];
    document["n"] = list(random, most, |random| {
        let mut object =
            json!({"k": format!("k{}", random.below(9)), "t": format!("a{} b", random.below(3))});
        if random.below(3) > 0 {
            object["v"] = json!([random.below(100), random.below(100)]);
        }
        object["o"] = json!({"d": list(random, 3, |random| json!({"v": random.below(20)}))});
        object
    });
    if random.below(3) == 0 {
        document["m"] = list(random, 2, |random| json!({"v": random.below(7)}));
    }
    document
}

/// Writes `documents`, with some refused ones in between.
fn written(
    random: &mut SplitMix64,
    directory: &Arc<dyn Directory>,
    id: u64,
    documents: &[Value],
    sort: &Arc<[SortField]>,
) -> Arc<Segment> {
    let mapping = mapping();
    let (mut buffer, mut scratch) = (Buffer::sorted(StoredCodec::Lz4, sort.clone()), Scratch::new());
    for (number, document) in (0u64..).zip(documents) {
        let name = format!("{id}-{number}");
        let meta = DocumentMeta {
            id: name.as_bytes(),
            routing: None,
            identity: WriteIdentity { seq_no: number, primary_term: 1, version: 1 },
        };
        if random.below(4) == 0 {
            let mut stranger = self::document(random).to_string();
            stranger.truncate(stranger.len() - 1);
            stranger.push_str(r#","z":"x"}"#);
            buffer.begin(&meta, stranger.as_bytes());
            parse(&mapping, stranger.as_bytes(), &mut scratch, &mut buffer).expect_err("not a number");
            buffer.rollback();
        }
        let source = document.to_string();
        buffer.begin(&meta, source.as_bytes());
        let parsed = parse(&mapping, source.as_bytes(), &mut scratch, &mut buffer).expect("parses");
        assert_eq!(parsed, Parsed::Done);
        buffer.commit().expect("fits");
    }
    let (meta, live) = buffer.write(&**directory, SegmentId(id), &mapping).expect("writes");
    assert!(live.is_none());
    Arc::new(open(directory, &meta).expect("opens"))
}

fn no_order() -> Arc<[SortField]> {
    Arc::new([])
}

/// Sorts by `v`, the largest first.
fn descending() -> Arc<[SortField]> {
    Arc::new([SortField { path: "v".into(), descending: true, takes_max: true, missing_first: false }])
}

fn put_in_order(documents: &mut [&Value]) {
    documents.sort_by_key(|document| std::cmp::Reverse(document["v"].as_i64()));
}

/// Returns the objects of a path inside `parents`, each with the index of its parent.
fn inside(parents: &[&Value], path: &[&str]) -> Vec<(u32, Value)> {
    let mut found = Vec::new();
    for (place, parent) in (0u32..).zip(parents) {
        let value = path.iter().fold(*parent, |value, name| &value[*name]);
        found.extend(value.as_array().into_iter().flatten().map(|object| (place, object.clone())));
    }
    found
}

fn numbers(object: &Value, name: &str) -> Vec<i64> {
    let mut numbers: Vec<i64> = match &object[name] {
        Value::Array(list) => list.iter().filter_map(Value::as_i64).collect(),
        other => other.as_i64().into_iter().collect(),
    };
    numbers.sort_unstable();
    numbers
}

#[track_caller]
fn assert_numbers(segment: &Segment, path: &str, expected: &[Vec<i64>]) {
    let column = segment.numbers(path).expect("reads");
    for (doc, expected) in (0u32..).zip(expected) {
        let mut values = Vec::new();
        if let Some(column) = &column {
            column.values(doc, &mut values).expect("reads");
        }
        assert_eq!(values, *expected, "{path} of {doc}");
    }
}

#[track_caller]
fn assert_space(segment: &Segment, path: &str, expected: &[(u32, Value)], parent_count: usize) {
    let Some(space) = segment.nested(path) else { return assert!(expected.is_empty(), "{path}") };
    assert_eq!(space.segment.doc_count() as usize, expected.len(), "{path}");
    assert_eq!(space.bits.parent_count() as usize, parent_count);
    let mut cursor = space.bits.cursor();
    for (child, (parent, _)) in (0u32..).zip(expected) {
        assert_eq!(cursor.parent(child), *parent, "{path} {child}");
        assert!(space.bits.children(*parent).contains(&child));
    }
    let values: Vec<Vec<i64>> = expected.iter().map(|(_, object)| numbers(object, "v")).collect();
    assert_numbers(&space.segment, &format!("{path}.v"), &values);
    for (field, name) in [("k", "k0"), ("t", "a0")] {
        let field_path = format!("{path}.{field}");
        let has = |object: &Value| {
            object[field].as_str().is_some_and(|text| text.split(' ').any(|one| one == name))
        };
        let docs: Vec<u32> =
            (0u32..).zip(expected).filter(|(_, (_, object))| has(object)).map(|(doc, _)| doc).collect();
        let mut found = Vec::new();
        if let Some(terms) = space.segment.terms(&field_path).expect("reads")
            && let Some(info) = terms.get(name.as_bytes()).expect("reads")
        {
            let mut postings = space.segment.postings(&field_path, &info, Want::Docs).expect("opens");
            while postings.doc() != NO_MORE_DOCS {
                found.push(postings.doc());
                postings.next();
            }
        }
        assert_eq!(found, docs, "{field_path}");
        assert!(segment.terms(&field_path).expect("reads").is_none(), "not the root's");
    }
}

#[track_caller]
fn assert_holds(segment: &Segment, documents: &[&Value]) {
    let report = segment.check();
    assert!(report.is_sound(), "{:?}", report.problems);
    assert_eq!(segment.doc_count() as usize, documents.len());
    let outer = inside(documents, &["n"]);
    assert_space(segment, "n", &outer, documents.len());
    let objects: Vec<&Value> = outer.iter().map(|(_, object)| object).collect();
    let deep = inside(&objects, &["o", "d"]);
    assert_space(segment, "n.o.d", &deep, objects.len());
    let other = inside(documents, &["m"]);
    assert_space(segment, "m", &other, documents.len());
    let included: Vec<Vec<i64>> = documents
        .iter()
        .map(|document| {
            let list = document["m"].as_array();
            let mut all: Vec<i64> =
                list.into_iter().flatten().flat_map(|object| numbers(object, "v")).collect();
            all.sort_unstable();
            all
        })
        .collect();
    assert_numbers(segment, "m.v", &included);
    if let Some(lineage) = segment.lineage("n.o.d") {
        for (child, (place, _)) in (0u32..).zip(&deep) {
            let root = outer[*place as usize].0;
            assert_eq!(lineage.parent(child), root);
            assert!(lineage.children(root).contains(&child));
        }
        let outer = &segment.nested("n").expect("has them").segment;
        assert!(outer.nested("m").is_none() && outer.lineage("n").is_none());
        let near = outer.lineage("n.o.d").expect("one step");
        assert!((0u32..).zip(&deep).all(|(child, (place, _))| near.parent(child) == *place));
    }
}

/// Every section of the file is covered by a checksum, and forged sections never cause a panic.
#[test]
fn flipped_bits_are_found() {
    let (mut random, directory) = (SplitMix64::new(3), memory());
    let documents: Vec<Value> = (0..30).map(|_| document(&mut random)).collect();
    let segment = written(&mut random, &directory, 1, &documents, &no_order());
    let meta = segment.meta().clone();
    let name = meta.files[0].name.clone();
    let whole = directory.open(&name).expect("opens").to_vec();
    for section in segment.file_sections().iter().filter(|section| section.len > 0) {
        let is_table = section.kind == SectionKind::Nested;
        for _ in 0..if is_table { 300 } else { 4 } {
            let mut bytes = whole.clone();
            bytes[(section.offset + random.below(section.len)) as usize] ^= 1 << random.below(8);
            let other = memory();
            let mut file = other.create(&name).expect("creates");
            file.write_all(&bytes).expect("writes");
            file.finish().expect("closes");
            if let Ok(segment) = open(&other, &meta) {
                assert!(!segment.check().is_sound(), "{:?}", section.kind);
                for space in segment.nested_spaces() {
                    let inside = &space.segment;
                    for field in inside.fields() {
                        let _ = (
                            inside.presence(&field.path),
                            inside.numbers(&field.path),
                            inside.terms(&field.path),
                        );
                    }
                    let mut cursor = space.bits.cursor();
                    (0..inside.doc_count()).for_each(|child| {
                        cursor.parent(child);
                    });
                    for parent in 0..=space.bits.parent_count() {
                        let _ = space.bits.children(parent);
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn merges_and_merges_of_merges_hold_the_live_families(
        seed in any::<u64>(),
        counts in prop::collection::vec(0usize..90, 1..4),
        delete_one_in in prop::collection::vec(prop_oneof![Just(0u64), Just(1), Just(2), Just(10)], 4),
        is_sorted in any::<bool>(),
    ) {
        let (mut random, directory) = (SplitMix64::new(seed), memory());
        let sort: Arc<[SortField]> = if is_sorted { descending() } else { no_order() };
        let all: Vec<Vec<Value>> =
            counts.iter().map(|count| (0..*count).map(|_| document(&mut random)).collect()).collect();
        let mut parts: Vec<(SegmentView, Vec<&Value>)> = Vec::new();
        for ((documents, id), delete) in all.iter().zip(1u64..).zip(&delete_one_in) {
            let segment = written(&mut random, &directory, id, documents, &sort);
            let mut documents: Vec<&Value> = documents.iter().collect();
            if is_sorted {
                put_in_order(&mut documents);
            }
            assert_holds(&segment, &documents);
            let mut live = LiveDocs::all(segment.doc_count());
            for doc in 0..segment.doc_count() {
                if *delete > 0 && random.below(*delete) == 0 {
                    live.delete(doc);
                }
            }
            parts.push((SegmentView { segment, live: Some(Arc::new(live)) }, documents));
        }
        for id in [50, 51] {
            let views: Vec<SegmentView> = parts.iter().map(|(view, _)| view.clone()).collect();
            let merged = merge_sorted(&views, &*directory, SegmentId(id), DEFAULT, &sort, None);
            let (meta, _) = merged.expect("merges");
            let mut kept: Vec<&Value> = Vec::new();
            for (view, documents) in &parts {
                kept.extend((0u32..).zip(documents).filter(|(doc, _)| view.is_live(*doc)).map(|(_, one)| *one));
            }
            if is_sorted {
                put_in_order(&mut kept);
            }
            let segment = Arc::new(open(&directory, &meta).expect("opens"));
            assert_holds(&segment, &kept);
            let nested: u64 = views.iter().map(|view| view.nested_counts().0).sum();
            let merged = SegmentView::new(segment);
            prop_assert_eq!(merged.nested_counts(), (nested, 0));
            parts.push((merged, kept));
        }
    }
}
