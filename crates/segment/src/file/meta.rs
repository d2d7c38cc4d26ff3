//! What a commit lists about a segment, and what a segment records about its fields.

use std::sync::Arc;

use limber_mapping::{Field, KEYED_PATH_END, Representation};
use serde::{Deserialize, Serialize};

use super::format::Lane;

/// Number of a segment within its shard; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SegmentId(pub u64);

impl SegmentId {
    /// `_<id in base 36>.<extension>`.
    pub fn file_name(self, lane: Lane) -> String {
        format!("_{self}.{}", lane.extension())
    }

    /// Returns the segment that a file belongs to by its name (files of live documents included); `None`
    /// for other files.
    pub fn of_file(name: &str) -> Option<SegmentId> {
        let stem = name.strip_prefix('_')?;
        let end = stem.find(['.', '_'])?;
        u64::from_str_radix(&stem[..end], 36).ok().map(SegmentId)
    }
}

impl std::fmt::Display for SegmentId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut digits = [0u8; 13];
        let mut at = digits.len();
        let mut rest = self.0;
        loop {
            at -= 1;
            digits[at] = b"0123456789abcdefghijklmnopqrstuvwxyz"[(rest % 36) as usize];
            rest /= 36;
            if rest == 0 {
                break;
            }
        }
        f.write_str(std::str::from_utf8(&digits[at..]).unwrap_or_default())
    }
}

/// One file of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMeta {
    /// Name in the folder of the shard.
    pub name: String,
    /// Length in bytes.
    pub len: u64,
    /// CRC-32 of the whole file.
    pub crc: u32,
}

/// What a commit manifest lists about a segment. The caller makes `files` durable (`Directory::sync`)
/// before it commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentMeta {
    /// Unique in its shard.
    pub id: SegmentId,
    /// Deleted documents included.
    pub doc_count: u32,
    /// The main file (`.seg`) first.
    pub files: Vec<FileMeta>,
    /// Sum of the files' lengths.
    pub bytes: u64,
    /// Smallest `_seq_no`; `None` when the segment has no such column.
    pub min_seq_no: Option<u64>,
    /// Largest `_seq_no`; see [`SegmentMeta::min_seq_no`].
    pub max_seq_no: Option<u64>,
}

/// One field of one segment. It describes itself, so a new field needs no schema elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldInfo {
    /// Full dotted path.
    pub path: Arc<str>,
    /// How its values are represented.
    pub representation: Representation,
    /// Terms (text, terms) or points (number) are written.
    pub index: bool,
    /// A column of numbers, ordinals or shapes is written.
    pub column: bool,
    /// Norms are written.
    pub norms: bool,
    /// Postings contain the frequency of the term in each document.
    pub frequencies: bool,
    /// Positions of terms are written.
    pub positions: bool,
    /// Points are in Z order ([`crate::points::SpatialPoints`]).
    pub spatial: bool,
}

impl FieldInfo {
    /// Returns the path as shown to users: the keyed terms of a flattened field `f` are `f._keyed`, as in
    /// Elasticsearch.
    pub fn shown_path(&self) -> Arc<str> {
        match self.path.strip_suffix(KEYED_PATH_END) {
            Some(root) => format!("{root}._keyed").into(),
            None => self.path.clone(),
        }
    }

    /// Returns what a segment writes for a field of the mapping.
    pub fn of(field: &Field) -> FieldInfo {
        let representation = field.representation();
        let text = representation == Representation::Text;
        let inverted = matches!(representation, Representation::Text | Representation::Terms);
        // Shapes that the index finds by their cells have to be compared exactly, so they need a column.
        let needs_exact_check = representation == Representation::Shape && field.index;
        FieldInfo {
            path: field.path.clone(),
            representation,
            index: field.index,
            column: (field.doc_values && !text) || needs_exact_check,
            norms: field.norms && field.index && inverted,
            frequencies: field.frequencies && field.index && inverted,
            positions: field.positions && field.index && text,
            spatial: field.is_spatial(),
        }
    }
}
