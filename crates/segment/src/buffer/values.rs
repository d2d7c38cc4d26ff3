//! What the buffer hands to the writers of columns and points: flat values, and which document each belongs to.

use crate::DocId;

/// The values of one field over all documents of a buffer.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a, T> {
    /// In document order; several values of one document ascend (numbers keep duplicates, ordinals are distinct).
    pub values: &'a [T],
    /// The document of each value: `docs.len() == values.len()`, ascending, repeated where a document has several
    /// values. `None`: every document has exactly one value, so that value `i` belongs to document `i`.
    pub docs: Option<&'a [DocId]>,
    /// Documents in the buffer, those without a value included.
    pub doc_count: u32,
}
