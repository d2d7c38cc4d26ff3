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
                // The position of missing values does not depend on the direction of the order.
                let missing_first = sort.missing_terms_first();
                match (left, right) {
                    (None, None) => Ordering::Equal,
                    (None, Some(_)) => return if missing_first { Ordering::Less } else { Ordering::Greater },
                    (Some(_), None) => return if missing_first { Ordering::Greater } else { Ordering::Less },
                    (Some(left), Some(right)) => left.cmp(right),
                }
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

/// Returns a key whose ascending order is that of `key`, or the reverse if `descending`.
#[inline]
pub(super) fn ordered(key: i64, descending: bool) -> i64 {
    if descending { !key } else { key }
}
