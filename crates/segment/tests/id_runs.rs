//! Segments whose ids count: they have runs of ids in place of a filter, find every id, and refuse damage.

mod model;

use std::sync::Arc;

use limber_segment::file::SectionKind;
use limber_segment::{Segment, SegmentId, SegmentMeta, SegmentView, StoredCodec, merge};
use limber_store::random::SplitMix64;
use limber_store::{CrashDirectory, Directory};
use model::{documents, memory, open, write};

/// Merges two segments whose ids are the numbers from 0 and from 5,000.
fn merged(directory: &Arc<dyn Directory>) -> SegmentMeta {
    let mut views = Vec::new();
    for (id, first) in [(1, 0), (2, 5_000)] {
        let documents = documents(&mut SplitMix64::new(id), first, 250);
        let meta = write(&documents, &**directory, SegmentId(id), StoredCodec::Lz4);
        views.push(SegmentView::new(Arc::new(open(directory, &meta).expect("opens"))));
    }
    merge(&views, &**directory, SegmentId(9), StoredCodec::Lz4, None).expect("merges").0
}

fn id(number: u32) -> String {
    format!("doc-{number:05}")
}

#[test]
fn every_id_is_found_and_no_other() {
    let directory = memory();
    let meta = merged(&directory);
    let segment = open(&directory, &meta).expect("opens");
    let has = |kind| segment.file_sections().iter().any(|section| section.kind == kind);
    assert!(has(SectionKind::IdRuns) && !has(SectionKind::IdFilter));
    for number in 0..6_000 {
        let doc = match number {
            0..250 => Some(number),
            5_000..5_250 => Some(number - 4_750),
            _ => None,
        };
        assert_eq!(segment.find_id(id(number).as_bytes()).expect("sound"), doc, "{number}");
    }
    for other in ["", "doc-", "doc-000010", "doc-0001", "doc-00250", "doc-0002~", "eoc-00001"] {
        assert_eq!(segment.find_id(other.as_bytes()).expect("sound"), None, "{other}");
    }
    assert!(segment.check().is_sound());
}

/// Copies the file of a segment with one bit changed.
fn forged(directory: &Arc<dyn Directory>, meta: &SegmentMeta, at: u64, bit: u8) -> Option<Segment> {
    let name = &meta.files[0].name;
    let mut bytes = directory.open(name).expect("opens").to_vec();
    bytes[at as usize] ^= 1 << bit;
    let copy = CrashDirectory::new(1);
    let mut file = copy.create(name).expect("creates");
    file.write_all(&bytes).expect("writes");
    file.finish().expect("closes");
    let copy: Arc<dyn Directory> = Arc::new(copy);
    open(&copy, meta).ok()
}

#[test]
fn damage_is_found_and_never_panics() {
    let directory = memory();
    let meta = merged(&directory);
    let segment = open(&directory, &meta).expect("opens");
    let number = segment.fields().iter().position(|field| &*field.path == "_id");
    let kinds = [SectionKind::IdRuns, SectionKind::Terms, SectionKind::TermIndex];
    let of_ids = segment.file_sections().iter().filter(|section| Some(section.field as usize) == number);
    let mut random = SplitMix64::new(7);
    for section in of_ids.filter(|section| kinds.contains(&section.kind) && section.len > 0) {
        for at in (section.offset..section.offset + section.len).step_by(5) {
            // Opening does not verify the section, so lookups read what is wrong.
            let Some(segment) = forged(&directory, &meta, at, random.below(8) as u8) else { continue };
            for number in (0..5_300).step_by(97) {
                let _ = segment.find_id(id(number).as_bytes());
            }
            assert!(!segment.check().is_sound(), "{:?} byte {at}", section.kind);
        }
    }
}
