//! Shapes by document: "what are the bytes of this document's shapes?"
//!
//! A field of shapes has three sections: the shapes' bytes (kind `Shapes`, below), a column with the offset
//! at which each document's shapes start, and the cells that the shapes touch as points
//! ([`crate::points::ShapeCells`]).
//!
//! ```text
//! shapes   per shape, in the order of documents: varint length, bytes (limber_mapping::geo::GridShape)
//! ```

mod column;

pub use column::ShapeColumn;
