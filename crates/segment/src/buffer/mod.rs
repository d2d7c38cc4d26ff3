//! Documents in memory until they become a segment: "take these typed values; now write them all".

mod doc_log;
mod table;
mod fields;
mod document;
mod sort;
mod invert;
mod write;

pub use document::{BUFFER_BYTES_MAX, Buffer, DocumentMeta};
