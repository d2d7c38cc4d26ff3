//! The documents of one term: "in which documents is it, how often, where, and how good can they get?"
//!
//! [`FieldWriter`] writes a field's terms with their postings; [`PostingsReader`] opens the [`Postings`] of one term.

pub mod format;
mod options;
mod impact;
mod writer;
mod field_writer;
mod skip;
mod positions;
mod cursor;
mod bounds;
mod reader;

pub use cursor::{Postings, WINDOW_DOCS};
pub use field_writer::{FieldSinks, FieldWriter};
pub use impact::Impact;
pub use options::{IndexOptions, Want};
pub use reader::PostingsReader;
pub use writer::PostingsWriter;
