//! Writes typed fields as one immutable segment and reads them back.
//!
//! The question it answers: "here are documents as typed values, write them; here is a segment, give me the
//! postings, columns, points and sources of its fields".
//!
//! **Invariant**: a segment never changes once it is written; deletes are kept beside it. Bytes read from
//! disk are checked before they are trusted.

#![deny(missing_docs)]

pub mod buffer;
mod check;
pub mod columns;
mod error;
pub mod file;
pub mod id_filter;
mod id_runs;
mod identity;
mod index_options;
mod index_sort;
mod live;
pub mod merge;
pub mod nested;
pub mod norms;
pub mod points;
pub mod postings;
mod segment;
pub mod shapes;
mod sink;
pub mod stored;
pub mod terms;
pub mod uses;
mod zeros;

pub use buffer::{Buffer, DocumentMeta, Written};
pub use check::{CheckReport, Problem};
pub use error::{Error, Result};
pub use file::{Damage, FieldInfo, FileMeta, SegmentId, SegmentMeta};
pub use identity::{ID_PATH, WriteIdentity};
pub use index_sort::SortField;
pub use live::LiveDocs;
pub use merge::{DocIdMap, MergeDictionary, merge, merge_memory_bytes, merge_sorted};
pub use segment::{KEYS_KEPT_MAX, NestedSpace, Segment, SegmentView};
pub use sink::Sink;
pub use stored::{RecentBlocks, StoredCodec, StoredDocument, StoredReader};

/// A document within one segment (or one buffer), numbered from 0 in order of arrival.
pub type DocId = u32;

/// What postings and other iterators return at their end.
pub const NO_MORE_DOCS: DocId = u32::MAX;

/// Longest term in bytes, as in Lucene (`IndexWriter.MAX_TERM_LENGTH`).
pub const TERM_BYTES_MAX: usize = 32766;
