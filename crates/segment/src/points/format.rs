//! Byte layout of a points section, little-endian.
//!
//! ```text
//! leaf bodies      512 points each (the last fewer), leaves in the order of values
//! leaf directory   24 bytes a leaf: min i64, max i64, offset of the body u64
//! footer           48 bytes
//!   0  8 value_count u64       24 8 min i64 (0 without values)   40 1 kind u8: 0 leaves, 1 column
//!   8  8 bytes of bodies u64   32 8 max i64                      41 1 flags u8: 1 = single-valued
//!  16  4 doc_count u32                                           42 6 zero
//!  20  4 documents with a value u32
//!
//! body of a leaf of n points, documents ascending (not values)
//!   u8      bits of a value residual, 0 when all values are equal
//!   u8      documents: 0 steps, 1 bits, 2 run
//!   varint  factor: greatest common divisor of all (value - leaf min), at least 1
//!   varint  first document
//!   steps:  u8 * b  bits of a document step in each block of 128 points, b = ceil(n / 128)
//!   b blocks of value residuals `(value - leaf min) / factor`, 16 * bits bytes each
//!   steps:  b blocks of steps from document to document, 16 * bits bytes each
//!   bits:   u64 * w  bit d % 64 of word d / 64 - first document / 64 is document d
//!   run:    nothing: the documents follow each other
//! ```
//! The last block is padded: values with the leaf's minimum, documents with the last one. Documents are
//! written as bits if that is shorter than steps (values that many documents have); such a leaf goes into a
//! result word by word.
//!
//! Kind `column`: the values ascend in document order (a log's timestamps), so the field's own column
//! serves as the index and there are no leaves. Written only for fields with a column in which every
//! document has exactly one value.
//!
//! Documents ascend within a leaf because a step between documents takes about log2(doc_count / 512) bits
//! and a document number log2(doc_count): 12 against 21 bits at two million documents. Leaving the values
//! unsorted costs less than that saves, because the values of a leaf are close to each other. Also, a leaf
//! that lies inside a range goes into a bit set in memory order.

/// Points per leaf, as in Lucene's `BKDConfig.DEFAULT_MAX_POINTS_IN_LEAF_NODE`.
pub const LEAF_POINTS: usize = 512;
/// Bytes per leaf in the directory.
pub const ENTRY_BYTES: usize = 24;
/// Bytes of the footer.
pub const FOOTER_BYTES: usize = 48;
/// The section has leaves.
pub const KIND_LEAVES: u8 = 0;
/// The field's column is the index.
pub const KIND_COLUMN: u8 = 1;

/// The documents of a leaf are written as steps.
pub const DOCS_STEPS: u8 = 0;
/// The documents of a leaf are written as one bit each.
pub const DOCS_BITS: u8 = 1;
/// The documents of a leaf are consecutive.
pub const DOCS_RUN: u8 = 2;
