//! Where a script goes on.

use crate::values::Value;

/// The point at which execution continues after a statement.
pub(crate) enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}
