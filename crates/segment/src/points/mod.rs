//! Points: "which documents have a number in this range, and how many are there?", indexed by value.
//!
//! Layout: [`format`].

mod cells;
mod cover;
pub mod format;
mod leaf;
mod reader;
mod spatial;
#[cfg(test)]
mod tests;
mod writer;

pub use cells::{CellDocs, ShapeCells};
pub use cover::Cover;
pub(crate) use reader::LeafCursor;
pub use reader::{PointDocs, Points};
pub use spatial::{Cell, Overlap, SpatialPoints, stored_at, z_order_of};
pub(crate) use writer::{LeafWriter, column_serves, write_column_kind};
pub use writer::{Point, PointsWriter};
