//! Upper bounds of scores by the values that they are made from: "can a document of this part of the index
//! still be among the best?"

use limber_mapping::Field;
use limber_segment::points::Cell;

/// Some neighbouring values of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Span {
    /// As stored, both ends included.
    Numbers(i64, i64),
    Places(Cell),
}

/// A score that is made from one value of one field, and from nothing else that differs between documents.
pub(crate) trait Ceiling {
    fn field(&self) -> &Field;

    /// Whether a document gets the most that any of its values does, and is no hit without one.
    fn is_of_best_value(&self) -> bool {
        false
    }

    /// No document whose only value lies in the span gets more, rounding aside; infinity: not known.
    fn most(&self, span: &Span) -> f64;
}
