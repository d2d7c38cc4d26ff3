//! The distribution of a task's times, in bounded memory.
//!
//! Rally interpolates linearly over the sorted raw samples (`metrics.py`, `InMemoryMetricsStore`). Up to
//! [`EXACT_SAMPLES_MAX`] samples, the result here is the same to the last digit. With more samples, they move
//! into an HDR histogram with four significant digits (error at most 0.01 %, far below the noise of any
//! race), whose size no longer grows. Count, mean, minimum and maximum stay exact.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::record::results::{TimeStats, percentiles_for_sample_count};

/// 100,000 samples take 800 kB per metric.
pub(crate) const EXACT_SAMPLES_MAX: usize = 100_000;
/// The histogram counts in tenths of a microsecond, below what a socket can resolve.
const TICK_NS: u64 = 100;
/// Longest time that is distinguished: 3 hours, more than any sensible `request-timeout`.
const TICKS_MAX: u64 = 3 * 3600 * 1_000_000_000 / TICK_NS;
const SIGNIFICANT_DIGITS: u8 = 4;
/// Significant digits of the histograms that are made after the race, for [`Distribution::corrected_ms`].
const CORRECTED_DIGITS: u8 = 3;
/// Maximum number of samples that a correction may add: a tenth of a second of work.
const CORRECTED_SAMPLES_MAX: u128 = 10_000_000;

#[derive(Debug)]
pub(crate) struct Distribution {
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
    store: Store,
}

#[derive(Debug)]
enum Store {
    Exact(Vec<u64>),
    Histogram(Box<Histogram<u64>>),
}

impl Default for Distribution {
    fn default() -> Self {
        Distribution { count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0, store: Store::Exact(Vec::new()) }
    }
}

impl Distribution {
    pub(crate) fn record(&mut self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        match &mut self.store {
            Store::Exact(samples) if samples.len() < EXACT_SAMPLES_MAX => samples.push(ns),
            Store::Exact(samples) => {
                let mut histogram = Histogram::new_with_bounds(1, TICKS_MAX, SIGNIFICANT_DIGITS)
                    .expect("the bounds are constants that the histogram accepts");
                for sample in samples.iter().chain([&ns]) {
                    histogram.saturating_record(sample / TICK_NS);
                }
                self.store = Store::Histogram(Box::new(histogram));
            }
            Store::Histogram(histogram) => histogram.saturating_record(ns / TICK_NS),
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean in ms; `None` without samples.
    pub(crate) fn mean_ms(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e6)
    }

    /// Returns the statistics as results store them; empty without values.
    pub(crate) fn time_stats(&mut self) -> TimeStats {
        match self.mean_ms() {
            Some(mean_ms) => TimeStats::new(&self.percentiles_ms(), mean_ms),
            None => TimeStats::default(),
        }
    }

    /// Returns the percentiles that Rally shows for this number of samples, as (percentile, ms).
    pub(crate) fn percentiles_ms(&mut self) -> Vec<(f64, f64)> {
        percentiles_for_sample_count(self.count)
            .iter()
            .map(|&percentile| (percentile, self.percentile_ms(percentile)))
            .collect()
    }

    /// Returns the percentiles that [`Distribution::percentiles_ms`] shows, and the mean, as they would be if
    /// each client had sent a sample every `expected`. A sample that took longer also counts for those that
    /// it kept from being sent, each of which waits `expected` less than the one before (Tene's correction
    /// for coordinated omission, `record_correct` of HdrHistogram).
    ///
    /// The values are exact within 0.1 %. They are empty without samples.
    pub(crate) fn corrected_ms(&self, expected: Duration) -> (Vec<(f64, f64)>, Option<f64>) {
        if self.count == 0 {
            return (Vec::new(), None);
        }
        // A sample adds at most `ns / expected` others, so this minimum of `expected` bounds all additions to
        // ten million.
        let ticks_min = self.sum_ns / u128::from(TICK_NS) / CORRECTED_SAMPLES_MAX;
        let expected_ticks = (expected.as_nanos() / u128::from(TICK_NS)).max(ticks_min).max(1);
        let expected_ticks = u64::try_from(expected_ticks).unwrap_or(u64::MAX);
        let corrected = match &self.store {
            Store::Exact(samples) => {
                let mut corrected = Histogram::<u64>::new_with_bounds(1, TICKS_MAX, CORRECTED_DIGITS)
                    .expect("the bounds are constants that the histogram accepts");
                for ns in samples {
                    // A value is at least one tick and at most the bound, which `record_correct` accepts.
                    let _ = corrected.record_correct((ns / TICK_NS).clamp(1, TICKS_MAX), expected_ticks);
                }
                corrected
            }
            Store::Histogram(histogram) => histogram.clone_correct(expected_ticks),
        };
        let ms = |ticks: f64| ticks * TICK_NS as f64 / 1e6;
        let percentiles = percentiles_for_sample_count(self.count)
            .iter()
            .map(|&percentile| {
                (
                    percentile,
                    ms(corrected.value_at_percentile(percentile) as f64).min(self.max_ns as f64 / 1e6),
                )
            })
            .collect();
        (percentiles, Some(ms(corrected.mean())))
    }

    /// Returns the sample in the middle; `None` without samples.
    pub(crate) fn median(&mut self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_secs_f64(self.percentile_ms(50.0) / 1e3))
    }

