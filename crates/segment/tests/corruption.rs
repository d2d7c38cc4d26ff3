//! A segment with wrong bytes: opening refuses the damage it can see, the check finds the rest, and nothing
//! panics.

mod model;

use std::sync::Arc;

use limber_segment::file::{SectionKind, SegmentWriter};
use limber_segment::postings::Want;
use limber_segment::{FileMeta, SegmentId, SegmentMeta, StoredCodec, StoredReader};
use limber_store::random::SplitMix64;
use limber_store::{CrashDirectory, Directory};
use model::{documents, open, write_to};

/// The files of a segment, in memory.
struct Files(Vec<(String, Vec<u8>)>);

impl Files {
    /// Writes one compound file, or one file per lane.
    fn new(compound: bool) -> (Files, SegmentMeta) {
        let directory = CrashDirectory::new(1);
        let documents = documents(&mut SplitMix64::new(11), 0, 60);
        let mut writer = SegmentWriter::new(&directory, SegmentId(3));
        if !compound {
            writer = writer.with_compound_bytes_max(100);
        }
        let meta = write_to(writer, &documents, StoredCodec::Lz4);
        let names = directory.list().expect("lists");
        assert_eq!(names.len(), meta.files.len());
        assert_eq!(names.len() > 1, !compound);
        let files = names.into_iter().map(|name| {
            let bytes = directory.open(&name).expect("opens").to_vec();
            (name, bytes)
        });
        (Files(files.collect()), meta)
    }

    fn directory(&self) -> Arc<dyn Directory> {
        let directory = CrashDirectory::new(1);
        for (name, bytes) in &self.0 {
            let mut writer = directory.create(name).expect("creates");
            writer.write_all(bytes).expect("writes");
            writer.finish().expect("closes");
        }
        Arc::new(directory)
    }
}

#[test]
fn both_layouts_hold_the_same_sections() {
    let expected = documents(&mut SplitMix64::new(11), 0, 60);
    for compound in [true, false] {
        let (files, meta) = Files::new(compound);
        let segment = open(&files.directory(), &meta).expect("opens");
        model::assert_holds(&segment, &expected);
        for (FileMeta { name, len, crc }, found) in meta
            .files
            .iter()
            .map(|meta| (meta.clone(), files.0.iter().find(|(name, _)| *name == meta.name).expect("listed")))
        {
            assert_eq!((len, crc), (found.1.len() as u64, limber_codec::checksum::crc32(&found.1)), "{name}");
        }
        let json = serde_json::to_string(&meta).expect("encodes");
        assert_eq!(serde_json::from_str::<SegmentMeta>(&json).expect("decodes"), meta);
    }
}

#[test]
fn one_flipped_bit_in_any_byte_is_found() {
    for compound in [true, false] {
        let (mut files, meta) = Files::new(compound);
        let mut random = SplitMix64::new(5);
        for file in 0..files.0.len() {
            let len = files.0[file].1.len();
            // Flips a bit of every byte of header, footer and table, and of a sample of the rest.
            let ends = (0..24).chain(len.saturating_sub(90)..len);
            let sample: Vec<usize> = (0..60).map(|_| random.below(len as u64) as usize).collect();
            for byte in ends.chain(sample).filter(|byte| *byte < len) {
                let bit = random.below(8) as u8;
                files.0[file].1[byte] ^= 1 << bit;
                let is_found = match open(&files.directory(), &meta) {
                    Err(_) => true,
                    Ok(segment) => !segment.check().is_sound(),
                };
                assert!(is_found, "{} byte {byte} of {len}", files.0[file].0);
                files.0[file].1[byte] ^= 1 << bit;
            }
        }
    }
}

#[test]
fn every_section_is_under_a_checksum() {
    let (mut files, meta) = Files::new(true);
    let segment = open(&files.directory(), &meta).expect("opens");
    let sections = segment.file_sections();
    // Other tests cover nested documents, shapes, dictionaries and runs of ids.
    let elsewhere =
        [SectionKind::Nested, SectionKind::Shapes, SectionKind::StoredDictionary, SectionKind::IdRuns];
    for kind in SectionKind::ALL.into_iter().filter(|kind| !elsewhere.contains(kind)) {
        assert!(sections.iter().any(|section| section.kind == kind), "{kind:?} is in the test's segment");
    }
    for section in sections.iter().filter(|section| section.len > 0) {
        let byte = (section.offset + section.len / 2) as usize;
        files.0[0].1[byte] ^= 4;
        match open(&files.directory(), &meta) {
            // Sections that are parsed when the segment is opened may be refused then.
            Err(_) => {}
            Ok(segment) => {
                let problems = segment.check().problems;
                let message = format!("{:?}", section.kind);
                assert!(problems.iter().any(|problem| problem.message.contains(&message)), "{problems:?}");
            }
        }
        files.0[0].1[byte] ^= 4;
    }
}

