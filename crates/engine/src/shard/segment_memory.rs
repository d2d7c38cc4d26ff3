//! What the term indices of a shard's segments hold in memory.

use limber_store::term_index::FieldFigures;
use serde_json::{Value, json};

/// One field of one index, over all its segments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SegmentMemory {
    /// Segments that have an index of the field's terms.
    pub segment_count: u64,
    /// Bytes of the term index on disk; what the native scheme keeps in memory.
    pub index_bytes: u64,
    /// Pages of the fields that were asked so far, and those of them in memory.
    pub page_count: u64,
    /// Pages in memory.
    pub resident_page_count: u64,
    /// Bytes allocated for the pages in memory.
    pub resident_bytes: u64,
    /// Pages that were read from disk since their segments were opened.
    pub load_count: u64,
    /// Pages that went to make room for others.
    pub eviction_count: u64,
    /// Heap bytes of the page directories, which stay resident; of a whole shard only.
    pub directory_bytes: u64,
}

impl SegmentMemory {
    /// Takes in one segment.
    pub(crate) fn add(&mut self, index_bytes: u64, figures: Option<&FieldFigures>) {
        self.segment_count += 1;
        self.index_bytes += index_bytes;
        let Some(figures) = figures else { return };
        self.page_count += figures.page_count;
        self.resident_page_count += figures.resident_count;
        self.resident_bytes += figures.resident_bytes;
        self.load_count += figures.load_count;
        self.eviction_count += figures.eviction_count;
    }

    /// As statistics print it.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "term_index_size_in_bytes": self.index_bytes,
            "page_count": self.page_count,
            "resident_page_count": self.resident_page_count,
            "resident_size_in_bytes": self.resident_bytes,
            "load_count": self.load_count,
            "eviction_count": self.eviction_count,
            "directory_size_in_bytes": self.directory_bytes,
        })
    }
}
