//! "Are the hits of a segment already in the order of the sort?" They are if the index sorts its documents
//! that way.

use limber_segment::SortField;

use super::sort::{BoundSort, KeyKind, MissingTerms, Transform};
use crate::values::mode::MultiValueMode;

/// Whether the documents of a segment are in the order of `sorts`: the sorts are the first fields of the
/// index sort, possibly followed by document order.
pub(crate) fn follows_index_sort(sorts: &[BoundSort], index_sort: &[SortField]) -> bool {
    let (sorts, index_sort) = match sorts {
        [fields @ .., last] if last.kind == KeyKind::Doc && !last.descending => (fields, index_sort),
        _ => (sorts, index_sort),
    };
    !sorts.is_empty()
        && sorts.len() <= index_sort.len()
        && sorts.iter().zip(index_sort).all(|(sort, by)| is_same(sort, by))
}

fn is_same(sort: &BoundSort, by: &SortField) -> bool {
    let is_plain = sort.transform == Transform::None
        && sort.nested.is_none()
        && sort.runtime.is_none()
        && sort.origins.is_none()
        && sort.script.is_none();
    let missing_is_same = match sort.kind {
        KeyKind::Term => {
            sort.missing_terms == if by.missing_first { MissingTerms::First } else { MissingTerms::Last }
        }
        _ => sort.has_missing_at_end(by.missing_first),
    };
    is_plain
        && sort.field.as_ref().is_some_and(|field| field.path == by.path)
        && sort.descending == by.descending
        && sort.mode == if by.takes_max { MultiValueMode::Max } else { MultiValueMode::Min }
        && missing_is_same
}
