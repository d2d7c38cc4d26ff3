//! Byte layout of a segment's files, and why.
//!
//! All integers are little-endian; `varint` is LEB128. A segment is either **one compound file**
//! (`_<id>.seg`, below [`COMPOUND_BYTES_MAX`]) or one file a [`Lane`]; both look the same: header, sections
//! back to back without padding, footer. Only the main file (`.seg`) holds a section table.
//!
//! ```text
//! header   offset  size  field
//!               0     8  MAGIC "LIMBRSEG"
//!               8     4  VERSION u32
//!              12     4  lane u32 (0 = main)
//!              16     8  segment id u64
//! sections      24   ..  bytes of every section, in the order of the table, no gaps
//! table               ..  main file only, see below
//! footer  end-32     8  offset of the table u64 (end of the sections in files without one)
//!         end-24     8  length of the table u64 (0 in files without one)
//!         end-16     4  CRC-32 of the table u32
//!         end-12     4  CRC-32 of header ‖ footer[0..20] ‖ file length u64
//!          end-8     8  MAGIC_END "GESRBMIL"
//!
//! table    varint doc_count
//!          varint file_count, then per file (main first):
//!             u8 lane, varint length (main file: where its sections end), varint section_count,
//!             u32 the CRC at end-12 of that file (main file: 0), then per section:
//!                u8 kind, varint field + 1 (0 = none), varint length, u32 CRC-32
//! ```
//!
//! A section's offset is the sum of the lengths before it, so a table entry costs about 8 bytes and no byte
//! of a file is outside a checksum.
//!
//! **Versions.** Magic and version stay where they are for ever; a later version is refused by name
//! ([`limber_store::Error::Newer`]), and every version since 1 is read. [`VERSION`] is raised when bytes that
//! older builds would read wrongly can be written: another layout of a section, a new kind of section, a new
//! flag or representation of a field. `tests/format.rs` fails where bytes change and says so. Version 1 is
//! what 3694ce2 writes: until then, sections of points as bit sets (4572d11), places in Z order (46136e1),
//! nested documents (5482736), shapes (91cf70b) and keyed terms (3071005) came in under the same number, so
//! that builds before them read such segments wrongly; no folder of theirs is promised to open. Version 2 has
//! checksums of stored blocks.
//!
//! A torn write leaves a file whose length or footer does not fit: [`super::SegmentFile::open`]
//! refuses it. Opening reads headers, footers and the table; who verifies the sections stands in `verify.rs`.
//!
//! Field infos ([`super::FieldInfo`]) are a section of kind `Fields`: varint field_count, then per field:
//! varint path length, path (UTF-8), u8 representation (0 text, 1 terms, 2 number, 3 shape), u8 flags (bit 0
//! index, 1 column, 2 norms, 3 frequencies, 4 positions, 5 points in Z order). A field's number is its index
//! in this list and means nothing outside the segment. The keyed terms of a flattened field have its path
//! with [`limber_mapping::KEYED_PATH_END`] behind it.

/// First bytes of every file of a segment.
pub const MAGIC: [u8; 8] = *b"LIMBRSEG";
/// Last bytes of every file of a segment.
pub const MAGIC_END: [u8; 8] = *b"GESRBMIL";
/// Raised with every change of any section's layout; see **Versions** above.
pub const VERSION: u32 = 2;
/// Bytes before the first section of a file.
pub const HEADER_BYTES: usize = 24;
/// Bytes at the end of a file.
pub const FOOTER_BYTES: usize = 32;
/// A segment below this size is one file, so that a refresh costs one create and one write. 10 MB is where
/// Lucene's default merge policy stops using compound files as well (a tenth of a 100 MB shard).
pub const COMPOUND_BYTES_MAX: usize = 10 << 20;

