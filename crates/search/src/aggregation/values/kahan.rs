//! Compensated summation with the same steps as Elasticsearch's (`CompensatedSum`), so that sums agree to the
//! last digit.

/// A running sum and the low-order bits it has lost so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct KahanSum {
    pub value: f64,
    delta: f64,
}

impl KahanSum {
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        if !value.is_finite() {
            self.value += value;
        }
        if self.value.is_finite() {
            let corrected = value + self.delta;
            let updated = self.value + corrected;
            self.delta = corrected - (updated - self.value);
            self.value = updated;
        }
    }

    /// Adds many values in parallel lanes, each of which is compensated separately. The last digit can differ
    /// from that of adding one by one.
    pub fn add_all(&mut self, values: &[f64]) {
        let (chunks, rest) = values.as_chunks::<LANES>();
        let (mut sums, mut deltas) = ([0.0; LANES], [0.0; LANES]);
        for chunk in chunks {
            for lane in 0..LANES {
                let corrected = chunk[lane] + deltas[lane];
                let updated = sums[lane] + corrected;
                deltas[lane] = corrected - (updated - sums[lane]);
                sums[lane] = updated;
            }
        }
        if sums.iter().all(|sum| sum.is_finite()) {
            sums.iter().chain(&deltas).for_each(|part| self.add(*part));
            rest.iter().for_each(|value| self.add(*value));
        } else {
            values.iter().for_each(|value| self.add(*value));
        }
    }

    /// Adds another sum and its compensation.
    pub fn add_sum(&mut self, other: &KahanSum) {
        self.add(other.value);
        self.add(other.delta);
    }
}

/// Number of sums that are computed independently of each other.
const LANES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_plain_addition_loses() {
        let mut sum = KahanSum::default();
        for _ in 0..10 {
            sum.add(0.1);
        }
        assert_eq!(sum.value, 1.0);
        sum.add(f64::INFINITY);
        sum.add(1.0);
        assert_eq!(sum.value, f64::INFINITY);
        sum.add(f64::NEG_INFINITY);
        assert!(sum.value.is_nan());
    }

    #[test]
    fn lanes_add_up_to_the_same() {
        let values: Vec<f64> =
            (0..10_001).map(|i| f64::from(i % 97) * 0.1 - f64::from(i % 7) * 1e9).collect();
        let (mut one_by_one, mut lanes, mut parts) = Default::default();
        values.iter().for_each(|value| KahanSum::add(&mut one_by_one, *value));
        KahanSum::add_all(&mut lanes, &values);
        let close = |sum: &KahanSum| (sum.value - one_by_one.value).abs() <= 1e-14 * one_by_one.value.abs();
        assert!(close(&lanes));
        for part in values.chunks(777) {
            let mut sum = KahanSum::default();
            sum.add_all(part);
            KahanSum::add_sum(&mut parts, &sum);
        }
        assert!(close(&parts));
        let mut infinite = KahanSum::default();
        infinite.add_all(&[f64::INFINITY; 20]);
        assert_eq!(infinite.value, f64::INFINITY);
    }
}
