//! Doc values: "what are the values of these documents?", indexed by document.
//!
//! Layout: [`format`]. Written by [`ColumnWriter`], read by [`NumberColumn`] and [`OrdinalColumn`].

mod batch;
mod check;
mod column;
mod divisor;
mod doc_set;
pub mod format;
mod lines;
mod moments;
mod pack;
mod packed;
mod presence;
#[cfg(test)]
mod tests;
mod writer;

pub use batch::Batch;
pub use column::{Cardinality, Column, NumberColumn, OrdinalColumn};
pub(crate) use divisor::{Divisor, common_divisor};
pub use doc_set::{DocSet, DocSetBuilder};
pub use moments::Moments;
pub use packed::ColumnValue;
pub use presence::Presence;
pub use writer::{ColumnSummary, ColumnWriter};
