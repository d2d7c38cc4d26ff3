//! Compares one metric of two sides.

use super::bootstrap::{self, Interval};
use super::correction::Correction;
use super::estimate::{cliffs_delta, hodges_lehmann, median};
use super::rank_test::mann_whitney;

/// Coverage of the intervals.
pub(crate) const INTERVAL_LEVEL: f64 = 0.95;

/// Which values of a figure are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    MoreIsBetter,
    LessIsBetter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Better,
    Worse,
    /// Not the same as "equal": there may just be too few races to show a difference.
    NoDifferenceShown,
}

impl Verdict {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::NoDifferenceShown => "no difference shown",
        }
    }
}

/// A contender's values of one metric compared with a baseline's. Figures are in the metric's own unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Comparison {
    pub direction: Direction,
    pub baseline_median: f64,
    pub contender_median: f64,
    /// Hodges-Lehmann estimate, contender minus baseline.
    pub shift: f64,
    /// The change of the median relative to the baseline's, such as -0.05; `None` if the baseline's is 0.
    pub change: Option<f64>,
    /// Percentile bootstrap interval of `change`, 95 %; `None` before [`Comparison::with_interval`], and with
    /// fewer than three races on a side.
    pub change_interval: Option<Interval>,
    /// In [-1, 1]. 1 means that every race of the contender had a larger value than every race of the
    /// baseline.
    pub cliffs_delta: f64,
    /// Two-sided p-value of the Mann-Whitney test.
    pub p: f64,
    /// p-value after the correction over its family; equals `p` until [`adjust`] has been called.
    pub p_adjusted: f64,
}

impl Comparison {
    /// Compares the values, which must not contain NaN.
    pub(crate) fn new(baseline: &[f64], contender: &[f64], direction: Direction) -> Comparison {
        let p = mann_whitney(baseline, contender);
        Comparison {
            direction,
            baseline_median: median(baseline),
            contender_median: median(contender),
            shift: hodges_lehmann(baseline, contender),
            change: Some(relative_change(baseline, contender)).filter(|change| change.is_finite()),
            change_interval: None,
            cliffs_delta: cliffs_delta(baseline, contender),
            p,
            p_adjusted: p,
        }
    }

    /// Adds the interval of `change`, which takes ten thousand resamples of the same values.
    pub(crate) fn with_interval(mut self, baseline: &[f64], contender: &[f64]) -> Comparison {
        self.change_interval = bootstrap::interval(baseline, contender, INTERVAL_LEVEL, relative_change);
        self
    }

    pub(crate) fn verdict(&self, significance: f64) -> Verdict {
        // A difference can be significant by ranks although its estimated size is zero (if there are many
        // ties).
        if self.p_adjusted > significance || self.cliffs_delta == 0.0 {
            return Verdict::NoDifferenceShown;
        }
        match (self.direction, self.cliffs_delta > 0.0) {
            (Direction::MoreIsBetter, true) | (Direction::LessIsBetter, false) => Verdict::Better,
            _ => Verdict::Worse,
        }
    }

    /// Returns the share of the baseline by which the contender is worse, by the estimated shift. It is
    /// negative if the contender is better, and infinite if the baseline was 0 and the contender is worse.
    pub(crate) fn worsening(&self) -> f64 {
        let worse_by = match self.direction {
            Direction::MoreIsBetter => -self.shift,
            Direction::LessIsBetter => self.shift,
        };
        match self.baseline_median.abs() {
            0.0 if worse_by > 0.0 => f64::INFINITY,
            0.0 => 0.0,
            baseline => worse_by / baseline,
        }
    }
}

/// Returns the change of the medians relative to the baseline's.
fn relative_change(before: &[f64], after: &[f64]) -> f64 {
    let before = median(before);
    (median(after) - before) / before.abs()
}

/// Adjusts the p-values of one family.
pub(crate) fn adjust(family: &mut [&mut Comparison], correction: Correction) {
    let p: Vec<f64> = family.iter().map(|comparison| comparison.p).collect();
    for (comparison, adjusted) in family.iter_mut().zip(correction.adjust(&p)) {
        comparison.p_adjusted = adjusted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        let low = [100.0, 101.0, 102.0, 103.0, 104.0];
        let high = low.map(|value| value + 10.0);
        let faster = Comparison::new(&low, &high, Direction::MoreIsBetter).with_interval(&low, &high);
        assert_eq!(faster.verdict(0.05), Verdict::Better);
        assert_eq!((faster.shift, faster.cliffs_delta), (10.0, 1.0));
        assert!((faster.change.unwrap() - 10.0 / 102.0).abs() < 1e-12);
        let bounds = faster.change_interval.unwrap();
        assert!(bounds.low > 0.04 && bounds.low < bounds.high && bounds.high < 0.16, "{bounds:?}");
        let slower = Comparison::new(&low, &high, Direction::LessIsBetter);
        assert_eq!(slower.verdict(0.05), Verdict::Worse);
        assert!((slower.worsening() - 10.0 / 102.0).abs() < 1e-12);
        assert!(faster.worsening() < 0.0);
        // Two races against two show nothing, however large the difference is.
        let few = Comparison::new(&low[..2], &high[..2], Direction::LessIsBetter)
            .with_interval(&low[..2], &high[..2]);
        assert_eq!((few.verdict(0.05), few.change_interval), (Verdict::NoDifferenceShown, None));
        let equal = Comparison::new(&[0.0; 5], &[0.0; 5], Direction::LessIsBetter);
        assert_eq!(
            (equal.verdict(0.05), equal.change, equal.worsening()),
            (Verdict::NoDifferenceShown, None, 0.0)
        );
        let errors = Comparison::new(&[0.0; 5], &[0.1; 5], Direction::LessIsBetter);
        assert_eq!((errors.verdict(0.05), errors.worsening()), (Verdict::Worse, f64::INFINITY));
    }

    #[test]
    fn one_of_many_needs_more_evidence() {
        let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
        let mut shown = Comparison::new(&low, &high, Direction::LessIsBetter);
        let mut others: Vec<Comparison> =
            (0..9).map(|_| Comparison::new(&low, &low, Direction::LessIsBetter)).collect();
        let mut family: Vec<&mut Comparison> = std::iter::once(&mut shown).chain(&mut others).collect();
        adjust(&mut family, Correction::Holm);
        assert!((shown.p_adjusted - 20.0 / 252.0).abs() < 1e-12);
        assert_eq!(shown.verdict(0.05), Verdict::NoDifferenceShown);
    }
}
