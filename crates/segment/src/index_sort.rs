//! The order in which an index keeps its documents (`index.sort.*`).
//!
//! Every sort key is an `i64` that sorts ascending; a term's key is its ordinal. A search sorts by the same
//! keys, so both agree on which documents tie.

use std::sync::Arc;

/// One field of an index sort; it decides between documents that all fields before it leave tied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortField {
    /// Full dotted path of the field.
    pub path: Arc<str>,
    /// Sorts greater values first.
    pub descending: bool,
    /// Uses the greatest value of a multi-valued document; otherwise the smallest.
    pub takes_max: bool,
    /// Sorts documents without a value first; otherwise last.
    pub missing_first: bool,
}

impl SortField {
    /// Returns the key of a value (an ordinal for terms).
    #[inline]
    pub(crate) fn key(&self, value: i64) -> i64 {
        if self.descending { !value } else { value }
    }

    /// Returns the key of a document without a value.
    pub(crate) fn missing_key(&self) -> i64 {
        if self.missing_first { i64::MIN } else { i64::MAX }
    }

    /// Returns the key of a document with these values, which ascend.
    #[inline]
    pub(crate) fn key_of<T: Copy + Into<i64>>(&self, values: &[T]) -> i64 {
        let chosen = if self.takes_max { values.last() } else { values.first() };
        chosen.map_or(self.missing_key(), |&value| self.key(value.into()))
    }
}
