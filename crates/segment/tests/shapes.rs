//! Fields of shapes (`geo_shape`): written by the buffer, merged, checked, and searched by cells.

mod model;

use std::sync::Arc;

use limber_mapping::geo::{GridBounds, GridPoint, GridShape, Part, PartKind, Surface, cells_of};
use limber_mapping::{FieldSink, Mapping, MappingSettings};
use limber_segment::columns::Batch;
use limber_segment::points::{Cell, Overlap};
use limber_segment::{
    Buffer, DocumentMeta, LiveDocs, Segment, SegmentId, SegmentView, StoredCodec, WriteIdentity, merge,
};
use limber_store::Directory;
use limber_store::random::SplitMix64;
use model::{memory, open};

fn mapping() -> Mapping {
    let body = serde_json::json!({"properties": {
        "shape": {"type": "geo_shape"}, "bare": {"type": "geo_shape", "doc_values": false},
        "column": {"type": "geo_shape", "index": false},
    }});
    Mapping::parse(&body, &MappingSettings::default()).expect("a sound mapping")
}

fn rectangle(x: i64, y: i64, width: i64, height: i64) -> GridShape {
    let ring = vec![(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)];
    GridShape { parts: vec![Part { kind: PartKind::Polygon, lists: vec![ring] }] }
}

/// Makes documents of up to two shapes, most of them small and near each other.
fn shapes(random: &mut SplitMix64, count: usize) -> Vec<Vec<GridShape>> {
    let mut shape = || {
        let far = random.below(10) == 0;
        let (span, size) = if far { (1 << 31, 1 << 30) } else { (1 << 24, 1 << 18) };
        let mut below = |end: i64| random.below(end as u64) as i64;
        let (x, y) = (below(2 * span) - span, below(span) - span / 2);
        match below(3) {
            0 => GridShape { parts: vec![Part { kind: PartKind::Points, lists: vec![vec![(x, y)]] }] },
            _ => rectangle(x, y, below(size) + 1, below(size) + 1),
        }
    };
    (0..count).map(|n| (0..[1, 1, 1, 0, 2][n % 5]).map(|_| shape()).collect()).collect()
}

fn segment(directory: &Arc<dyn Directory>, id: u64, docs: &[Vec<GridShape>]) -> Segment {
    let mapping = mapping();
    let mut buffer = Buffer::new(StoredCodec::Lz4);
    for (doc, shapes) in docs.iter().enumerate() {
        // Every other document follows one that is refused.
        let attempts: &[bool] = if doc % 2 == 0 { &[true] } else { &[false, true] };
        for &is_kept in attempts {
            let id = format!("{id}-{doc}");
            let meta = DocumentMeta {
                id: id.as_bytes(),
                routing: None,
                identity: WriteIdentity { seq_no: doc as u64, primary_term: 1, version: 1 },
            };
            buffer.begin(&meta, b"{}");
            for path in ["shape", "bare", "column"] {
                let field = mapping.field(path).expect("mapped");
                for shape in shapes {
                    let mut bytes = Vec::new();
                    shape.encode(&mut bytes);
                    let cells = if field.index { cells_of(Surface::Globe, shape) } else { Vec::new() };
                    buffer.shape(&field, &cells, &bytes);
                }
            }
            if is_kept {
                buffer.commit().expect("sound");
            } else {
                buffer.rollback();
            }
        }
    }
    let (meta, _) = buffer.write(&**directory, SegmentId(id), &mapping).expect("writes");
    open(directory, &meta).expect("opens")
}

fn bounds(cell: &Cell) -> GridBounds {
    let ends = |(low, high): (i32, i32)| (i64::from(low), i64::from(high));
    GridBounds { x: ends(cell.x), y: ends(cell.y) }
}

/// Compares the shapes by document, and the documents whose bounds meet a rectangle, with a scan.
fn assert_holds(segment: &Segment, docs: &[Vec<GridShape>]) {
    let report = segment.check();
    assert!(report.is_sound(), "{:?}", report.problems);
    for path in ["shape", "bare", "column"] {
        let column = segment.shapes(path).expect("reads").expect("has shapes");
        let all: Vec<u32> = (0..docs.len() as u32).collect();
        let mut found = vec![Vec::new(); docs.len()];
        let read = |position: usize, bytes: &[u8]| {
            found[position].push(GridShape::decode(bytes).expect("sound"));
            Ok(())
        };
        column.for_each(&all, &mut Batch::default(), read).expect("reads");
        assert_eq!(found, docs, "{path}");
        let presence = segment.presence(path).expect("reads").expect("has shapes");
        for (doc, shapes) in docs.iter().enumerate() {
            assert_eq!(presence.contains(doc as u32).expect("reads"), !shapes.is_empty());
        }
        assert_eq!(segment.shape_cells(path).expect("reads").is_some(), path != "column");
    }
    let near = |from: GridPoint, to: GridPoint| Cell {
        x: (from.0 as i32, to.0 as i32),
        y: (from.1 as i32, to.1 as i32),
    };
    for asked in [
        near((-1000, -1000), (1_000_000, 1_000_000)),
        near((5_000_000, 0), (5_000_000, 0)),
        near((-(1 << 31), -(1 << 31)), ((1 << 31) - 1, (1 << 31) - 1)),
        near((1 << 29, -(1 << 30)), ((1 << 31) - 1, 1 << 30)),
    ] {
        let own = bounds(&asked);
        let relate = |cell: &Cell| {
            let cell = bounds(cell);
            if !own.touches(&cell) {
                Overlap::None
            } else if own.holds((cell.x.0, cell.y.0)) && own.holds((cell.x.1, cell.y.1)) {
                Overlap::All
            } else {
                Overlap::Some
            }
        };
        for path in ["shape", "bare"] {
            let cells = segment.shape_cells(path).expect("reads").expect("has cells");
            let found = cells.docs(&cells.cover(relate), relate).expect("reads");
            for (doc, shapes) in docs.iter().enumerate() {
                let bit = |words: &[u64]| words[doc / 64] >> (doc % 64) & 1 != 0;
                // Also compares one turn around the globe away, since shapes may extend beyond the map.
                let meets = shapes
                    .iter()
                    .any(|shape| (-1..=1).any(|turns| own.touches(&shape.bounds().shifted(turns << 32))));
                assert!(!bit(&found.certain) || meets, "{path} of document {doc}");
                assert!(!meets || bit(&found.certain) || bit(&found.possible), "{path} of document {doc}");
            }
        }
    }
}

#[test]
fn shapes_are_found_in_fresh_and_merged_segments() {
    let mut random = SplitMix64::new(7);
    let directory = memory();
    let (mut views, mut expected) = (Vec::new(), Vec::new());
    for (id, count) in [(0, 900), (1, 200), (2, 1)] {
        let docs = shapes(&mut random, count);
        let segment = segment(&directory, id, &docs);
        assert_holds(&segment, &docs);
        let mut live = LiveDocs::all(count as u32);
        (0..count as u32).filter(|doc| doc % 7 == 3).for_each(|doc| {
            live.delete(doc);
        });
        expected
            .extend(docs.into_iter().enumerate().filter(|(doc, _)| doc % 7 != 3).map(|(_, shapes)| shapes));
        views.push(SegmentView { segment: Arc::new(segment), live: Some(Arc::new(live)) });
    }
    let (meta, _) = merge(&views, &*directory, SegmentId(9), StoredCodec::Lz4, None).expect("merges");
    assert_holds(&open(&directory, &meta).expect("opens"), &expected);
}
