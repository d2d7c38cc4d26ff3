//! Control flow: what a script does after a statement.

use crate::values::Value;

/// The point at which execution continues after a statement.
pub(crate) enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}