    fn percentile_ms(&mut self, percentile: f64) -> f64 {
        if percentile >= 100.0 {
            return self.max_ns as f64 / 1e6;
        }
        let rank = percentile / 100.0 * (self.count - 1) as f64;
        let fraction = rank.fract();
        let low = self.value_at(rank as u64);
        let high = if fraction > 0.0 { self.value_at(rank as u64 + 1) } else { low };
        (low + (high - low) * fraction) / 1e6
    }

    /// Returns the sample of this rank (from 0, ascending) in ns.
    fn value_at(&mut self, rank: u64) -> f64 {
        match &mut self.store {
            Store::Exact(samples) => {
                // Sorting a sorted vector costs only one pass, so repeated calls are cheap.
                samples.sort_unstable();
                samples[rank as usize] as f64
            }
            Store::Histogram(histogram) => {
                let ticks = histogram.value_at_quantile((rank + 1) as f64 / self.count as f64);
                ((ticks * TICK_NS) as f64).clamp(self.min_ns as f64, self.max_ns as f64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(ns: impl Iterator<Item = u64>) -> Distribution {
        let mut distribution = Distribution::default();
        ns.for_each(|ns| distribution.record(Duration::from_nanos(ns)));
        distribution
    }

    #[test]
    fn few_samples_are_interpolated() {
        // numpy.percentile([1, 2, 4, 8], [50], method="linear") = 3
        let mut few = recorded([8, 1, 4, 2].into_iter().map(|ms| ms * 1_000_000));
        assert_eq!(few.percentiles_ms(), [(50.0, 3.0), (100.0, 8.0)]);
        assert_eq!(few.mean_ms(), Some(3.75));
        assert_eq!(recorded([5_000_000].into_iter()).percentiles_ms(), [(100.0, 5.0)]);
        assert_eq!(recorded(std::iter::empty()).percentiles_ms(), []);
        assert_eq!(recorded(std::iter::empty()).mean_ms(), None);
    }

    #[test]
    fn a_stall_stands_for_what_it_kept_from_being_sent() {
        // 99 answers take 1 ms each, then one takes 100 ms: with one request per millisecond, 99 more would
        // have waited 99, 98, ... 1 ms.
        let stalled = recorded((0..100).map(|i| if i == 99 { 100_000_000 } else { 1_000_000 }));
        let (percentiles, mean_ms) = stalled.corrected_ms(Duration::from_millis(1));
        let at = |wanted: f64| percentiles.iter().find(|(percentile, _)| *percentile == wanted).unwrap().1;
        // 199 values: 100 of 1 ms (99 seen, 1 added), then 2, 3, ... 100.
        assert!((at(50.0) - 1.0).abs() < 0.01, "{percentiles:?}");
        assert!((at(90.0) - 81.0).abs() < 0.2, "{percentiles:?}");
        assert_eq!(at(100.0), 100.0);
        assert!((mean_ms.unwrap() - (99.0 + 5050.0) / 199.0).abs() < 0.1, "{mean_ms:?}");
        // There is nothing to correct: the interval is as long as the longest answer.
        let (percentiles, _) = stalled.corrected_ms(Duration::from_millis(100));
        assert!((percentiles[1].1 - 1.0).abs() < 0.01, "{percentiles:?}");
        assert_eq!(recorded(std::iter::empty()).corrected_ms(Duration::from_millis(1)), (Vec::new(), None));
        // An interval of zero would add infinitely many samples.
        assert!(stalled.corrected_ms(Duration::ZERO).1.is_some());
    }

    #[test]
    fn many_samples_stay_within_a_hundredth_of_a_percent() {
        // 200,001 samples from 1 to 3 ms, evenly spaced by 10 ns, in a scrambled order.
        let count = 200_001u64;
        let mut many = recorded((0..count).map(|i| 1_000_000 + (i * 7919 % count) * 10));
        for (percentile, ms) in many.percentiles_ms() {
            let expected = 1.0 + percentile / 100.0 * 2.0;
            assert!((ms - expected).abs() / expected < 1.5e-4, "{percentile}: {ms} {expected}");
        }
        assert!((many.mean_ms().unwrap() - 2.0).abs() < 1e-9);
        assert_eq!(many.percentiles_ms().last(), Some(&(100.0, 3.0)));
    }
}
