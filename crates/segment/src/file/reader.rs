//! Reads the sections of a segment's files: "give me the bytes of that section of that field".

use std::sync::Arc;

use limber_codec::checksum::crc32;
use limber_codec::{Corrupt, Reader};
use limber_store::{Directory, FileBytes};

use super::fields;
use super::format::{FOOTER_BYTES, HEADER_BYTES, Lane, MAGIC, MAGIC_END, SectionKind, VERSION};
use super::meta::{FieldInfo, FileMeta, SegmentId, SegmentMeta};
use super::verify::KnownDamage;
use super::writer::{NO_FIELD, ends_crc, header};
use crate::{Error, Result};

/// The mapped files of one segment and where each section lies in them.
pub struct SegmentFile {
    files: Vec<OpenFile>,
    /// Sorted by (kind, field).
    sections: Vec<SectionEntry>,
    /// All fields: those of the documents, then those of each nested space.
    pub fields: Vec<FieldInfo>,
    /// Documents, deleted ones included, nested ones excluded.
    pub doc_count: u32,
    pub(super) known: KnownDamage,
}

struct OpenFile {
    name: Arc<str>,
    bytes: FileBytes,
}

/// The location of one section.
#[derive(Debug, Clone, Copy)]
pub struct SectionEntry {
    /// What it holds.
    pub kind: SectionKind,
    /// [`NO_FIELD`] for sections of the segment as a whole.
    pub field: u32,
    file: usize,
    /// Offset in its file, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
    /// CRC-32 of its bytes.
    pub crc: u32,
}

impl SegmentFile {
    /// Maps the files of `meta` and verifies lengths, headers, footers and the section table, but not the
    /// sections.
    pub fn open(directory: &dyn Directory, meta: &SegmentMeta) -> Result<SegmentFile> {
        let main = open_file(directory, &meta.id.file_name(Lane::Main), meta)?;
        let name = main.name.clone();
        let (table_offset, table_len) = verify_ends(&main, meta.id, Lane::Main)?;
        let table = main.bytes.slice(table_offset, table_len).expect("verify_ends checked it");
        let mut this = SegmentFile {
            files: vec![main],
            sections: Vec::new(),
            fields: Vec::new(),
            doc_count: 0,
            known: KnownDamage::none(0),
        };
        let at = |corrupt: Corrupt| {
            corrupt_file(&name, (table_offset + corrupt.offset) as u64, corrupt.expected, "something else")
        };
        let mut reader = Reader::new(&table);
        this.doc_count = reader.varint_u32().map_err(at)?;
        reader.expect(this.doc_count == meta.doc_count, "the document count of the commit").map_err(at)?;
        let file_count = reader.varint().map_err(at)?;
        reader.expect(file_count == meta.files.len() as u64, "the file count of the commit").map_err(at)?;
        for number in 0..meta.files.len() {
            let head = FileHead::read(&mut reader).map_err(at)?;
            reader.expect((head.lane == Lane::Main) == (number == 0), "the main file first").map_err(at)?;
            let end = if number == 0 {
                reader.expect(head.len == table_offset as u64, "sections up to the table").map_err(at)?;
                table_offset
            } else {
                this.open_lane(directory, meta, &head)?
            };
            let mut offset = HEADER_BYTES as u64;
            for _ in 0..head.section_count {
                let section = SectionEntry::read(&mut reader, number, offset).map_err(at)?;
                let next = offset.checked_add(section.len).filter(|&next| next <= end as u64);
                offset = next.ok_or_else(|| at(reader.corrupt("sections inside the file")))?;
                this.sections.push(section);
            }
            reader.expect(offset == end as u64, "sections that fill the file").map_err(at)?;
        }
        reader.expect(reader.remaining() == 0, "the end of the table").map_err(at)?;
        this.sections.sort_unstable_by_key(|section| (section.kind, section.field));
        let twice = this.sections.windows(2).any(|pair| pair[0].key() == pair[1].key());
        reader.expect(!twice, "every section once").map_err(at)?;
        let field_bytes = this.bytes(SectionKind::Fields, NO_FIELD).unwrap_or_default();
        this.fields = fields::decode(field_bytes).map_err(Error::in_section("fields", 0))?;
        let known = |s: &SectionEntry| s.field == NO_FIELD || (s.field as usize) < this.fields.len();
        reader.expect(this.sections.iter().all(known), "known field numbers").map_err(at)?;
        this.known = KnownDamage::none(this.sections.len());
        this.intact()?;
        Ok(this)
    }

