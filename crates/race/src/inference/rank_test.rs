//! Whether a difference could be chance: Mann and Whitney's test of two samples (1947), two-sided.
//!
//! Up to [`EXACT_VALUES_MAX`] values in both samples together, the distribution of the rank sum is computed
//! over all ways to assign the pooled values to the sides, including ties (the shift algorithm of Streitberg
//! and Röhmel 1986). This is a permutation test on ranks, exact for any number of races. For more values, the
//! normal approximation with corrections for ties and continuity is used.

/// For more values, the normal approximation is accurate to the third digit.
pub(crate) const EXACT_VALUES_MAX: usize = 100;

/// Returns the probability that two samples of one distribution differ in their ranks at least as much as
/// these: twice the smaller tail, at most 1. It is 1 when a sample is empty.
pub(crate) fn mann_whitney(a: &[f64], b: &[f64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 1.0;
    }
    let ranks = doubled_ranks(a, b);
    match a.len() + b.len() {
        count if count <= EXACT_VALUES_MAX => exact(&ranks, a.len()),
        _ => approximate(&ranks, a.len(), b.len()),
    }
}

/// Returns the smallest value that [`mann_whitney`] can have for samples of these sizes (without ties). With
/// 2 against 2 it is 1/3, whatever was measured.
pub(crate) fn smallest_p(a_count: usize, b_count: usize) -> f64 {
    // Only one arrangement and its mirror image are that extreme.
    let arrangements = (1..=a_count).fold(1.0, |product, i| product * (b_count + i) as f64 / i as f64);
    (2.0 / arrangements).min(1.0)
}

/// Returns the number of races per side that is needed to show one difference among `tests_count` at the
/// level `significance`, after Bonferroni's or Holm's correction.
pub(crate) fn races_needed(significance: f64, tests_count: usize) -> usize {
    const LARGEST: usize = 1_000;
    let enough = |count: &usize| smallest_p(*count, *count) * tests_count.max(1) as f64 <= significance;
    (2..LARGEST).find(enough).unwrap_or(LARGEST)
}

/// Returns twice the mid-rank of every value among all, first those of `a`. Doubled ranks are integers.
fn doubled_ranks(a: &[f64], b: &[f64]) -> Vec<usize> {
    let values: Vec<f64> = a.iter().chain(b).copied().collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|i, j| values[*i].total_cmp(&values[*j]));
    let mut ranks = vec![0; values.len()];
    for tied in order.chunk_by(|i, j| values[*i] == values[*j]) {
        // The ranks of a group of ties are `first..first + len`, from 1; the result is twice their mean.
        let below = tied
            .iter()
            .map(|i| values[*i])
            .next()
            .map_or(0, |value| order.partition_point(|i| values[*i].total_cmp(&value).is_lt()));
        for i in tied {
            ranks[*i] = 2 * below + tied.len() + 1;
        }
    }
    ranks
}

fn exact(ranks: &[usize], a_count: usize) -> f64 {
    let observed: usize = ranks[..a_count].iter().sum();
    let largest: usize = ranks.iter().sum();
    // ways[k][s] is the number of subsets of k of the values seen so far whose doubled ranks sum to s. Counts
    // beyond 2^53 are rounded, which does not affect the digits shown of a p-value.
    let mut ways = vec![vec![0.0; largest + 1]; a_count + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        for k in (1..=a_count).rev() {
            let (fewer, more) = ways.split_at_mut(k);
            let (from, to) = (&fewer[k - 1], &mut more[0]);
            for sum in rank..=largest {
                to[sum] += from[sum - rank];
            }
        }
    }
    let of_size = &ways[a_count];
    let total: f64 = of_size.iter().sum();
    let low: f64 = of_size[..=observed].iter().sum();
    let high: f64 = of_size[observed..].iter().sum();
    (2.0 * low.min(high) / total).min(1.0)
}

fn approximate(ranks: &[usize], a_count: usize, b_count: usize) -> f64 {
    let (a, b) = (a_count as f64, b_count as f64);
    let count = a + b;
    let rank_sum = ranks[..a_count].iter().sum::<usize>() as f64 / 2.0;
    let u = rank_sum - a * (a + 1.0) / 2.0;
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let ties: f64 =
        sorted.chunk_by(|x, y| x == y).map(|tied| (tied.len() as f64).powi(3) - tied.len() as f64).sum();
    let variance = a * b / 12.0 * (count + 1.0 - ties / (count * (count - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let distance = ((u - a * b / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    libm::erfc(distance / std::f64::consts::SQRT_2).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(a: &[f64], b: &[f64], expected: f64) {
        let p = mann_whitney(a, b);
        assert!((p - expected).abs() < 1e-9, "{p}, expected {expected}");
    }

    #[test]
    fn what_few_races_can_show() {
        assert!((smallest_p(2, 2) - 1.0 / 3.0).abs() < 1e-12);
        assert!((smallest_p(3, 3) - 0.1).abs() < 1e-12);
        assert!((smallest_p(4, 4) - 2.0 / 70.0).abs() < 1e-12);
        assert!((smallest_p(5, 5) - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!(smallest_p(1, 1), 1.0);
        assert_eq!((races_needed(0.05, 1), races_needed(0.05, 6), races_needed(0.05, 7)), (4, 5, 6));
        check(&[1.0, 2.0], &[3.0, 4.0], 1.0 / 3.0);
        check(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0], 2.0 / 252.0);
    }

    proptest! {
        /// The naive model counts every way to choose which of the pooled values are `a`'s.
        #[test]
        fn exact_is_every_arrangement_counted(
            a in proptest::collection::vec(0u8..6, 1..6),
            b in proptest::collection::vec(0u8..6, 1..6),
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) =
                (a.iter().map(|x| f64::from(*x)).collect(), b.iter().map(|x| f64::from(*x)).collect());
            let ranks = doubled_ranks(&a, &b);
            let observed: usize = ranks[..a.len()].iter().sum();
            let (mut low, mut high, mut total) = (0u32, 0u32, 0u32);
            for chosen in 0u32..1 << ranks.len() {
                if chosen.count_ones() as usize == a.len() {
                    let sum: usize = (0..ranks.len()).filter(|i| chosen >> i & 1 == 1).map(|i| ranks[i]).sum();
                    total += 1;
                    low += u32::from(sum <= observed);
                    high += u32::from(sum >= observed);
                }
            }
            let expected = (2.0 * f64::from(low.min(high)) / f64::from(total)).min(1.0);
            prop_assert!((mann_whitney(&a, &b) - expected).abs() < 1e-9);
            prop_assert!((mann_whitney(&b, &a) - expected).abs() < 1e-9);
        }
    }
}
