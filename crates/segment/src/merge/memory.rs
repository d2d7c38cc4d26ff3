//! Estimates the memory of a merge before it starts.

use std::collections::HashMap;

use limber_mapping::Representation;

use super::dictionary::merged_codec;
use super::doc_map::DocIdMap;
use super::nested::nested_spaces;
use super::order::MergeOrder;
use crate::file::{COMPOUND_BYTES_MAX, SectionKind};
use crate::id_filter::IdFilterBuilder;
use crate::identity::ID_PATH;
use crate::stored::StoredCodec;
use crate::{Result, SegmentView};

/// Bytes that every merge takes: a write buffer per lane, cursors, blocks being packed.
const FIXED_BYTES: u64 = 4 << 20;
/// zstd's tables, dictionaries and the documents with which dictionaries are compared: two compressors of
/// level 3 take 1.1 MB each.
const DICTIONARY_BYTES: u64 = 4 << 20;
/// Block table of a dictionary: an offset of five bytes per 32 terms.
const BLOCK_TABLE_BYTES_PER_TERM: f64 = 5.0 / 32.0;
/// Directories of a column, points or postings: rows of up to 32 bytes per 128 documents, and half of that
/// again while a list grows.
const DIRECTORY_BYTES_PER_DOC: f64 = 48.0 / 128.0;

/// Estimates the maximum heap bytes that [`super::merge`] of these views holds at a time: what it keeps
/// throughout, and what its largest field takes, since fields are merged one after the other. `is_sorted`
/// says whether the index has an index sort.
///
/// # Errors
/// Fails for a segment whose dictionaries do not open.
pub fn merge_memory_bytes(views: &[SegmentView], is_sorted: bool) -> Result<u64> {
    let doc_count: u64 = views.iter().map(|view| u64::from(view.live_count())).sum();
    let file_bytes: u64 = views.iter().map(|view| view.segment.file_bytes()).sum();
    let directory_bytes = (doc_count as f64 * DIRECTORY_BYTES_PER_DOC) as u64;
    // One bit per document, either for documents seen or for documents with a value.
    let throughout = DocIdMap::heap_bytes(views) + doc_count / 8 + directory_bytes;
    let mut largest = largest_field_bytes(views, doc_count)?;
    let mut throughout = throughout + if is_sorted { MergeOrder::heap_bytes(views) } else { 0 };
    for space in nested_spaces(views) {
        let doc_count = space.views.iter().map(|view| u64::from(view.live_count())).sum();
        // Live documents and parent bits, and the map if some were deleted.
        throughout += doc_count / 2 + DocIdMap::heap_bytes(&space.views);
        throughout += if is_sorted { MergeOrder::heap_bytes(&space.views) } else { 0 };
        largest = largest.max(largest_field_bytes(&space.views, doc_count)?);
    }
    // A merge of damaged stored documents fails by itself.
    let stored = match merged_codec(views, StoredCodec::default()) {
        Ok(None) => 0,
        _ => DICTIONARY_BYTES,
    };
    Ok(FIXED_BYTES + stored + file_bytes.min(COMPOUND_BYTES_MAX as u64) + throughout + largest)
}

/// Returns the bytes that the field takes which takes the most. Visits each field of each segment once.
fn largest_field_bytes(views: &[SegmentView], doc_count: u64) -> Result<u64> {
    let mut fields: HashMap<&str, Terms> = HashMap::new();
    for view in views {
        for info in view.segment.fields() {
            if matches!(info.representation, Representation::Number | Representation::Shape) {
                continue;
            }
            let terms = fields.entry(&info.path).or_default();
            terms.have_norms |= info.norms;
            terms.have_column |= info.column;
            let number = view.segment.number(&info.path);
            let has_terms = number.is_some_and(|number| {
                view.segment.file().entry(SectionKind::TermDirectory, number).is_some()
            });
            if has_terms && let Some(dictionary) = view.segment.terms(&info.path)? {
                terms.count += dictionary.len();
            }
        }
    }
    Ok(fields.iter().map(|(path, terms)| terms.bytes(path, doc_count)).max().unwrap_or(0))
}

/// The terms of a field in all segments.
#[derive(Default)]
struct Terms {
    count: u64,
    have_norms: bool,
    have_column: bool,
}

impl Terms {
    fn bytes(&self, path: &str, doc_count: u64) -> u64 {
        let norms = if self.have_norms { doc_count } else { 0 };
        let ordinals = if self.have_column { 4 * self.count } else { 0 };
        let filter = match *path == *ID_PATH {
            true => IdFilterBuilder::heap_bytes(doc_count as usize) as u64,
            false => 0,
        };
        norms + ordinals + filter + (self.count as f64 * BLOCK_TABLE_BYTES_PER_TERM) as u64
    }
}