#[test]
fn truncated_or_missing_files_are_refused_at_open() {
    for compound in [true, false] {
        let (mut files, meta) = Files::new(compound);
        for file in 0..files.0.len() {
            let whole = files.0[file].1.clone();
            for len in [0, 1, 7, 8, 23, 24, 31, 55, 56, whole.len() / 2, whole.len() - 33, whole.len() - 1] {
                files.0[file].1.truncate(len);
                assert!(open(&files.directory(), &meta).is_err(), "{} cut at {len}", files.0[file].0);
                // The cut is detected even if the commit lists the shorter length.
                let mut forged = meta.clone();
                let name = files.0[file].0.clone();
                forged
                    .files
                    .iter_mut()
                    .filter(|file| file.name == name)
                    .for_each(|file| file.len = len as u64);
                assert!(open(&files.directory(), &forged).is_err(), "{name} cut at {len}");
                files.0[file].1 = whole.clone();
            }
            let removed = files.0.remove(file);
            assert!(open(&files.directory(), &meta).is_err());
            files.0.insert(file, removed);
        }
        let mut other = meta.clone();
        other.doc_count += 1;
        assert!(open(&files.directory(), &other).is_err());
    }
}

/// Wrong bytes under right checksums (a bug, or a forged file): readers may return garbage or an error, but
/// must return.
#[test]
fn forged_sections_never_panic() {
    let (mut files, meta) = Files::new(true);
    let sections = open(&files.directory(), &meta).expect("opens").file_sections().to_vec();
    let mut random = SplitMix64::new(99);
    for section in sections.iter().filter(|section| section.len > 0 && section.kind != SectionKind::Fields) {
        for _ in 0..12 {
            let byte = (section.offset + random.below(section.len)) as usize;
            let bit = random.below(8) as u8;
            files.0[0].1[byte] ^= 1 << bit;
            // Opening does not verify sections, so the accessors read the forged bytes.
            if let Ok(segment) = open(&files.directory(), &meta) {
                read_everything(&segment);
            }
            files.0[0].1[byte] ^= 1 << bit;
        }
    }
}

fn read_everything(segment: &limber_segment::Segment) {
    let (mut reader, mut values, mut ordinals, mut positions) = (StoredReader::new(), vec![], vec![], vec![]);
    let docs: Vec<u32> = (0..segment.doc_count()).collect();
    for doc in &docs {
        let _ = segment.document(*doc, &mut reader);
    }
    for field in segment.fields() {
        let path = &field.path;
        if let Ok(Some(column)) = segment.numbers(path) {
            docs.iter().for_each(|doc| drop(column.values(*doc, &mut values)));
            let _ = column.gather(&docs, &mut Default::default());
            let _ = (column.check(None), column.window_range(0), column.block_range(0));
        }
        if let Ok(Some(column)) = segment.ordinals(path) {
            docs.iter().for_each(|doc| drop(column.values(*doc, &mut ordinals)));
            let _ = (column.gather(&docs, &mut Default::default()), column.check(Some(3)));
        }
        if let Ok(Some(points)) = segment.points(path) {
            let _ = (points.count(3..=300), points.check());
            let _ = points.fill_bits(i64::MIN..=i64::MAX, &mut [0; 1]);
        }
        if let Ok(Some(presence)) = segment.presence(path) {
            let _ = (presence.count(), presence.contains(5), presence.fill_window(0, &mut [0; 64]));
        }
        if let Ok(Some(terms)) = segment.terms(path) {
            let mut cursor = terms.cursor();
            while let Ok(Some((_, info))) = cursor.next() {
                if let Ok(mut postings) = segment.postings(path, &info, Want::Positions) {
                    while postings.doc() != limber_segment::NO_MORE_DOCS {
                        postings.positions(&mut positions);
                        postings.next();
                    }
                }
            }
        }
    }
    let _ = segment.find_id(b"doc-00003");
    let _ = segment.check();
}

#[test]
fn bytes_of_an_empty_segment() {
    let directory = CrashDirectory::new(1);
    let meta = SegmentWriter::new(&directory, SegmentId(36)).finish(&[], 0, None).expect("finishes");
    assert_eq!(meta.files[0].name, "_10.seg");
    let bytes = directory.open("_10.seg").expect("opens").to_vec();
    let crc = |bytes: &[u8]| limber_codec::checksum::crc32(bytes).to_le_bytes();
    let mut expected = b"LIMBRSEG\x05\0\0\0\0\0\0\0\x24\0\0\0\0\0\0\0".to_vec();
    let header = expected.clone();
    expected.push(0); // the section of fields, which lists none
    let mut table = b"\0\x01\0\x19\x01\0\0\0\0\0\0\x01".to_vec();
    table.extend_from_slice(&crc(b"\0"));
    expected.extend_from_slice(&table);
    let mut footer = b"\x19\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0".to_vec();
    footer.extend_from_slice(&crc(&table));
    let len = (expected.len() as u64 + 32).to_le_bytes();
    expected.extend_from_slice(&footer);
    expected.extend_from_slice(&crc(&[&header[..], &footer, &len].concat()));
    expected.extend_from_slice(b"GESRBMIL");
    assert_eq!(bytes, expected);
}
