//! Checksums of an open segment: "is this still what was written, and what is known to be damaged?"
//!
//! Opening a segment verifies headers, footers and the section table, but no section: that would read every
//! byte. Sections are verified where damage could spread, and by the scrub:
//!
//! * A **merge** verifies every section of its sources before it reads it, and stored documents while it
//!   reads them. It does so even for sections that were verified before or that this process wrote: the
//!   bytes may have rotted since, and after a failed write-back the pages in memory differ from those on
//!   disk. This costs one pass of CRC-32 over bytes that are read anyway.
//! * A **write** looks up the document that it replaces. The fields needed for that are verified before the
//!   first such lookup in a segment, unless this process wrote the segment. Likewise, columns are verified
//!   before a source that is synthesized from them is first written again.
//! * A **reader of stored documents** compares each block with the block's own checksum
//!   ([`crate::stored`]).
//! * A **scrub** reads the files piece by piece, not through their maps.
//!
//! Damage is remembered while the segment is open. The accessors of a damaged section fail and others
//! continue to work; if a page of a mapped file could not be read, every access to the segment fails
//! ([`limber_store::mapped`]).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use limber_codec::checksum::{Crc32, crc32};
use limber_store::mapped::fault_count;
use limber_store::{Directory, Error as StoreError};
use parking_lot::Mutex;

use super::SectionKind;
use super::meta::{FieldInfo, FileMeta, SegmentMeta};
use super::reader::{SectionEntry, SegmentFile, corrupt_file};
use super::writer::NO_FIELD;
use crate::identity::ID_PATH;
use crate::{Error, Result};

/// The fields that a write reads to find the document that it replaces, its sequence number and its version.
const IDENTITIES: [&str; 4] = [ID_PATH, "_seq_no", "_primary_term", "_version"];

/// Something wrong with a file of an open segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Name of the file, without its folder.
    pub file: String,
    /// Byte in the file.
    pub offset: u64,
    /// What should be there.
    pub expected: String,
    /// What is there.
    pub found: String,
}

impl Damage {
    /// Returns the error for readers of the damaged part.
    pub fn to_error(&self) -> Error {
        corrupt_file(&self.file, self.offset, &self.expected, &self.found)
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Damage { file, offset, expected, found } = self;
        write!(f, "{file} at offset {offset}: expected {expected}, found {found}")
    }
}

/// What is known to be wrong with a segment's files.
pub(super) struct KnownDamage {
    /// Whether there is any damage of `sections` or `others`.
    is_any: AtomicBool,
    /// Whether a file's length differs from the commit's. Past the end of a shortened file the map reads as
    /// zeros, up to the end of its last page without a fault.
    has_other_length: AtomicBool,
    /// Indexed by section, in the order of [`SegmentFile::sections`]: 0, or [`IS_WRONG`] and the checksum
    /// that was found.
    sections: Box<[AtomicU64]>,
    /// Damage outside of sections: a file's ends, its length, a disk that refuses to read it.
    others: Mutex<Vec<Damage>>,
    /// Whether [`IDENTITIES`] need no further check, because this process verified or wrote them.
    are_identities_sound: AtomicBool,
    /// The same for the fields that have columns.
    are_columns_sound: AtomicBool,
}

const IS_WRONG: u64 = 1 << 32;

impl KnownDamage {
    pub(super) fn none(section_count: usize) -> KnownDamage {
        KnownDamage {
            is_any: AtomicBool::new(false),
            has_other_length: AtomicBool::new(false),
            sections: (0..section_count).map(|_| AtomicU64::new(0)).collect(),
            others: Mutex::default(),
            are_identities_sound: AtomicBool::new(false),
            are_columns_sound: AtomicBool::new(false),
        }
    }
}

/// Bytes that a scrub reads at a time.
const SCRUB_BYTES: usize = 256 << 10;

impl SegmentFile {
    /// Fails if any access to a mapped file has failed so far, or if a file is known to have a wrong length.
    #[inline]
    pub fn intact(&self) -> Result<()> {
        let is_other = self.known.has_other_length.load(Ordering::Acquire);
        match !is_other && self.maps().all(|(_, bytes)| bytes.damage().is_none()) {
            true => Ok(()),
            false => self.look_for_faults(),
        }
    }

