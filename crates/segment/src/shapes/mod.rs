//! Shapes by document: "what are the bytes of this document's shapes?"
//!
//! A field of shapes has three sections: their bytes (kind `Shapes`, below), a column of where each
//! document's start in it, and the cells that they touch as points ([`crate::points::ShapeCells`]).
//!
//! ```text
//! shapes   per shape, in the order of documents: varint length, bytes (limber_mapping::geo::GridShape)
//! ```

mod column;

pub use column::ShapeColumn;
