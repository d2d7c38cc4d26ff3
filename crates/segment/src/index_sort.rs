//! The order in which an index keeps its documents (`index.sort.*`): "what does a document come after?"
//!
//! Every key is one `i64` that sorts ascending, terms by their ordinal, as it is while a search sorts: both
//! agree on which documents tie.

use std::sync::Arc;

/// One entry of an index sort, compared after those before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortField {
    /// Full dotted path of the field.
    pub path: Arc<str>,
    /// Greater values come first.
    pub descending: bool,
    /// Of several values of a document the greatest counts, else the smallest.
    pub takes_max: bool,
    /// Documents without a value come first, else last.
    pub missing_first: bool,
}

impl SortField {
    /// The key of a value (an ordinal for terms).
    #[inline]
    pub(crate) fn key(&self, value: i64) -> i64 {
        if self.descending { !value } else { value }
    }

    /// The key of a document without a value.
    pub(crate) fn missing_key(&self) -> i64 {
        if self.missing_first { i64::MIN } else { i64::MAX }
    }

    /// The key of a document with these values, ascending.
    #[inline]
    pub(crate) fn key_of<T: Copy + Into<i64>>(&self, values: &[T]) -> i64 {
        let chosen = if self.takes_max { values.last() } else { values.first() };
        chosen.map_or(self.missing_key(), |&value| self.key(value.into()))
    }
}