    /// Does the same as [`SegmentFile::intact`] without looking at each file: two loads in the normal case.
    #[inline]
    pub fn known_intact(&self) -> Result<()> {
        match fault_count() == 0 && !self.known.has_other_length.load(Ordering::Acquire) {
            true => Ok(()),
            false => self.look_for_faults(),
        }
    }

    #[cold]
    fn look_for_faults(&self) -> Result<()> {
        if self.known.has_other_length.load(Ordering::Acquire)
            && let Some(damage) = self.known.others.lock().first()
        {
            return Err(damage.to_error());
        }
        match self.faults().next() {
            Some(fault) => Err(fault.to_error()),
            None => Ok(()),
        }
    }

    fn faults(&self) -> impl Iterator<Item = Damage> {
        self.maps().filter_map(|(name, bytes)| {
            let offset = bytes.damage()?;
            let (expected, found) = (format!("{} readable bytes", bytes.len()), "a page that cannot be read");
            Some(Damage { file: name.to_string(), offset, expected, found: found.to_owned() })
        })
    }

    /// Fails if one of these sections of a field is known to be damaged. Costs two loads if there is no
    /// damage.
    #[inline]
    pub fn check_known(&self, kinds: &[SectionKind], field: u32) -> Result<()> {
        self.known_intact()?;
        if !self.known.is_any.load(Ordering::Acquire) {
            return Ok(());
        }
        let damage = kinds.iter().find_map(|&kind| self.known_of(self.section_index(kind, field)?));
        damage.map_or(Ok(()), |damage| Err(damage.to_error()))
    }

    /// Fails if any section of a field is known to be damaged.
    pub fn readable_field(&self, field: u32) -> Result<()> {
        self.known_intact()?;
        if !self.known.is_any.load(Ordering::Acquire) {
            return Ok(());
        }
        let of_field = (0..self.sections().len()).filter(|&at| self.sections()[at].field == field);
        of_field.filter_map(|at| self.known_of(at)).next().map_or(Ok(()), |damage| Err(damage.to_error()))
    }

    /// Whether any damage is known.
    #[inline]
    pub fn is_damaged(&self) -> bool {
        self.known.is_any.load(Ordering::Acquire) || self.intact().is_err()
    }

    /// Returns all known damage.
    pub fn damage(&self) -> Vec<Damage> {
        let mut all: Vec<Damage> = self.faults().collect();
        all.extend((0..self.sections().len()).filter_map(|at| self.known_of(at)));
        all.extend(self.known.others.lock().iter().cloned());
        all
    }

    fn known_of(&self, at: usize) -> Option<Damage> {
        let noted = self.known.sections[at].load(Ordering::Acquire);
        (noted & IS_WRONG != 0).then(|| self.described(&self.sections()[at], noted as u32))
    }

    fn described(&self, entry: &SectionEntry, found: u32) -> Damage {
        let field = self.fields.get(entry.field as usize);
        let of = field.map_or_else(String::new, |field| format!(" of [{}]", field.shown_path()));
        Damage {
            file: self.file_name(entry).to_string(),
            offset: entry.offset,
            expected: format!(
                "checksum {:08x} of the {} bytes of section {:?}{of}",
                entry.crc, entry.len, entry.kind
            ),
            found: format!("{found:08x}"),
        }
    }

    /// Compares a checksum with the section's and remembers a difference.
    fn compare(&self, at: usize, found: u32) -> Result<()> {
        // Zeros that were read instead of an unreadable page are not reported separately.
        self.intact()?;
        let entry = &self.sections()[at];
        if found == entry.crc {
            return Ok(());
        }
        self.known.sections[at].store(IS_WRONG | u64::from(found), Ordering::Release);
        self.known.is_any.store(true, Ordering::Release);
        Err(self.described(entry, found).to_error())
    }

    fn verify(&self, at: usize) -> Result<()> {
        self.compare(at, crc32(self.entry_bytes(&self.sections()[at])))
    }

    /// Verifies every section of a field.
    pub(crate) fn verify_field(&self, field: u32) -> Result<()> {
        let of_field = (0..self.sections().len()).filter(|&at| self.sections()[at].field == field);
        of_field.into_iter().try_for_each(|at| self.verify(at))
    }

