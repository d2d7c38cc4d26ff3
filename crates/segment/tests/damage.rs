//! Segments whose bytes rot while they are open: merges refuse them, scrubs find the damage, and intact
//! parts can still be read.

mod model;

use std::sync::Arc;

use limber_segment::file::{SectionKind, SegmentWriter};
use limber_segment::{
    Damage, Error, Segment, SegmentId, SegmentMeta, SegmentView, StoredCodec, StoredReader, merge,
};
use limber_store::random::SplitMix64;
use limber_store::{Directory, FsDirectory};
use model::{documents, open, write_to};

/// A folder with two segments; the test truncates and overwrites the files of the first from outside.
struct Folder {
    temporary: tempfile::TempDir,
    directory: Arc<dyn Directory>,
    metas: Vec<SegmentMeta>,
}

impl Folder {
    fn new(compound: bool) -> Folder {
        let temporary = tempfile::tempdir().expect("tempdir");
        let directory = FsDirectory::open(temporary.path()).expect("opens");
        let mut metas = Vec::new();
        for (number, first) in [(0, 0), (1, 200)] {
            let mut writer = SegmentWriter::new(&directory, SegmentId(number));
            if !compound {
                writer = writer.with_compound_bytes_max(100);
            }
            let documents = documents(&mut SplitMix64::new(11 + number), first, 60);
            metas.push(write_to(writer, &documents, StoredCodec::Lz4));
        }
        Folder { temporary, directory: Arc::new(directory), metas }
    }

    fn open(&self) -> Vec<Arc<Segment>> {
        self.metas.iter().map(|meta| Arc::new(open(&self.directory, meta).expect("opens"))).collect()
    }

    fn flip(&self, file: &str, offset: u64) {
        use std::os::unix::fs::FileExt;
        let file = std::fs::File::options().read(true).write(true).open(self.temporary.path().join(file));
        let (file, mut byte) = (file.expect("opens"), [0]);
        file.read_exact_at(&mut byte, offset).expect("reads");
        file.write_all_at(&[byte[0] ^ 4], offset).expect("writes");
    }

    fn merge(&self, segments: &[Arc<Segment>]) -> Result<(), Error> {
        let views: Vec<SegmentView> =
            segments.iter().map(|segment| SegmentView::new(segment.clone())).collect();
        merge(&views, &*self.directory, SegmentId(9), StoredCodec::Lz4, None).map(drop)
    }

    fn has_merged_files(&self) -> bool {
        self.directory.list().expect("lists").iter().any(|name| name.starts_with("_9."))
    }
}

fn scrubbed(segment: &Segment) -> Vec<Damage> {
    segment.scrub(&mut |_| Ok(())).expect("reads");
    segment.damage()
}

#[test]
fn a_flipped_bit_in_any_section_is_refused_by_merges_and_found_by_scrubs() {
    for compound in [true, false] {
        let folder = Folder::new(compound);
        let first = folder.open().remove(0);
        for section in first.file_sections().iter().filter(|section| section.len > 0) {
            let (file, offset) = (first.section_file(section), section.offset + section.len / 2);
            folder.flip(&file, offset);
            // Sections that are parsed when the segment is opened may be refused then.
            if let Ok(segment) = open(&folder.directory, &folder.metas[0]) {
                let segments = [Arc::new(segment), folder.open_second()];
                let error = folder.merge(&segments).expect_err("a merge does not launder");
                assert!(error.to_string().contains(&file), "{error}");
                assert!(!folder.has_merged_files());
                let found = segments[0].damage();
                assert_eq!((found.len(), found[0].offset), (1, section.offset), "{found:?}");
                assert!(segments[1].damage().is_empty());
                let fresh = open(&folder.directory, &folder.metas[0]).expect("opens");
                assert_eq!(scrubbed(&fresh), found);
            }
            folder.flip(&file, offset);
        }
        let segments = folder.open();
        assert!(segments.iter().all(|segment| scrubbed(segment).is_empty()));
        folder.merge(&segments).expect("sound segments are merged");
    }
}

impl Folder {
    fn open_second(&self) -> Arc<Segment> {
        Arc::new(open(&self.directory, &self.metas[1]).expect("opens"))
    }
}

#[test]
fn ends_of_files_are_scrubbed_as_well() {
    let folder = Folder::new(false);
    for file in folder.metas[0].files.clone() {
        for offset in [3, 17, file.len - 30, file.len - 20, file.len - 1] {
            let segment = folder.open().remove(0);
            folder.flip(&file.name, offset);
            let found = scrubbed(&segment);
            assert!(
                found.iter().any(|damage| damage.file == file.name),
                "{} at {offset}: {found:?}",
                file.name
            );
            folder.flip(&file.name, offset);
        }
    }
}

