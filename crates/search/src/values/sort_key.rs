//! Values that hits are sorted by. They compare across segments, shards and pages.

use std::sync::Arc;

/// A value that a hit is sorted by.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SortKey {
    /// A number that sorts like the value, or a document's number in its shard.
    Number(i64),
    Score(f32),
    /// A term; `None` if the document has none.
    Term(Option<Arc<[u8]>>),
}

impl SortKey {
    /// Converts a score to a number that sorts in the same way.
    pub fn score_order(score: f32) -> i64 {
        let bits = score.to_bits() as i32;
        i64::from(bits ^ ((bits >> 31) & i32::MAX))
    }
}