    /// Verifies [`IDENTITIES`], once per open segment. If the term of an id were damaged, a write would not
    /// find its document and would add a second one; if a number were damaged, the write would see a wrong
    /// version.
    pub(crate) fn verify_identities(&self) -> Result<()> {
        self.verify_once(&self.known.are_identities_sound, |field| IDENTITIES.contains(&&*field.path))
    }

    /// Verifies the fields that have columns, once per open segment. A write that carries over a source
    /// synthesized from columns would otherwise give rotten values a valid checksum.
    pub(crate) fn verify_columns(&self) -> Result<()> {
        self.verify_once(&self.known.are_columns_sound, |field| field.column)
    }

    /// Verifies the fields that are wanted unless `are_sound` is set; sets it on success.
    fn verify_once(&self, are_sound: &AtomicBool, is_wanted: impl Fn(&FieldInfo) -> bool) -> Result<()> {
        if are_sound.load(Ordering::Acquire) {
            return Ok(());
        }
        for (number, _) in self.fields.iter().enumerate().filter(|(_, field)| is_wanted(field)) {
            self.verify_field(number as u32)?;
        }
        are_sound.store(true, Ordering::Release);
        Ok(())
    }

    /// Verifies the dictionary of the stored documents, if there is one.
    pub(crate) fn verify_dictionary(&self) -> Result<()> {
        let at = self.section_index(SectionKind::StoredDictionary, NO_FIELD);
        at.map_or(Ok(()), |at| self.verify(at))
    }

    /// Marks the fields that writes rely on as sound without reading them, because this process has just
    /// written the segment.
    pub(crate) fn trust_written(&self) {
        self.known.are_identities_sound.store(true, Ordering::Release);
        self.known.are_columns_sound.store(true, Ordering::Release);
    }

    /// Verifies the lengths of files and the sections of the whole segment, except its stored documents
    /// ([`Follower`]).
    pub(crate) fn verify_whole(&self, directory: &dyn Directory, meta: &SegmentMeta) -> Result<()> {
        self.verify_lengths(directory, meta)?;
        let of_whole = |at: &usize| {
            let entry = &self.sections()[*at];
            entry.field == NO_FIELD && entry.kind != SectionKind::StoredBlocks
        };
        (0..self.sections().len()).filter(of_whole).try_for_each(|at| self.verify(at))
    }

    /// Fails if a file is shorter or longer than the commit says: some other process changed it.
    pub fn verify_lengths(&self, directory: &dyn Directory, meta: &SegmentMeta) -> Result<()> {
        meta.files.iter().try_for_each(|file| self.verify_length(directory, file))
    }

    fn verify_length(&self, directory: &dyn Directory, file: &FileMeta) -> Result<()> {
        let len = directory.len(&file.name)?;
        if len == file.len {
            return Ok(());
        }
        let error = self.note(Damage {
            file: file.name.clone(),
            offset: len.min(file.len),
            expected: format!("{} bytes", file.len),
            found: format!("{len} bytes"),
        });
        self.known.has_other_length.store(true, Ordering::Release);
        Err(error)
    }

