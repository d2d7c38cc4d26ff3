//! Writes sections to files: "append these bytes to that section; now make it a segment".

use std::cell::RefCell;
use std::rc::Rc;

use limber_codec::checksum::{Crc32, crc32};
use limber_codec::varint;
use limber_store::{Directory, FileWriter};

use super::fields;
use super::format::{
    COMPOUND_BYTES_MAX, FOOTER_BYTES, HEADER_BYTES, Lane, MAGIC, MAGIC_END, SectionKind, VERSION,
};
use super::meta::{FieldInfo, FileMeta, SegmentId, SegmentMeta};
use crate::{Result, Sink};

/// Called with the bytes written since the last call. It may sleep (throttling) or return an error
/// (cancellation).
pub type Progress<'d> = dyn FnMut(u64) -> Result<()> + 'd;

/// Bytes between two calls of the progress hook.
const PROGRESS_BYTES: u64 = 1 << 20;
/// A lane's chunks grow with it between these sizes, so that little memory is allocated needlessly.
const CHUNK_BYTES_MIN: usize = 4 << 10;
const CHUNK_BYTES_MAX: usize = 1 << 20;
/// Field number of sections that belong to the segment as a whole.
pub const NO_FIELD: u32 = u32::MAX;

/// Writes one segment, section by section. At most one section per [`Lane`] is open at a time; lanes are
/// independent.
///
/// Bytes are held in memory until they exceed [`COMPOUND_BYTES_MAX`]; then every lane gets its own file.
/// Dropping the writer without [`SegmentWriter::finish`] deletes what it created.
pub struct SegmentWriter<'d> {
    shared: Rc<RefCell<Shared<'d>>>,
    /// `None` while a section of the lane is open.
    lanes: [Option<LaneWriter>; Lane::ALL.len()],
}

struct Shared<'d> {
    directory: &'d dyn Directory,
    id: SegmentId,
    held_bytes: usize,
    compound_bytes_max: usize,
    spilled: bool,
    created: Vec<String>,
    progress: Option<Box<Progress<'d>>>,
    unreported_bytes: u64,
    written_bytes: u64,
}

#[derive(Default)]
struct LaneWriter {
    held: Chunks,
    file: Option<Box<dyn FileWriter>>,
    sections: Vec<WrittenSection>,
}

/// Bytes held in memory in chunks, so that they are never moved as they grow.
#[derive(Default)]
struct Chunks {
    chunks: Vec<Vec<u8>>,
    bytes: usize,
}

struct WrittenSection {
    kind: SectionKind,
    field: u32,
    len: u64,
    crc: Crc32,
}

/// One section being written; [`Sink::position`] counts from the section's first byte. Give it back with
/// [`SegmentWriter::end`].
pub struct SectionWriter<'d> {
    shared: Rc<RefCell<Shared<'d>>>,
    lane: LaneWriter,
    kind: SectionKind,
    field: u32,
    len: u64,
    crc: Crc32,
}

impl Sink for SectionWriter<'_> {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.crc.update(bytes);
        self.len += bytes.len() as u64;
        let mut shared = self.shared.borrow_mut();
        if self.lane.file.is_none() {
            shared.held_bytes += bytes.len();
            if shared.held_bytes > shared.compound_bytes_max {
                shared.spilled = true;
            }
            if shared.spilled {
                self.lane.spill(&mut shared, self.kind.lane())?;
            }
        }
        match &mut self.lane.file {
            Some(file) => file.write_all(bytes)?,
            None => self.lane.held.append(bytes),
        }
        shared.report(bytes.len() as u64)
    }

    fn position(&self) -> u64 {
        self.len
    }
}