#[test]
fn what_is_intact_is_read_on() {
    let folder = Folder::new(true);
    let segment = folder.open().remove(0);
    let number = segment.fields().iter().position(|field| field.column && field.path.as_ref() == "_seq_no");
    let section = segment
        .file_sections()
        .iter()
        .find(|section| section.kind == SectionKind::Column && Some(section.field as usize) == number)
        .copied()
        .expect("a column of sequence numbers");
    folder.flip(&segment.section_file(&section), section.offset + section.len / 2);
    assert!(segment.numbers("_seq_no").is_ok(), "nobody knows yet");
    assert_eq!(scrubbed(&segment).len(), 1);
    let error = segment.numbers("_seq_no").map(drop).expect_err("known now").to_string();
    assert!(error.contains("_seq_no") && error.contains("Column"), "{error}");
    assert!(segment.numbers("_version").is_ok());
    let mut reader = StoredReader::new();
    assert!((0..segment.doc_count()).all(|doc| segment.document(doc, &mut reader).is_ok()));
    // A second scrub that finds the same damage does not report it twice.
    assert_eq!(scrubbed(&segment).len(), 1);
}

#[test]
fn a_file_that_is_cut_fails_readers_merges_and_scrubs_and_nothing_else() {
    let folder = Folder::new(true);
    let segments = folder.open();
    let file = &folder.metas[0].files[0];
    let path = folder.temporary.path().join(&file.name);
    std::fs::File::options().write(true).open(&path).and_then(|file| file.set_len(4096)).expect("cuts");
    // Nothing past the new end was read so far, but the missing end is noticed.
    assert!(segments[0].intact().is_err());
    folder.merge(&segments).expect_err("another length than the commit's");
    assert!(!folder.has_merged_files());
    let found = scrubbed(&segments[0]);
    assert!(found.iter().any(|damage| (damage.offset, &*damage.found) == (4096, "4096 bytes")), "{found:?}");
    // Reading everything accesses the missing pages.
    let report = segments[0].check();
    assert!(!report.is_sound());
    assert!(segments[0].intact().is_err());
    let mut reader = StoredReader::new();
    assert!(segments[0].document(0, &mut reader).is_err());
    assert!(segments[0].find_id(b"x").is_err());
    assert!(segments[1].intact().is_ok() && segments[1].check().is_sound());
}

/// Blocks are compared when they are read: every reader of a rotten block fails with an error that names
/// it, and the neighbouring blocks can still be read.
#[test]
fn a_stored_block_that_rotted_is_refused_by_its_readers_alone() {
    let folder = Folder::new(true);
    let segment = folder.open().remove(0);
    let sections = segment.file_sections();
    let section = *sections.iter().find(|section| section.kind == SectionKind::StoredBlocks).expect("there");
    let sound: Vec<Vec<u8>> =
        sources(&segment, &mut StoredReader::new()).map(|source| source.expect("sound")).collect();
    let file = segment.section_file(&section);
    folder.flip(&file, section.offset + section.len - 3);
    let last = segment.doc_count() - 1;
    let error = segment.document(last, &mut StoredReader::new()).map(drop).expect_err("rotten").to_string();
    assert!(error.contains(&file) && error.contains("checksum"), "{error}");
    let mut reader = StoredReader::new();
    for _ in 0..2 {
        let read: Vec<_> = sources(&segment, &mut reader).collect();
        assert!(
            read.iter().zip(&sound).all(|(read, sound)| read.as_ref().ok().is_none_or(|read| read == sound))
        );
        assert!(read[last as usize].is_err());
    }
    let found = segment.damage();
    assert_eq!((found.len(), &found[0].file), (1, &file), "{found:?}");
    // Ids are stored apart from sources.
    assert!(segment.id_and_routing(last, &mut StoredReader::new()).is_ok());
    let mut trusting = StoredReader::trusting();
    assert!(sources(&segment, &mut trusting).all(|source| source.is_ok()));
    assert_eq!(scrubbed(&segment).len(), 2, "the section as well");
    assert!(
        segment.id_and_routing(last, &mut StoredReader::new()).is_ok(),
        "known damage of the section hides no sound block"
    );
}

fn sources<'s>(
    segment: &'s Segment,
    reader: &'s mut StoredReader,
) -> impl Iterator<Item = Result<Vec<u8>, Error>> + 's {
    (0..segment.doc_count()).map(|doc| segment.source(doc, reader).map(<[u8]>::to_vec))
}