    /// Starts a checksum that follows a reader of stored documents.
    pub(crate) fn follow_stored(&self) -> Follower<'_> {
        Follower {
            file: self,
            at: self.section_index(SectionKind::StoredBlocks, NO_FIELD),
            done: 0,
            crc: Crc32::new(),
        }
    }

    /// Reads every byte from the disk and compares it with the checksums. `pace` is called with a number of
    /// bytes before they are read. An error of `pace` ends the scrub, as does a disk error that says
    /// nothing about the bytes. Damage is remembered ([`SegmentFile::damage`]).
    pub fn scrub(
        &self,
        directory: &dyn Directory,
        meta: &SegmentMeta,
        pace: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let mut buffer = vec![0; SCRUB_BYTES];
        for file in &meta.files {
            match self.scrub_file(directory, file, &mut buffer, pace) {
                Err(Error::Store(error @ StoreError::Io { .. })) if says_unreadable(&error) => {
                    let (expected, found) = (format!("{} readable bytes", file.len), error.to_string());
                    self.note(Damage { file: file.name.clone(), offset: 0, expected, found });
                }
                // The damage is remembered already; the scrub continues with the other files.
                Err(Error::Store(StoreError::Corrupt { .. })) => {}
                outcome => outcome?,
            }
        }
        Ok(())
    }

    fn scrub_file(
        &self,
        directory: &dyn Directory,
        file: &FileMeta,
        buffer: &mut [u8],
        pace: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        self.verify_length(directory, file)?;
        let FileMeta { name, len, crc: expected } = file;
        let mut crc_of = |start: u64, end: u64| -> Result<u32> {
            let (mut crc, mut at) = (Crc32::new(), start);
            while at < end {
                let piece = &mut buffer[..SCRUB_BYTES.min((end - at) as usize)];
                pace(piece.len() as u64)?;
                directory.read_into(name, at, piece)?;
                crc.update(piece);
                at += piece.len() as u64;
            }
            Ok(crc.finish())
        };
        let found = crc_of(0, *len)?;
        if found == *expected {
            return Ok(());
        }
        let mut is_placed = false;
        for at in (0..self.sections().len()).filter(|&at| **self.file_name(&self.sections()[at]) == **name) {
            let entry = &self.sections()[at];
            is_placed |= self.compare(at, crc_of(entry.offset, entry.offset + entry.len)?).is_err();
        }
        if is_placed {
            return Ok(());
        }
        Err(self.note(Damage {
            file: name.clone(),
            offset: 0,
            expected: format!("checksum {expected:08x} of the whole file"),
            found: format!("{found:08x}, in header, section table or footer"),
        }))
    }

    /// Remembers damage that was found by other means than checksums; readers do not fail because of it.
    pub fn note_unsound(&self, place: &str, message: &str) {
        let file = self.maps().next().map_or_else(String::new, |(name, _)| name.to_string());
        let expected = format!("a sound structure of {place}");
        self.note(Damage { file, offset: 0, expected, found: message.to_owned() });
    }

    /// Remembers damage found by a reader of stored documents, `offset` bytes from the start of their blocks.
    pub(crate) fn note_stored(&self, offset: u64, expected: &str) -> Error {
        let Some(entry) = self.entry(SectionKind::StoredBlocks, NO_FIELD) else {
            return Error::corrupt("stored blocks", offset, "stored documents");
        };
        self.note(Damage {
            file: self.file_name(entry).to_string(),
            offset: entry.offset + offset,
            expected: expected.to_owned(),
            found: "something else".to_owned(),
        })
    }

    /// Remembers damage, each only once.
    fn note(&self, damage: Damage) -> Error {
        let error = damage.to_error();
        let mut others = self.known.others.lock();
        if !others.iter().any(|known| known.file == damage.file && known.expected == damage.expected) {
            others.push(damage);
        }
        self.known.is_any.store(true, Ordering::Release);
        error
    }
}

/// Whether the error is about the bytes of the file, as opposed to a file that is gone or a process out of
/// descriptors or memory.
fn says_unreadable(error: &StoreError) -> bool {
    const EIO: i32 = 5;
    matches!(error, StoreError::Io { source, .. }
        if source.raw_os_error() == Some(EIO) || source.kind() == std::io::ErrorKind::UnexpectedEof)
}

/// The checksum of the stored documents, computed while a reader goes from the first to the last.
pub(crate) struct Follower<'f> {
    file: &'f SegmentFile,
    /// Index of the section; `None` if the segment has no stored documents.
    at: Option<usize>,
    done: usize,
    crc: Crc32,
}

impl Follower<'_> {
    /// Adds the bytes up to `end`, counted from the start of the section; called before the reader reads
    /// them.
    pub(crate) fn advance(&mut self, end: usize) {
        let Some(at) = self.at else { return };
        let bytes = self.file.entry_bytes(&self.file.sections()[at]);
        let end = end.min(bytes.len());
        if end > self.done {
            self.crc.update(&bytes[self.done..end]);
            self.done = end;
        }
    }

    /// Fails if the section is not what was written. Nothing read before is then to be trusted.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.advance(usize::MAX);
        self.at.map_or(Ok(()), |at| self.file.compare(at, self.crc.finish()))
    }
}
