//! The memory of the term indices of a shard's segments.

use limber_store::term_index::FieldFigures;
use serde_json::{Value, json};

/// One field of one index, summed over all its segments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SegmentMemory {
    /// Segments that have a term index for the field.
    pub segment_count: u64,
    /// Bytes of the term index on disk. The native scheme keeps all of it in memory.
    pub index_bytes: u64,
    /// Pages of the fields that were read so far.
    pub page_count: u64,
    /// Pages in memory.
    pub resident_page_count: u64,
    /// Bytes allocated for the pages in memory.
    pub resident_bytes: u64,
    /// Pages that were read from disk since their segments were opened.
    pub load_count: u64,
    /// Pages that were evicted to make room for others.
    pub eviction_count: u64,
    /// Heap bytes of the page directories, which stay in memory. Known only for a whole shard.
    pub directory_bytes: u64,
}

impl SegmentMemory {
    /// Adds one segment.
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

    /// Renders the memory as statistics print it.
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
