//! Upper bounds of scores that are computed from field values: "can a document of this part of the index
//! still be among the best?"

use limber_mapping::Field;
use limber_segment::points::Cell;

/// A range of a field's values.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Span {
    /// As stored, both ends included.
    Numbers(i64, i64),
    Places(Cell),
}

/// A score that is computed from one value of one field, and from nothing else that differs between
/// documents.
pub(crate) trait MaxScores {
    fn field(&self) -> &Field;

    /// Whether a document's score is that of its best value, and documents without a value do not match.
    fn is_of_best_value(&self) -> bool {
        false
    }

    /// Returns an upper bound, rounding aside, for all documents whose only value is in the span; infinity
    /// if none is known.
    fn max_score(&self, span: &Span) -> f64;
}