impl Chunks {
    fn append(&mut self, bytes: &[u8]) {
        let room = self.chunks.last().map_or(0, |chunk| chunk.capacity() - chunk.len());
        let (now, later) = bytes.split_at(bytes.len().min(room));
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.extend_from_slice(now);
        }
        if !later.is_empty() {
            let capacity = self.bytes.clamp(CHUNK_BYTES_MIN, CHUNK_BYTES_MAX).max(later.len());
            let mut chunk = Vec::with_capacity(capacity);
            chunk.extend_from_slice(later);
            self.chunks.push(chunk);
        }
        self.bytes += bytes.len();
    }

    fn write(self, file: &mut dyn FileWriter) -> Result<()> {
        for chunk in self.chunks {
            file.write_all(&chunk)?;
        }
        Ok(())
    }
}

impl LaneWriter {
    /// Moves the held bytes to the lane's own file.
    fn spill(&mut self, shared: &mut Shared<'_>, lane: Lane) -> Result<()> {
        if self.file.is_none() {
            let mut file = shared.create(lane)?;
            file.write_all(&header(shared.id, lane))?;
            std::mem::take(&mut self.held).write(&mut *file)?;
            self.file = Some(file);
        }
        Ok(())
    }
}

impl Shared<'_> {
    fn create(&mut self, lane: Lane) -> Result<Box<dyn FileWriter>> {
        let name = self.id.file_name(lane);
        let file = self.directory.create(&name)?;
        self.created.push(name);
        Ok(file)
    }

    fn report(&mut self, bytes: u64) -> Result<()> {
        self.written_bytes += bytes;
        self.unreported_bytes += bytes;
        if self.unreported_bytes >= PROGRESS_BYTES
            && let Some(progress) = &mut self.progress
        {
            progress(std::mem::take(&mut self.unreported_bytes))?;
        }
        Ok(())
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        for name in &self.created {
            // Best effort: no commit lists a file that stays, and it is removed when the shard opens.
            let _ = self.directory.delete(name);
        }
    }
}

impl<'d> SegmentWriter<'d> {
    /// Writes a segment into a folder. No file is created before [`SegmentWriter::finish`] unless the bytes
    /// outgrow memory.
    pub fn new(directory: &'d dyn Directory, id: SegmentId) -> SegmentWriter<'d> {
        let shared = Shared {
            directory,
            id,
            held_bytes: 0,
            compound_bytes_max: COMPOUND_BYTES_MAX,
            spilled: false,
            created: Vec::new(),
            progress: None,
            unreported_bytes: 0,
            written_bytes: 0,
        };
        SegmentWriter {
            shared: Rc::new(RefCell::new(shared)),
            lanes: Lane::ALL.map(|_| Some(LaneWriter::default())),
        }
    }

    /// Sets a hook that is called as bytes are written.
    pub fn with_progress(self, progress: Box<Progress<'d>>) -> SegmentWriter<'d> {
        self.shared.borrow_mut().progress = Some(progress);
        self
    }

    /// Splits the segment into one file per lane from this size on, instead of [`COMPOUND_BYTES_MAX`].
    pub fn with_compound_bytes_max(self, bytes: usize) -> SegmentWriter<'d> {
        self.shared.borrow_mut().compound_bytes_max = bytes;
        self
    }

    /// Returns the bytes of sections written so far.
    pub fn written_bytes(&self) -> u64 {
        self.shared.borrow().written_bytes
    }

    /// Opens the section (`kind`, `field`; [`NO_FIELD`] for one of the whole segment). The lane's previous
    /// section must have ended.
    pub fn begin(&mut self, kind: SectionKind, field: u32) -> SectionWriter<'d> {
        let lane = self.lanes[kind.lane() as usize].take().expect("one open section per lane");
        SectionWriter { shared: self.shared.clone(), lane, kind, field, len: 0, crc: Crc32::new() }
    }

    /// Closes a section.
    pub fn end(&mut self, mut section: SectionWriter<'d>) {
        let SectionWriter { kind, field, len, .. } = section;
        section.lane.sections.push(WrittenSection { kind, field, len, crc: section.crc });
        self.lanes[kind.lane() as usize] = Some(section.lane);
    }

