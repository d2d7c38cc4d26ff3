//! Exact division of multiples by a fixed number, by multiplication.

/// Divides by multiplying with the inverse modulo 2^64 (Granlund and Montgomery, "Division by Invariant
/// Integers using Multiplication", 1994, section 9): a few cycles instead of the tens of a division.
#[derive(Debug, Clone, Copy)]
pub struct Divisor {
    /// Trailing zero bits of the divisor.
    shift: u32,
    /// Inverse of the divisor without these zeros.
    inverse: u64,
    quotient_max: u64,
}

impl Divisor {
    /// Creates a divisor; `divisor` must not be 0.
    pub fn new(divisor: u64) -> Divisor {
        let shift = divisor.trailing_zeros();
        let odd = divisor >> shift;
        // An odd number is its own inverse modulo 8; each step of Newton's method doubles the three correct
        // bits.
        let mut inverse = odd;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        }
        Divisor { shift, inverse, quotient_max: u64::MAX / divisor }
    }

    /// Returns the quotient of a multiple of the divisor; for other numbers the result is meaningless.
    #[inline]
    pub fn divide(self, multiple: u64) -> u64 {
        (multiple >> self.shift).wrapping_mul(self.inverse)
    }

    #[inline]
    pub(crate) fn divides(self, number: u64) -> bool {
        number.wrapping_mul(self.inverse).rotate_right(self.shift) <= self.quotient_max
    }
}

/// Returns the greatest common divisor of `value - min` over all values; 1 if all are equal.
pub fn common_divisor(values: impl Iterator<Item = i64>, min: i64) -> u64 {
    let (mut common, mut divisor) = (0, Divisor::new(1));
    for value in values {
        let distance = value.wrapping_sub(min) as u64;
        // Usually the divisor found so far still fits.
        if distance != 0 && (common == 0 || !divisor.divides(distance)) {
            common = gcd(common, distance);
            if common == 1 {
                break;
            }
            divisor = Divisor::new(common);
        }
    }
    common.max(1)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divides_like_the_processor() {
        for divisor in [1, 2, 3, 6, 7, 1000, 86_400_000, 1 << 40, 3 << 61, u64::MAX, u64::MAX - 1, 1 << 63] {
            let by = Divisor::new(divisor);
            for factor in [0, 1, 2, 3, 12_345, u64::MAX / divisor] {
                let Some(multiple) = divisor.checked_mul(factor) else { continue };
                assert_eq!(by.divide(multiple), factor, "{multiple} / {divisor}");
                for number in [multiple.wrapping_sub(1), multiple, multiple.saturating_add(1)] {
                    assert_eq!(by.divides(number), number.is_multiple_of(divisor), "{number} / {divisor}");
                }
            }
        }
    }

    #[track_caller]
    fn check_common(values: &[i64], expected: u64) {
        let min = values.iter().copied().min().unwrap_or(0);
        assert_eq!(common_divisor(values.iter().copied(), min), expected);
    }

    #[test]
    fn finds_the_greatest_common_divisor() {
        check_common(&[], 1);
        check_common(&[5, 5], 1);
        check_common(&[5, 5, 11, 20], 3);
        check_common(&[-3000, 0, 12_000], 3000);
        check_common(&[i64::MIN, i64::MAX], u64::MAX);
        check_common(&[i64::MIN, 0], 1 << 63);
    }
}
