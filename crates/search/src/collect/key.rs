//! Sort keys that compare across segments, shards and pages.

use std::cmp::Ordering;

use super::sort::BoundSort;
use crate::values::sort_key::SortKey;

/// Compares two hits by their keys: `Less` comes first.
pub(crate) fn compare_keys(sorts: &[BoundSort], left: &[SortKey], right: &[SortKey]) -> Ordering {
    for ((sort, left), right) in sorts.iter().zip(left).zip(right) {
        let order = match (left, right) {
            (SortKey::Number(left), SortKey::Number(right)) => left.cmp(right),
            (SortKey::Score(left), SortKey::Score(right)) => left.total_cmp(right),
            (SortKey::Term(left), SortKey::Term(right)) => {
                let order = compare_terms(sort, left.as_deref(), right.as_deref());
                if order != Ordering::Equal {
                    return order;
                }
                continue;
            }
            _ => Ordering::Equal,
        };
        let order = if sort.descending { order.reverse() } else { order };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

/// Compares two strings that are sort values of `sort`. The position of missing ones does not depend on the
/// direction.
pub(super) fn compare_terms(sort: &BoundSort, left: Option<&[u8]>, right: Option<&[u8]>) -> Ordering {
    let missing_first = sort.missing_terms_first();
    match (left, right) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) if missing_first => Ordering::Less,
        (Some(_), None) if !missing_first => Ordering::Less,
        (None, Some(_)) | (Some(_), None) => Ordering::Greater,
        (Some(left), Some(right)) if sort.descending => right.cmp(left),
        (Some(left), Some(right)) => left.cmp(right),
    }
}

/// Returns a key whose ascending order is that of `key`, or the reverse if `descending`.
#[inline]
pub(super) fn ordered(key: i64, descending: bool) -> i64 {
    if descending { !key } else { key }
}
