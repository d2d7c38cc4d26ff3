//! Pins the bytes of a segment: a change here may affect what older builds can read.
//!
//! If this fails because the layout of a section has changed, raise `VERSION` of `file/format.rs`, keep
//! reading the old layout, and make a fixture with the last build before the change
//! (`crates/limber/tests/fixtures/make.py`). If the layout is the same but the bytes differ (a better
//! compression, another order), nothing else has to be done. Then pin the new bytes.

mod model;

use std::collections::BTreeMap;

use limber_segment::file::SegmentWriter;
use limber_segment::file::format::VERSION;
use limber_segment::{SegmentId, StoredCodec};
use limber_store::CrashDirectory;
use limber_store::random::SplitMix64;
use model::{documents, open, write_to};

#[test]
fn bytes_change_with_the_version() {
    let directory = CrashDirectory::new(1);
    let meta = write_to(
        SegmentWriter::new(&directory, SegmentId(3)),
        &documents(&mut SplitMix64::new(11), 0, 60),
        StoredCodec::Lz4,
    );
    let directory: std::sync::Arc<dyn limber_store::Directory> = std::sync::Arc::new(directory);
    let segment = open(&directory, &meta).expect("opens");
    let mut by_kind: BTreeMap<String, u32> = BTreeMap::new();
    for section in segment.file_sections() {
        let sum = by_kind.entry(format!("{:?}", section.kind)).or_default();
        *sum = sum.rotate_left(5) ^ section.crc;
    }
    let found: Vec<String> = by_kind.iter().map(|(kind, sum)| format!("{kind} {sum:08x}")).collect();
    assert_eq!((VERSION, found.join("\n").as_str()), (5, PINNED));
}

const PINNED: &str = "Column 33db08e4
Fields 540eeb52
IdFilter c3e724e9
Norms 201d2c83
Points d00d8268
Positions 3d27e2c7
Postings 6c013642
StoredBlocks f74bed2b
StoredChecksums 9c08911c
StoredIndex 1046e49a
TermDirectory 4a7954e2
TermIndex c260a096
Terms 653a18af";
