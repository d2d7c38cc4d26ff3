//! Several segments to one: "leave out what was deleted, and tell me where the rest went".
//!
//! Documents keep their order: all of the first segment, then all of the second, or those of a sorted index
//! by their keys ([`MergeOrder`](order::MergeOrder), six bytes a document more). Everything streams; what is
//! held in memory is a directory a section, one byte a document for norms, one and a half for the filter of
//! the ids, four a term for ordinals, and half a bit a document of segments with deletes.
//! [`merge_memory_bytes`] tells the sum beforehand.

mod columns;
mod conduct;
mod doc_map;
mod live_windows;
mod memory;
mod nested;
mod order;
mod stored;
mod terms;

pub use conduct::{merge, merge_sorted};
pub use doc_map::{DOC_COUNT_MAX, DocIdMap};
pub use memory::merge_memory_bytes;
