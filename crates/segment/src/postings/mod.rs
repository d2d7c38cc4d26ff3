//! The documents of one term: "which documents contain it, how often, where, and how high can they score?"
//!
//! [`FieldWriter`] writes a field's terms with their postings; [`PostingsReader`] opens the [`Postings`] of
//! one term.

mod bounds;
mod cursor;
mod field_writer;
mod find;
pub mod format;
mod impact;
mod places;
mod positions;
mod reader;
mod skip;
#[cfg(test)]
mod tests;
mod writer;

pub use crate::index_options::{IndexOptions, Want};
pub use bounds::KnownBounds;
pub use cursor::{Postings, WINDOW_DOCS};
pub use field_writer::{FieldSinks, FieldWriter};
pub use find::Found;
pub use impact::{Impact, Strength};
pub use places::Spot;
pub use reader::PostingsReader;
pub use writer::PostingsWriter;