    /// Opens a further file; returns where its sections end.
    fn open_lane(&mut self, directory: &dyn Directory, meta: &SegmentMeta, head: &FileHead) -> Result<usize> {
        let file = open_file(directory, &meta.id.file_name(head.lane), meta)?;
        let (end, _) = verify_ends(&file, meta.id, head.lane)?;
        let crc_at = file.bytes.len() - 12;
        if file.bytes.len() as u64 != head.len
            || file.bytes[crc_at..crc_at + 4] != head.footer_crc.to_le_bytes()
        {
            return Err(corrupt_file(
                &file.name,
                crc_at as u64,
                "the file the section table names",
                "another one",
            ));
        }
        self.files.push(file);
        Ok(end)
    }

    /// Returns all sections, sorted by kind and field.
    pub fn sections(&self) -> &[SectionEntry] {
        &self.sections
    }

    /// Returns where the section of this kind of a field lies; [`NO_FIELD`] for a section of the whole
    /// segment.
    pub fn entry(&self, kind: SectionKind, field: u32) -> Option<&SectionEntry> {
        self.section_index(kind, field).map(|at| &self.sections[at])
    }

    /// Returns the index of the section in [`SegmentFile::sections`].
    pub(super) fn section_index(&self, kind: SectionKind, field: u32) -> Option<usize> {
        self.sections.binary_search_by_key(&(kind, field), SectionEntry::key).ok()
    }

    /// Returns the bytes of a section for a reader; fails if the section is known to be damaged.
    pub fn readable_bytes(&self, kind: SectionKind, field: u32) -> Result<Option<&[u8]>> {
        self.check_known(&[kind], field)?;
        Ok(self.bytes(kind, field))
    }

    /// Returns the bytes of a section, even if it is known to be damaged; `None` if the segment has no
    /// section of that kind for that field.
    pub fn bytes(&self, kind: SectionKind, field: u32) -> Option<&[u8]> {
        self.entry(kind, field).map(|entry| self.entry_bytes(entry))
    }

    /// Returns the bytes of a section of [`SegmentFile::sections`].
    pub fn entry_bytes(&self, entry: &SectionEntry) -> &[u8] {
        // In bounds: `open` checked every section against its file.
        &self.files[entry.file].bytes[entry.offset as usize..][..entry.len as usize]
    }

    /// Returns shared bytes of a section, for readers that outlive a borrow.
    pub fn shared(&self, kind: SectionKind, field: u32) -> Option<FileBytes> {
        let entry = self.entry(kind, field)?;
        self.files[entry.file].bytes.slice(entry.offset as usize, entry.len as usize)
    }

    /// Returns the name of the file that holds the section, for `Directory::read` and for messages.
    pub fn file_name(&self, entry: &SectionEntry) -> &Arc<str> {
        &self.files[entry.file].name
    }

    /// (name, map) of every file.
    pub(super) fn maps(&self) -> impl Iterator<Item = (&Arc<str>, &FileBytes)> {
        self.files.iter().map(|file| (&file.name, &file.bytes))
    }

    /// (name, whole bytes) of every file.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|file| (&*file.name, &*file.bytes))
    }
}

impl SegmentMeta {
    /// Returns what a commit would list about a segment, read from its files alone and without the bounds
    /// of sequence numbers. For recovery after the commit was lost. Reads every byte, but verifies only
    /// headers, footers and the table.
    pub fn of_files(directory: &dyn Directory, id: SegmentId) -> Result<SegmentMeta> {
        let listed = |lane: Lane| -> Result<(OpenFile, FileMeta)> {
            let name = id.file_name(lane);
            let bytes = directory.open(&name)?;
            let meta = FileMeta { name: name.clone(), len: bytes.len() as u64, crc: crc32(&bytes) };
            Ok((OpenFile { name: name.into(), bytes }, meta))
        };
        let (main, main_meta) = listed(Lane::Main)?;
        let (offset, len) = verify_ends(&main, id, Lane::Main)?;
        let table = main.bytes.slice(offset, len).expect("verify_ends checked it");
        let at = Error::in_section("section table", offset as u64);
        let mut reader = Reader::new(&table);
        let doc_count = reader.varint_u32().map_err(&at)?;
        let file_count = reader.varint().map_err(&at)?;
        reader.expect((1..=Lane::ALL.len() as u64).contains(&file_count), "a count of files").map_err(&at)?;
        let mut files = vec![main_meta];
        for number in 0..file_count {
            let head = FileHead::read(&mut reader).map_err(&at)?;
            if number > 0 {
                files.push(listed(head.lane)?.1);
            }
            for _ in 0..head.section_count {
                SectionEntry::read(&mut reader, 0, 0).map_err(&at)?;
            }
        }
        let bytes = files.iter().map(|file| file.len).sum();
        Ok(SegmentMeta { id, doc_count, files, bytes, min_seq_no: None, max_seq_no: None })
    }
}

struct FileHead {
    lane: Lane,
    len: u64,
    section_count: u64,
    footer_crc: u32,
}

