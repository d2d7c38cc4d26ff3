//! Estimates of a value, and of the size of a difference.

/// Returns the middle value, or the mean of the two middle values; NaN without values.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile_of_sorted(&sorted, 0.5)
}

/// Interpolates linearly between the closest ranks (type 7 of Hyndman and Fan 1996, numpy's default). Returns
/// NaN without values.
///
/// `share` is in [0, 1].
pub(crate) fn quantile_of_sorted(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let rank = share * last as f64;
    let low = sorted[rank.floor() as usize];
    let high = sorted[rank.ceil() as usize];
    // Infinities and equal values must not change, so avoid the arithmetic for them.
    if low == high { low } else { low + (high - low) * rank.fract() }
}

/// Returns Hodges and Lehmann's estimate (1963) of the shift from `baseline` to `contender`: the median of
/// all differences between a value of one and a value of the other. Unlike the difference of medians, it uses
/// every value.
pub(crate) fn hodges_lehmann(baseline: &[f64], contender: &[f64]) -> f64 {
    let differences: Vec<f64> =
        contender.iter().flat_map(|after| baseline.iter().map(move |before| after - before)).collect();
    median(&differences)
}

/// Returns Cliff's delta (1993), in [-1, 1]: how much more often a value of `contender` is above one of
/// `baseline` than below it. It is 1 when all of them are above, and NaN when a side is empty.
pub(crate) fn cliffs_delta(baseline: &[f64], contender: &[f64]) -> f64 {
    let mut balance = 0i64;
    for after in contender {
        for before in baseline {
            balance += i64::from(after > before) - i64::from(after < before);
        }
    }
    balance as f64 / (baseline.len() * contender.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_quantiles() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
        // numpy.quantile([1, 2, 4, 8], [0.025, 0.9]) = 1.075, 6.8
        let sorted = [1.0, 2.0, 4.0, 8.0];
        assert!((quantile_of_sorted(&sorted, 0.025) - 1.075).abs() < 1e-12);
        assert!((quantile_of_sorted(&sorted, 0.9) - 6.8).abs() < 1e-12);
    }

    #[test]
    fn sizes_of_differences() {
        assert_eq!(hodges_lehmann(&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0]), 10.0);
        assert_eq!(hodges_lehmann(&[1.0, 4.0], &[2.0, 9.0]), 3.0);
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[3.0, 4.0]), 1.0);
        assert_eq!(cliffs_delta(&[3.0, 4.0], &[1.0, 2.0]), -1.0);
        // The contender's value is larger in 3 pairs (2>1, 3>1, 3>2) and equal in one (2=2): 3 of 4.
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[2.0, 3.0]), 0.75);
        assert_eq!(cliffs_delta(&[5.0], &[5.0]), 0.0);
    }
}
