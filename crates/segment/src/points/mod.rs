//! Points: "which documents have a number in this range, and how many are there?", by value, not by document.
//!
//! Layout: [`format`].

pub mod format;
mod leaf;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use reader::LeafCursor;
pub use reader::{PointDocs, Points};
pub(crate) use writer::{LeafWriter, column_serves, write_column_kind};
pub use writer::{Point, PointsWriter};
