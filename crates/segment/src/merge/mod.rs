//! Several segments to one: "leave out what was deleted, and tell me where the rest went".
//!
//! Documents keep their order: all of the first segment, then all of the second. Everything streams; what is held in memory is
//! a directory a section, one byte a document for norms, four a term for ordinals, and four a document of segments with deletes.

mod columns;
mod conduct;
mod doc_map;
mod stored;
mod terms;

pub use conduct::merge;
pub use doc_map::{DOC_COUNT_MAX, DocIdMap};
