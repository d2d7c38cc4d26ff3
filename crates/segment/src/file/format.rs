//! Byte layout of a segment's files, and why.
//!
//! All integers are little-endian; `varint` is LEB128. A segment is either **one compound file**
//! (`_<id>.seg`, below [`COMPOUND_BYTES_MAX`]) or one file per [`Lane`]. Both have the same structure:
//! header, sections back to back without padding, footer. Only the main file (`.seg`) holds a section table.
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
//! A section's offset is the sum of the lengths before it, so a table entry costs about 8 bytes. Every byte
//! of a file is covered by a checksum.
//!
//! **Versions.** Magic and version keep their offsets forever. A later version is refused with an error that
//! names it ([`limber_store::Error::Newer`]); every version since 1 can be read. [`VERSION`] is raised when
//! the writer can produce bytes that older builds would read wrongly: another layout of a section, a new kind
//! of section, a new flag or representation of a field. `tests/format.rs` fails when bytes change and says
//! so. Version 1 is what 3694ce2 writes. Before that commit, sections of points as bit sets (4572d11), points
//! in Z order (46136e1), nested documents (5482736), shapes (91cf70b) and keyed terms (3071005) were added
//! without a new number, so builds before those changes read such segments wrongly; their folders are not
//! supported. Version 2 adds checksums of stored blocks; version 3 adds stored blocks with a dictionary;
//! version 4 adds terms, ids of blocks and columns as distances from lines, positions above a base, and runs
//! of ids; version 5 adds stored blocks without lengths, rows of skip data in narrower numbers, and packed
//! norms.
//!
//! A torn write leaves a file whose length or footer does not fit; [`super::SegmentFile::open`] refuses it.
//! Opening reads headers, footers and the table; `verify.rs` describes when sections are verified.
//!
//! Field infos ([`super::FieldInfo`]) are a section of kind `Fields`: varint field_count, then per field:
//! varint path length, path (UTF-8), u8 representation (0 text, 1 terms, 2 number, 3 shape), u8 flags (bit
//! 0 index, 1 column, 2 norms, 3 frequencies, 4 positions, 5 points in Z order). A field's number is its
//! index in this list and is only valid within the segment. The keyed terms of a flattened field have its
//! path followed by [`limber_mapping::KEYED_PATH_END`].

/// First bytes of every file of a segment.
pub const MAGIC: [u8; 8] = *b"LIMBRSEG";
/// Last bytes of every file of a segment.
pub const MAGIC_END: [u8; 8] = *b"GESRBMIL";
/// Raised with every change of any section's layout; see **Versions** above.
pub const VERSION: u32 = 5;
/// Bytes before the first section of a file.
pub const HEADER_BYTES: usize = 24;
/// Bytes at the end of a file.
pub const FOOTER_BYTES: usize = 32;
/// A segment below this size is one file, so that a refresh costs one create and one write. 10 MB is where
/// Lucene's default merge policy stops using compound files as well (a tenth of a 100 MB shard).
pub const COMPOUND_BYTES_MAX: usize = 10 << 20;

/// The file of a large segment that a section goes to. Sections of different lanes can be written at the
/// same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Lane {
    /// Everything that is read when a segment is opened.
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
    /// All lanes, by number.
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

    /// Returns the file name suffix.
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

/// What a section holds. A new kind needs one variant here and one row in [`SectionKind::lane`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum SectionKind {
    /// Field infos; one per segment.
    Fields = 0,
    /// Pages of the FST over term-block separators.
    TermIndex = 1,
    /// Resident directory of the term index: field statistics, first key, offset and checksum of every page.
    TermDirectory = 2,
    /// Term blocks.
    Terms = 3,
    /// Doc ids, frequencies, skip data.
    Postings = 4,
    /// Positions of terms in text fields.
    Positions = 5,
    /// Norms, one byte per document or half of one.
    Norms = 6,
    /// Filter over `_id`.
    IdFilter = 7,
    /// Number or ordinal column.
    Column = 8,
    /// Points, one- or two-dimensional.
    Points = 9,
    /// Compressed blocks of `_source`; one per segment.
    StoredBlocks = 10,
    /// The location of the stored blocks; one per segment.
    StoredIndex = 11,
    /// Nested spaces ([`crate::nested`]); one per segment that has any.
    Nested = 12,
    /// Bytes of shapes ([`crate::shapes`]).
    Shapes = 13,
    /// Checksums of the stored blocks; one per segment since version 2.
    StoredChecksums = 14,
    /// What stored blocks were compressed with; at most one per segment, since version 3.
    StoredDictionary = 15,
    /// Runs of `_id`s, in place of their filter, since version 4.
    IdRuns = 16,
}

impl SectionKind {
    /// All kinds, by number.
    pub const ALL: [SectionKind; 17] = [
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
        SectionKind::StoredDictionary,
        SectionKind::IdRuns,
    ];

    /// Returns the kind with this number.
    pub fn from_byte(byte: u8) -> Option<SectionKind> {
        SectionKind::ALL.get(usize::from(byte)).copied()
    }

    /// Returns the lane that such sections go to in a large segment.
    pub fn lane(self) -> Lane {
        match self {
            SectionKind::Fields
            | SectionKind::TermDirectory
            | SectionKind::Norms
            | SectionKind::IdFilter
            | SectionKind::IdRuns
            | SectionKind::StoredIndex
            | SectionKind::StoredChecksums
            | SectionKind::StoredDictionary
            | SectionKind::Nested => Lane::Main,
            SectionKind::TermIndex => Lane::TermIndex,
            SectionKind::Terms => Lane::Terms,
            SectionKind::Postings => Lane::Postings,
            SectionKind::Positions => Lane::Positions,
            SectionKind::Column => Lane::Columns,
            SectionKind::Points => Lane::Points,
            // Shapes are not in the lane of the columns, because a merge writes a field's shapes and their
            // column at the same time.
            SectionKind::StoredBlocks | SectionKind::Shapes => Lane::Stored,
        }
    }
}