impl FileHead {
    fn read(reader: &mut Reader<'_>) -> std::result::Result<FileHead, Corrupt> {
        let lane =
            Lane::ALL.get(usize::from(reader.u8()?)).copied().ok_or_else(|| reader.corrupt("a lane"))?;
        let (len, section_count) = (reader.varint()?, reader.varint()?);
        Ok(FileHead { lane, len, section_count, footer_crc: reader.u32()? })
    }
}

impl SectionEntry {
    fn read(reader: &mut Reader<'_>, file: usize, offset: u64) -> std::result::Result<SectionEntry, Corrupt> {
        let kind = SectionKind::from_byte(reader.u8()?).ok_or_else(|| reader.corrupt("a kind of section"))?;
        let field = reader.varint_u32()?.wrapping_sub(1);
        Ok(SectionEntry { kind, field, file, offset, len: reader.varint()?, crc: reader.u32()? })
    }

    fn key(&self) -> (SectionKind, u32) {
        (self.kind, self.field)
    }
}

/// Returns the error for a file that is wrong as a whole.
#[cold]
pub(crate) fn corrupt_file(name: &str, offset: u64, expected: &str, found: &str) -> Error {
    let (file, expected, found) = (name.to_owned(), expected.to_owned(), found.to_owned());
    Error::Store(limber_store::Error::Corrupt { file, offset, expected, found })
}

/// Refuses a file of a format version that this build does not know.
pub(crate) fn check_version(name: &str, found: u32, supported: u32) -> Result<()> {
    match found {
        0 => Err(corrupt_file(name, 8, "a format version", "0")),
        found if found > supported => {
            let (file, found, supported) = (name.to_owned(), u64::from(found), u64::from(supported));
            Err(Error::Store(limber_store::Error::Newer { file, found, supported }))
        }
        _ => Ok(()),
    }
}

fn open_file(directory: &dyn Directory, name: &str, meta: &SegmentMeta) -> Result<OpenFile> {
    let listed = meta.files.iter().find(|file| file.name == name);
    let listed =
        listed.ok_or_else(|| corrupt_file(name, 0, "a file listed by the commit", "none of that name"))?;
    let bytes = directory.open(name)?;
    if bytes.len() as u64 != listed.len {
        let (expected, found) = (format!("{} bytes", listed.len), format!("{} bytes", bytes.len()));
        return Err(corrupt_file(name, bytes.len() as u64, &expected, &found));
    }
    Ok(OpenFile { name: name.into(), bytes })
}

/// Checks header and footer; returns offset and length of the table. In files without one these are the end
/// of the sections and 0.
fn verify_ends(file: &OpenFile, id: SegmentId, lane: Lane) -> Result<(usize, usize)> {
    let bytes: &[u8] = &file.bytes;
    let corrupt = |offset: usize, expected: &str, found: &[u8]| {
        corrupt_file(&file.name, offset as u64, expected, &format!("{found:02x?}"))
    };
    let (Some(start), Some(end)) = (bytes.first_chunk::<HEADER_BYTES>(), bytes.last_chunk::<FOOTER_BYTES>())
    else {
        return Err(corrupt(0, "header and footer", bytes));
    };
    if start[..8] != MAGIC {
        return Err(corrupt(0, "the magic of a segment file", &start[..8]));
    }
    let version = u32::from_le_bytes([start[8], start[9], start[10], start[11]]);
    check_version(&file.name, version, VERSION)?;
    // The version is covered by the checksum of the file's ends.
    if start[12..] != header(id, lane)[12..] {
        return Err(corrupt(12, "the lane and id of this file", &start[12..]));
    }
    let footer_at = bytes.len() - FOOTER_BYTES;
    if end[24..] != MAGIC_END {
        return Err(corrupt(footer_at + 24, "the magic of a footer", &end[24..]));
    }
    let mut reader = Reader::new(end);
    let mut read = || Ok::<_, Corrupt>((reader.u64()?, reader.u64()?, reader.u32()?, reader.u32()?));
    let (offset, len, table_crc, footer_crc) =
        read().map_err(Error::in_section("footer", footer_at as u64))?;
    if ends_crc(start, &end[..20], bytes.len() as u64) != footer_crc {
        return Err(corrupt(footer_at + 20, "the checksum of header, footer and length", &end[20..24]));
    }
    if offset < HEADER_BYTES as u64 || offset.checked_add(len) != Some(footer_at as u64) {
        return Err(corrupt(footer_at, "a table that ends at the footer", &end[..16]));
    }
    if crc32(&bytes[offset as usize..footer_at]) != table_crc {
        return Err(corrupt(footer_at + 16, "the checksum of the table", &end[16..20]));
    }
    Ok((offset as usize, len as usize))
}
