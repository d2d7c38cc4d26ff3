//! Converts the bytes of a document to typed values: "what does this document say under this mapping?"
//!
//! The walker builds no tree of the document: it reads the JSON once, from left to right, and passes every
//! value to the sink.

mod completion;
mod doc_count;
mod error;
mod feature;
mod flattened;
mod infer;
mod join;
mod json;
mod key_name;
mod known;
mod leaf_value;
mod nested;
mod put;
mod range;
pub mod scan;
mod scratch;
mod scripted;
mod series;
mod summary;
mod syntax_fault;
mod unknown_key;
mod walk;
mod whole_value;

pub use infer::{infer, infer_by};
pub use json::unescape;
pub use scratch::Scratch;
pub use scripted::{ScriptedValue, put_ignored, put_scripted};
pub use series::{Series, SeriesId, shard_hash_of};
pub use syntax_fault::{Trailing, after_value, json_fault};
pub use walk::{Parsed, parse, parse_acknowledged};
