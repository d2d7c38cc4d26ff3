//! Numbers as sortable `i64`.

/// An `i64` that sorts like `value` (Lucene's `NumericUtils.doubleToSortableLong`).
#[inline]
pub fn sortable_from_f64(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ ((bits >> 63) & i64::MAX)
}

/// Inverse of [`sortable_from_f64`].
#[inline]
pub fn f64_from_sortable(sortable: i64) -> f64 {
    f64::from_bits((sortable ^ ((sortable >> 63) & i64::MAX)) as u64)
}