    /// Abandons a section to which nothing was appended.
    pub fn discard(&mut self, section: SectionWriter<'d>) {
        assert_eq!(section.len, 0, "a section with bytes cannot be taken back");
        self.lanes[section.kind.lane() as usize] = Some(section.lane);
    }

    /// Writes a whole section at once.
    pub fn put(&mut self, kind: SectionKind, field: u32, bytes: &[u8]) -> Result<()> {
        let mut section = self.begin(kind, field);
        section.append(bytes)?;
        self.end(section);
        Ok(())
    }

    /// Writes field infos (a field's number is its index in the list), section table and footers. Nothing
    /// is durable yet: the caller syncs `meta.files` before it commits.
    pub fn finish(
        mut self,
        field_infos: &[FieldInfo],
        doc_count: u32,
        seq_no_bounds: Option<(u64, u64)>,
    ) -> Result<SegmentMeta> {
        self.put(SectionKind::Fields, NO_FIELD, &fields::encode(field_infos))?;
        let lanes = self.lanes.map(|lane| lane.expect("every section was ended"));
        let mut shared = self.shared.borrow_mut();
        let files = match shared.spilled {
            true => finish_files(&mut shared, lanes, doc_count)?,
            false => finish_compound(&mut shared, lanes, doc_count)?,
        };
        let unreported_bytes = std::mem::take(&mut shared.unreported_bytes);
        if let Some(progress) = &mut shared.progress {
            progress(unreported_bytes)?;
        }
        shared.created.clear();
        Ok(SegmentMeta {
            id: shared.id,
            doc_count,
            bytes: files.iter().map(|file| file.len).sum(),
            files,
            min_seq_no: seq_no_bounds.map(|(min, _)| min),
            max_seq_no: seq_no_bounds.map(|(_, max)| max),
        })
    }
}

fn finish_compound(shared: &mut Shared<'_>, lanes: Lanes, doc_count: u32) -> Result<Vec<FileMeta>> {
    let mut file = shared.create(Lane::Main)?;
    file.write_all(&header(shared.id, Lane::Main))?;
    let mut sections = Vec::new();
    for mut lane in lanes {
        lane.held.write(&mut *file)?;
        sections.append(&mut lane.sections);
    }
    let crc = sections_crc(shared.id, Lane::Main, &sections);
    let end = file.position();
    let mut tail = table(doc_count, &[TableFile { lane: Lane::Main, len: end, sections, footer_crc: 0 }]);
    let footer = footer(shared.id, Lane::Main, end, &tail);
    tail.extend_from_slice(&footer);
    Ok(vec![finish_file(file, shared.id, Lane::Main, crc, &tail)?])
}

fn finish_files(shared: &mut Shared<'_>, lanes: Lanes, doc_count: u32) -> Result<Vec<FileMeta>> {
    let mut lanes = lanes.into_iter().zip(Lane::ALL);
    let (mut main, _) = lanes.next().expect("the main lane is the first");
    main.spill(shared, Lane::Main)?;
    let mut files = Vec::new();
    let mut entries = Vec::new();
    for (mut writer, lane) in lanes.filter(|(writer, _)| !writer.sections.is_empty()) {
        writer.spill(shared, lane)?;
        let end = writer.file.as_ref().map_or(0, |file| file.position());
        let footer = footer(shared.id, lane, end, &[]);
        let sections = std::mem::take(&mut writer.sections);
        let crc = sections_crc(shared.id, lane, &sections);
        let meta = finish_file(writer.into_file(), shared.id, lane, crc, &footer)?;
        entries.push(TableFile { lane, len: meta.len, sections, footer_crc: footer_crc(&footer) });
        files.push(meta);
    }
    let end = main.file.as_ref().map_or(0, |file| file.position());
    let sections = std::mem::take(&mut main.sections);
    let crc = sections_crc(shared.id, Lane::Main, &sections);
    entries.insert(0, TableFile { lane: Lane::Main, len: end, sections, footer_crc: 0 });
    let table = table(doc_count, &entries);
    let mut tail = table.clone();
    tail.extend_from_slice(&footer(shared.id, Lane::Main, end, &table));
    files.insert(0, finish_file(main.into_file(), shared.id, Lane::Main, crc, &tail)?);
    Ok(files)
}

