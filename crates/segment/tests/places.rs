//! Fields of positions (`geo_point`): written by the buffer, merged, checked, and searched by cells.

mod model;

use std::sync::Arc;

use limber_mapping::geo::GeoPoint;
use limber_mapping::{FieldSink, Mapping, MappingSettings};
use limber_segment::points::{Cell, Overlap};
use limber_segment::{
    Buffer, DocumentMeta, LiveDocs, Segment, SegmentId, SegmentView, StoredCodec, WriteIdentity, merge,
};
use limber_store::Directory;
use limber_store::random::SplitMix64;
use model::{memory, open};

fn mapping() -> Mapping {
    let body = serde_json::json!({"properties": {
        "place": {"type": "geo_point"}, "bare": {"type": "geo_point", "doc_values": false},
        "column": {"type": "geo_point", "index": false},
    }});
    Mapping::parse(&body, &MappingSettings::default()).expect("a sound mapping")
}

/// Makes documents of up to two positions, most of them around one town.
fn places(random: &mut SplitMix64, count: usize) -> Vec<Vec<i64>> {
    let mut coordinate = |center: f64, span: f64| match random.below(10) {
        0 => (random.below(1000) as f64 / 500.0 - 1.0) * span,
        _ => center + random.below(100_000) as f64 / 1e5,
    };
    let mut place =
        || GeoPoint { latitude: coordinate(48.5, 90.0), longitude: coordinate(2.0, 180.0) }.encode();
    (0..count).map(|n| (0..[1, 1, 1, 0, 2][n % 5]).map(|_| place()).collect()).collect()
}

fn segment(directory: &Arc<dyn Directory>, id: u64, docs: &[Vec<i64>]) -> Segment {
    let mapping = mapping();
    let mut buffer = Buffer::new(StoredCodec::Lz4);
    for (doc, places) in docs.iter().enumerate() {
        let id = format!("{id}-{doc}");
        let meta = DocumentMeta {
            id: id.as_bytes(),
            routing: None,
            identity: WriteIdentity { seq_no: doc as u64, primary_term: 1, version: 1 },
        };
        buffer.begin(&meta, b"{}");
        for path in ["place", "bare", "column"] {
            places.iter().for_each(|place| buffer.number(&mapping.field(path).expect("mapped"), *place));
        }
        buffer.commit().expect("sound");
    }
    let (meta, _) = buffer.write(&**directory, SegmentId(id), &mapping).expect("writes");
    open(directory, &meta).expect("opens")
}

/// Compares the documents with a position in a rectangle of stored coordinates with a scan.
fn assert_found(segment: &Segment, docs: &[Vec<i64>], path: &str, shape: Cell) {
    let points = segment.spatial_points(path).expect("reads").expect("has points");
    let apart = |a: (i32, i32), b: (i32, i32)| a.1 < b.0 || b.1 < a.0;
    let within = |inner: (i32, i32), outer: (i32, i32)| outer.0 <= inner.0 && inner.1 <= outer.1;
    let relate = |cell: &Cell| {
        if apart(cell.x, shape.x) || apart(cell.y, shape.y) {
            Overlap::None
        } else if within(cell.x, shape.x) && within(cell.y, shape.y) {
            Overlap::All
        } else {
            Overlap::Some
        }
    };
    let contains = |stored: i64| {
        let (y, x) = ((stored >> 32) as i32, stored as i32);
        within((x, x), shape.x) && within((y, y), shape.y)
    };
    let mut bits = vec![0; docs.len().div_ceil(64)];
    points.fill_bits(&points.cover(relate), contains, &mut bits).expect("reads");
    for (doc, places) in docs.iter().enumerate() {
        let expected = places.iter().any(|place| contains(*place));
        assert_eq!(bits[doc / 64] >> (doc % 64) & 1 != 0, expected, "{path} of document {doc}");
    }
}

fn assert_holds(segment: &Segment, docs: &[Vec<i64>]) {
    let report = segment.check();
    assert!(report.is_sound(), "{:?}", report.problems);
    let count: usize = docs.iter().map(Vec::len).sum();
    assert_eq!(report.point_count as usize, 2 * count + docs.len(), "places and sequence numbers");
    assert!(segment.spatial_points("column").expect("reads").is_none());
    assert!(segment.points("place").expect("reads").is_none(), "no numbers in order of value");
    let encode = |latitude, longitude| {
        let stored = GeoPoint { latitude, longitude }.encode();
        (stored as i32, (stored >> 32) as i32)
    };
    for (south, west, north, east) in [
        (48.2, 2.1, 48.9, 2.6),
        (-90.0, -180.0, 90.0, 180.0),
        (0.0, 0.0, 48.7, 170.0),
        (48.7, 2.3, 48.8, 2.31),
    ] {
        let ((left, bottom), (right, top)) = (encode(south, west), encode(north, east));
        for path in ["place", "bare"] {
            assert_found(segment, docs, path, Cell { x: (left, right), y: (bottom, top) });
        }
    }
}

#[test]
fn places_are_found_in_fresh_and_merged_segments() {
    let mut random = SplitMix64::new(7);
    let directory = memory();
    let (mut views, mut expected) = (Vec::new(), Vec::new());
    for (id, count) in [(0, 3000), (1, 700), (2, 1)] {
        let docs = places(&mut random, count);
        let segment = segment(&directory, id, &docs);
        assert_holds(&segment, &docs);
        let mut live = LiveDocs::all(segment.doc_count());
        (0..segment.doc_count()).filter(|doc| doc % 7 == 3).for_each(|doc| {
            live.delete(doc);
        });
        expected
            .extend(docs.into_iter().enumerate().filter(|(doc, _)| doc % 7 != 3).map(|(_, places)| places));
        views.push(SegmentView { segment: Arc::new(segment), live: Some(Arc::new(live)) });
    }
    let (meta, _) = merge(&views, &*directory, SegmentId(9), StoredCodec::Lz4, None).expect("merges");
    assert_holds(&open(&directory, &meta).expect("opens"), &expected);
}
