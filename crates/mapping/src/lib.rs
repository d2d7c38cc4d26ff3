//! JSON to typed fields and tokens.
//!
//! Question answered: "what does this document, or this query term, mean under this index's mapping?"
//!
//! **Invariant**: knows nothing of disk. Parses user JSON with limits on depth, size and count; bad input is a
//! [`RequestError`], never a panic.

pub mod analysis;
pub mod date;
mod error;
mod field;
pub mod number;

pub use error::RequestError;
pub use field::{Field, FieldId, FieldSink, FieldType, Representation};