type Lanes = [LaneWriter; Lane::ALL.len()];

impl LaneWriter {
    fn into_file(self) -> Box<dyn FileWriter> {
        self.file.expect("the lane was spilled")
    }
}

/// Returns the checksum of a file up to the end of its sections.
fn sections_crc(id: SegmentId, lane: Lane, sections: &[WrittenSection]) -> Crc32 {
    let mut crc = Crc32::new();
    crc.update(&header(id, lane));
    sections.iter().for_each(|section| crc.append(&section.crc));
    crc
}

/// Appends what follows the sections. `crc` covers everything before.
fn finish_file(
    mut file: Box<dyn FileWriter>,
    id: SegmentId,
    lane: Lane,
    mut crc: Crc32,
    tail: &[u8],
) -> Result<FileMeta> {
    file.write_all(tail)?;
    let len = file.position();
    file.finish()?;
    crc.update(tail);
    Ok(FileMeta { name: id.file_name(lane), len, crc: crc.finish() })
}

struct TableFile {
    lane: Lane,
    /// For the main file, where its sections end (its length depends on the table); for others, the file's
    /// length.
    len: u64,
    sections: Vec<WrittenSection>,
    footer_crc: u32,
}

pub(super) fn header(id: SegmentId, lane: Lane) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&(lane as u32).to_le_bytes());
    bytes[16..].copy_from_slice(&id.0.to_le_bytes());
    bytes
}

fn footer(id: SegmentId, lane: Lane, table_offset: u64, table: &[u8]) -> [u8; FOOTER_BYTES] {
    let mut bytes = [0; FOOTER_BYTES];
    bytes[..8].copy_from_slice(&table_offset.to_le_bytes());
    bytes[8..16].copy_from_slice(&(table.len() as u64).to_le_bytes());
    bytes[16..20].copy_from_slice(&crc32(table).to_le_bytes());
    let file_len = table_offset + (table.len() + FOOTER_BYTES) as u64;
    let crc = ends_crc(&header(id, lane), &bytes[..20], file_len);
    bytes[20..24].copy_from_slice(&crc.to_le_bytes());
    bytes[24..].copy_from_slice(&MAGIC_END);
    bytes
}

/// Returns the checksum of header, footer and length of a file.
pub(super) fn ends_crc(header: &[u8; HEADER_BYTES], footer_start: &[u8], file_len: u64) -> u32 {
    let mut crc = Crc32::new();
    crc.update(header);
    crc.update(footer_start);
    crc.update(&file_len.to_le_bytes());
    crc.finish()
}

fn footer_crc(footer: &[u8; FOOTER_BYTES]) -> u32 {
    u32::from_le_bytes([footer[20], footer[21], footer[22], footer[23]])
}

fn table(doc_count: u32, files: &[TableFile]) -> Vec<u8> {
    let mut bytes = Vec::new();
    varint::write_u32(&mut bytes, doc_count);
    varint::write_u64(&mut bytes, files.len() as u64);
    for file in files {
        bytes.push(file.lane as u8);
        varint::write_u64(&mut bytes, file.len);
        varint::write_u64(&mut bytes, file.sections.len() as u64);
        bytes.extend_from_slice(&file.footer_crc.to_le_bytes());
        for section in &file.sections {
            bytes.push(section.kind as u8);
            varint::write_u32(&mut bytes, section.field.wrapping_add(1));
            varint::write_u64(&mut bytes, section.len);
            bytes.extend_from_slice(&section.crc.clone().finish().to_le_bytes());
        }
    }
    bytes
}
