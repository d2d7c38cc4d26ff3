//! Documents in memory until they become a segment: "take these typed values; now write them all".

mod chunk_log;
mod doc_log;
mod document;
mod echo;
mod field_table;
mod fields;
mod id_log;
mod invert;
mod memo;
mod nested;
mod reorder;
mod shapes;
mod short_texts;
mod sort;
mod sources;
mod table;
mod text;
mod waiting;
mod write;
mod write_points;

pub use document::{BUFFER_BYTES_MAX, Buffer, DocumentMeta};
pub use write::Written;