/// Which file of a large segment a section goes to. Sections of different lanes can be written at the same
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Lane {
    /// What is read when a segment is opened.
    Main = 0,
    /// Pages of term indexes.
    TermIndex = 1,
    /// Term blocks.
    Terms = 2,
    /// Postings.
    Postings = 3,
    /// Positions.
    Positions = 4,
    /// Columns.
    Columns = 5,
    /// Points.
    Points = 6,
    /// Sources and shapes.
    Stored = 7,
}

impl Lane {
    /// All of them, by number.
    pub const ALL: [Lane; 8] = [
        Lane::Main,
        Lane::TermIndex,
        Lane::Terms,
        Lane::Postings,
        Lane::Positions,
        Lane::Columns,
        Lane::Points,
        Lane::Stored,
    ];

    /// File name suffix.
    pub fn extension(self) -> &'static str {
        match self {
            Lane::Main => "seg",
            Lane::TermIndex => "tip",
            Lane::Terms => "tim",
            Lane::Postings => "doc",
            Lane::Positions => "pos",
            Lane::Columns => "dv",
            Lane::Points => "kd",
            Lane::Stored => "src",
        }
    }
}

/// What a section holds. One row here and in [`SectionKind::lane`] adds a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum SectionKind {
    /// Field infos; once a segment.
    Fields = 0,
    /// Pages of the FST over term-block separators.
    TermIndex = 1,
    /// Resident directory of the term index: field statistics, first key, offset and checksum of every page.
    TermDirectory = 2,
    /// Term blocks.
    Terms = 3,
    /// Doc ids, frequencies, skip data.
    Postings = 4,
    /// Positions of terms in texts.
    Positions = 5,
    /// Norms, a byte a document.
    Norms = 6,
    /// Filter over `_id`.
    IdFilter = 7,
    /// Number or ordinal column.
    Column = 8,
    /// Points, one- or two-dimensional.
    Points = 9,
    /// Compressed blocks of `_source`; once a segment.
    StoredBlocks = 10,
    /// Where the stored blocks are; once a segment.
    StoredIndex = 11,
    /// Nested spaces ([`crate::nested`]); once a segment that has any.
    Nested = 12,
    /// Bytes of shapes ([`crate::shapes`]).
    Shapes = 13,
    /// Checksums of the stored blocks; once a segment since version 2.
    StoredChecksums = 14,
}

impl SectionKind {
    /// All of them, by number.
    pub const ALL: [SectionKind; 15] = [
        SectionKind::Fields,
        SectionKind::TermIndex,
        SectionKind::TermDirectory,
        SectionKind::Terms,
        SectionKind::Postings,
        SectionKind::Positions,
        SectionKind::Norms,
        SectionKind::IdFilter,
        SectionKind::Column,
        SectionKind::Points,
        SectionKind::StoredBlocks,
        SectionKind::StoredIndex,
        SectionKind::Nested,
        SectionKind::Shapes,
        SectionKind::StoredChecksums,
    ];

    /// The kind of this number.
    pub fn from_byte(byte: u8) -> Option<SectionKind> {
        SectionKind::ALL.get(usize::from(byte)).copied()
    }

    /// The file that such sections go to in a large segment.
    pub fn lane(self) -> Lane {
        match self {
            SectionKind::Fields
            | SectionKind::TermDirectory
            | SectionKind::Norms
            | SectionKind::IdFilter
            | SectionKind::StoredIndex
            | SectionKind::StoredChecksums
            | SectionKind::Nested => Lane::Main,
            SectionKind::TermIndex => Lane::TermIndex,
            SectionKind::Terms => Lane::Terms,
            SectionKind::Postings => Lane::Postings,
            SectionKind::Positions => Lane::Positions,
            SectionKind::Column => Lane::Columns,
            SectionKind::Points => Lane::Points,
            // Not with the columns: a merge writes a field's shapes and their column at the same time.
            SectionKind::StoredBlocks | SectionKind::Shapes => Lane::Stored,
        }
    }
}
