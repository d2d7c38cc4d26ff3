//! Compensated summation, step by step as Elasticsearch does it (`CompensatedSum`), so that sums agree to the last digit.

/// A running sum and the low-order bits it has lost so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct KahanSum {
    pub value: f64,
    delta: f64,
}

impl KahanSum {
    #[inline]
    pub fn add(&mut self, value: f64) {
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
}

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
}
