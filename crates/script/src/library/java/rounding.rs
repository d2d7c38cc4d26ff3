//! `java.math.RoundingMode`, by the names of its constants.

use num_bigint::{BigInt, Sign};

/// The constants, which are strings in scripts.
pub(crate) const MODES: [&str; 8] =
    ["UP", "DOWN", "CEILING", "FLOOR", "HALF_UP", "HALF_DOWN", "HALF_EVEN", "UNNECESSARY"];

/// Returns `dividend / divisor`, rounded; `None` if the mode does not allow a remainder, or if there is no
/// such mode.
pub(super) fn divided(dividend: &BigInt, divisor: &BigInt, mode: &str) -> Option<BigInt> {
    let quotient = dividend / divisor;
    let rest = dividend - &quotient * divisor;
    if rest.sign() == Sign::NoSign {
        return Some(quotient);
    }
    let is_negative = (dividend.sign() == Sign::Minus) != (divisor.sign() == Sign::Minus);
    let twice = (rest.magnitude() * 2u32).cmp(divisor.magnitude());
    let away = match mode {
        "UP" => true,
        "DOWN" => false,
        "CEILING" => !is_negative,
        "FLOOR" => is_negative,
        "HALF_UP" => twice.is_ge(),
        "HALF_DOWN" => twice.is_gt(),
        "HALF_EVEN" => twice.is_gt() || twice.is_eq() && quotient.bit(0),
        _ => return None,
    };
    Some(match (away, is_negative) {
        (false, _) => quotient,
        (true, false) => quotient + 1,
        (true, true) => quotient - 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table in the documentation of `RoundingMode`.
    #[test]
    fn tenths_are_rounded_as_java_does() {
        let round = |tenths: i32, mode: &str| {
            let found = divided(&BigInt::from(tenths), &BigInt::from(10), mode).expect("rounded");
            found.to_string().parse::<i32>().expect("small")
        };
        let all = [55, 25, 16, 11, 10, -10, -11, -16, -25, -55];
        let rounded = |mode: &str| all.map(|tenths| round(tenths, mode));
        assert_eq!(rounded("UP"), [6, 3, 2, 2, 1, -1, -2, -2, -3, -6]);
        assert_eq!(rounded("DOWN"), [5, 2, 1, 1, 1, -1, -1, -1, -2, -5]);
        assert_eq!(rounded("CEILING"), [6, 3, 2, 2, 1, -1, -1, -1, -2, -5]);
        assert_eq!(rounded("FLOOR"), [5, 2, 1, 1, 1, -1, -2, -2, -3, -6]);
        assert_eq!(rounded("HALF_UP"), [6, 3, 2, 1, 1, -1, -1, -2, -3, -6]);
        assert_eq!(rounded("HALF_DOWN"), [5, 2, 2, 1, 1, -1, -1, -2, -2, -5]);
        assert_eq!(rounded("HALF_EVEN"), [6, 2, 2, 1, 1, -1, -1, -2, -2, -6]);
        assert_eq!(divided(&BigInt::from(11), &BigInt::from(10), "UNNECESSARY"), None);
    }
}
