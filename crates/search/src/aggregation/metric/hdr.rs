//! A histogram of values by their leading significant digits.
//!
//! Source: HdrHistogram's `DoubleHistogram`, which Elasticsearch uses for the option `hdr`. A slot has the
//! values that are equal after their lower bits are removed. HdrHistogram shows a slot by its highest value,
//! which is one step of the finest slot (that of the smallest value) below the next slot.

use std::collections::BTreeMap;

/// Largest number of significant digits.
pub const DIGITS_MAX: i32 = 5;

/// About how many bytes a slot of the tree takes.
const SLOT_BYTES: u64 = 24;

/// Counts values by their first significant digits.
#[derive(Debug, Clone)]
pub struct Histogram {
    /// The number of mantissa bits that are kept.
    bits: u32,
    zeros: u64,
    count: u64,
    /// The number of values by slot. A slot is the upper bits of the double, whose order is that of positive
    /// doubles.
    slots: BTreeMap<u64, u64>,
}

impl Histogram {
    /// `digits` is from 0 to [`DIGITS_MAX`]. Values whose relative difference is more than 10^-digits are in
    /// different slots.
    pub fn new(digits: i32) -> Histogram {
        let told_apart = 2 * 10u64.pow(digits.clamp(0, DIGITS_MAX) as u32);
        let bits = told_apart.next_power_of_two().ilog2() - 1;
        Histogram { bits, zeros: 0, count: 0, slots: BTreeMap::new() }
    }

    /// Returns its memory in bytes, for the memory charge.
    pub fn bytes(&self) -> u64 {
        self.slots.len() as u64 * SLOT_BYTES
    }

    /// Returns the number of values that are zero.
    pub fn zeros(&self) -> u64 {
        self.zeros
    }

    /// Returns the lowest value of each slot with the number of values in it, ascending.
    pub fn counts(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.slots.iter().map(|(&slot, &count)| (self.lowest(slot), count))
    }

    /// Returns the slot of a value.
    pub fn slot(&self, value: f64) -> u64 {
        value.to_bits() >> (52 - self.bits)
    }

    /// Returns the lowest value of a slot.
    pub fn lowest(&self, slot: u64) -> f64 {
        f64::from_bits(slot << (52 - self.bits))
    }

    /// Adds a value. Returns false and does not add it if it is negative.
    #[must_use]
    pub fn add(&mut self, value: f64) -> bool {
        self.add_counted(value, 1)
    }

    /// Adds a value several times. Returns false and does not add it if it is negative.
    #[must_use]
    pub fn add_counted(&mut self, value: f64, times: u64) -> bool {
        if value < 0.0 || value.is_nan() {
            return false;
        }
        self.count += times;
        match value == 0.0 {
            true => self.zeros += times,
            false => *self.slots.entry(self.slot(value)).or_default() += times,
        }
        true
    }

    /// Adds the values of `other`, which must have the same number of digits.
    pub fn merge(&mut self, other: Histogram) {
        if self.count == 0 {
            *self = other;
            return;
        }
        self.zeros += other.zeros;
        self.count += other.count;
        other.slots.into_iter().for_each(|(slot, count)| *self.slots.entry(slot).or_default() += count);
    }

    /// Returns the value that `percent` of all values are not greater than; NaN without any values.
    pub fn percentile(&self, percent: f64) -> f64 {
        if self.count == 0 {
            return f64::NAN;
        }
        let wanted = ((percent / 100.0 * self.count as f64 + 0.5) as u64).max(1);
        let mut seen = self.zeros;
        let Some(&least) = self.slots.keys().next().filter(|_| seen < wanted) else { return 0.0 };
        for (&slot, count) in &self.slots {
            seen += count;
            if seen >= wanted {
                return if percent == 0.0 { self.lowest(slot) } else { self.highest(slot, least) };
            }
        }
        self.slots.keys().next_back().map_or(0.0, |&slot| self.highest(slot, least))
    }

    /// Returns the highest value of a slot, rounded to the grid of the finest slot: `least`, that of the
    /// smallest value.
    pub fn highest(&self, slot: u64, least: u64) -> f64 {
        let octave = |slot: u64| self.lowest(slot >> self.bits << self.bits);
        let step = octave(least) / f64::from(1u32 << self.bits);
        self.lowest(slot + 1) - step
    }

    /// Returns the percentage of values that are not above `value` or are in its slot; NaN without any
    /// values.
    pub fn percent_up_to(&self, value: f64) -> f64 {
        if self.count == 0 {
            return f64::NAN;
        }
        let mut seen = if value < 0.0 { 0 } else { self.zeros };
        if value > 0.0 {
            seen += self.slots.range(..=self.slot(value)).map(|(_, count)| count).sum::<u64>();
        }
        100.0 * seen as f64 / self.count as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn slots_of_two_digits() {
        let mut histogram = Histogram::new(2);
        assert!([0.0, 1.0, 19.0, 500.0, 1000.0].into_iter().all(|value| histogram.add(value)));
        assert!(!histogram.add(-1.0));
        for (percent, expected) in [(0.0, 0.0), (40.0, 1.0), (60.0, 19.1171875), (100.0, 1003.9921875)] {
            assert_eq!(histogram.percentile(percent), expected, "{percent}");
        }
        for (value, expected) in [(-1.0, 0.0), (0.0, 20.0), (20.0, 60.0), (501.0, 80.0), (1e9, 100.0)] {
            assert_eq!(histogram.percent_up_to(value), expected, "{value}");
        }
    }

    #[test]
    fn parts_are_merged() {
        let of = |values: &[f64]| {
            let mut histogram = Histogram::new(3);
            assert!(values.iter().all(|value| histogram.add(*value)));
            histogram
        };
        let values = [0.0, 0.0, 2.5, 7.0, 7.0, 900.0, 31.0];
        let (whole, mut merged) = (of(&values), of(&[]));
        for part in [&values[..0], &values[..3], &values[..0], &values[3..]] {
            merged.merge(of(part));
        }
        for percent in [0.0, 20.0, 50.0, 80.0, 100.0] {
            assert_eq!(merged.percentile(percent), whole.percentile(percent), "{percent}");
        }
        assert_eq!((merged.zeros(), merged.percent_up_to(7.0)), (2, whole.percent_up_to(7.0)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn off_by_less_than_the_digits(mut values in prop::collection::vec(0.001f64..1e6, 1..300), digits in 1i32..6) {
            let mut histogram = Histogram::new(digits);
            values.iter().for_each(|&value| assert!(histogram.add(value)));
            values.sort_unstable_by(f64::total_cmp);
            let near = 10f64.powi(-digits);
            for percent in [1.0, 50.0, 90.0, 100.0] {
                let rank = ((percent / 100.0 * values.len() as f64 + 0.5) as usize).max(1) - 1;
                let found = histogram.percentile(percent);
                prop_assert!((found - values[rank]).abs() <= values[rank] * near, "{} {}", found, values[rank]);
            }
        }
    }
}
