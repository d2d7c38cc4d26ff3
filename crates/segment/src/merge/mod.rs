//! Merges several segments into one, drops deleted documents and reports the new numbers of the others.
//!
//! Documents keep their order: all of the first segment, then all of the second. In a sorted index they are
//! ordered by their sort keys ([`MergeOrder`](order::MergeOrder), six more bytes per document). Everything
//! is streamed. Memory holds a directory per section, one byte per document for norms, one and a half for
//! the filter of the ids, four per term for ordinals, and half a bit per document of segments with deletes.
//! A merge of many documents compresses their sources again, with a [dictionary](dictionary).
//! [`merge_memory_bytes`] estimates the sum in advance.

mod columns;
mod conduct;
mod dictionary;
mod doc_map;
mod live_windows;
mod memory;
mod nested;
mod order;
mod stored;
mod terms;

pub use conduct::{merge, merge_sorted};
pub use dictionary::MergeDictionary;
pub use doc_map::{DOC_COUNT_MAX, DocIdMap};
pub use memory::merge_memory_bytes;
