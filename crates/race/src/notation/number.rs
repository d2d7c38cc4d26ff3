//! Formats numbers as Python does. Rally's report uses Python's formats, and scripts that read it expect
//! them.

use serde::{Deserialize, Serialize};

/// A JSON number that remembers whether it was an integer: Python prints `3` and `3.0` differently.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Number {
        Number::Int(value)
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Number {
        i64::try_from(value).map_or(Number::Float(value as f64), Number::Int)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Number {
        Number::Float(value)
    }
}

impl std::ops::Sub for Number {
    type Output = Number;

    fn sub(self, other: Number) -> Number {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => {
                a.checked_sub(b).map_or(Number::Float(a as f64 - b as f64), Number::Int)
            }
            _ => Number::Float(self.as_f64() - other.as_f64()),
        }
    }
}

impl std::fmt::Display for Number {
    /// Writes `str(value)` of Python.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Int(value) => write!(formatter, "{value}"),
            Number::Float(value) => formatter.write_str(&repr(*value)),
        }
    }
}

/// Returns `repr(value)`: the shortest digits that parse as the same number, with an exponent below 1e-4 and
/// from 1e16 on.
pub(crate) fn repr(value: f64) -> String {
    if let Some(text) = not_finite(value) {
        return text;
    }
    let (negative, digits, exponent) = shortest_digits(value);
    let mut text = if (-4..16).contains(&exponent) {
        positional(&digits, exponent)
    } else {
        return scientific(negative, &digits, exponent);
    };
    if !text.contains('.') {
        text.push_str(".0");
    }
    if negative { format!("-{text}") } else { text }
}

/// Returns `format(value, "g")`: six significant digits without trailing zeros, with an exponent below 1e-4
/// and from 1e6 on.
pub(crate) fn general(value: f64) -> String {
    const SIGNIFICANT_DIGITS: i32 = 6;
    if let Some(text) = not_finite(value) {
        return text;
    }
    let (negative, digits, exponent) = digits_of(&format!("{:.5e}", value));
    let digits = digits.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    if !(-4..SIGNIFICANT_DIGITS).contains(&exponent) {
        return scientific(negative, digits, exponent);
    }
    let text = positional(digits, exponent);
    if negative { format!("-{text}") } else { text }
}

/// Returns `round(value, 2)` as Python prints it.
pub(crate) fn rounded_2(value: f64) -> String {
    repr(format!("{value:.2}").parse().unwrap_or(value))
}

fn not_finite(value: f64) -> Option<String> {
    match (value.is_nan(), value.is_infinite()) {
        (true, _) => Some("nan".to_owned()),
        (_, true) => Some(if value > 0.0 { "inf" } else { "-inf" }.to_owned()),
        _ => None,
    }
}

fn shortest_digits(value: f64) -> (bool, String, i32) {
    digits_of(&format!("{value:e}"))
}

/// Returns the sign, the digits without the point, and the decimal exponent of `-1.25e-7`.
fn digits_of(scientific: &str) -> (bool, String, i32) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let negative = mantissa.starts_with('-');
    let digits = mantissa.chars().filter(char::is_ascii_digit).collect();
    (negative, digits, exponent.parse().unwrap_or(0))
}

fn positional(digits: &str, exponent: i32) -> String {
    if exponent < 0 {
        return format!("0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{digits}{}", "0".repeat(whole - digits.len()));
    }
    format!("{}.{}", &digits[..whole], &digits[whole..])
}

fn scientific(negative: bool, digits: &str, exponent: i32) -> String {
    let sign = if negative { "-" } else { "" };
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{first}{point}{rest}e{exponent_sign}{:02}", exponent.abs())
}

/// Whether `int(text)` succeeds.
pub(crate) fn is_int(text: &str) -> bool {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    digits.split('_').all(|group| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns `float(text)` with the limits of `tabulate`: no overflow to infinity, and only `inf`, `-inf` and
/// `nan` as names.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let trimmed = text.trim();
    let grouped = trimmed.contains('_');
    let value: f64 = if grouped && is_int(trimmed) { trimmed.replace('_', "") } else { trimmed.to_owned() }
        .parse()
        .ok()?;
    if value.is_finite() || ["inf", "-inf", "nan"].contains(&text.to_lowercase().as_str()) {
        return Some(value);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected strings are those of CPython 3.11.
    #[test]
    fn floats_print_like_pythons() {
        for (value, expected_repr, expected_general) in [
            (0.0, "0.0", "0"),
            (1.0, "1.0", "1"),
            (0.1, "0.1", "0.1"),
            (-2.5, "-2.5", "-2.5"),
            (123456.0, "123456.0", "123456"),
            (1234567.0, "1234567.0", "1.23457e+06"),
            (999999.5, "999999.5", "1e+06"),
            (0.0001, "0.0001", "0.0001"),
            (0.00001234567, "1.234567e-05", "1.23457e-05"),
            (1e16, "1e+16", "1e+16"),
            (1e15, "1000000000000000.0", "1e+15"),
            (1.5e300, "1.5e+300", "1.5e+300"),
            (0.017616666666666666, "0.017616666666666666", "0.0176167"),
            (100000.5, "100000.5", "100000"),
            (f64::INFINITY, "inf", "inf"),
        ] {
            assert_eq!(repr(value), expected_repr);
            assert_eq!(general(value), expected_general);
        }
        assert_eq!(rounded_2(12.345), "12.35");
        assert_eq!(rounded_2(50.0), "50.0");
    }

    #[test]
    fn texts_are_numbers_when_python_says_so() {
        for (text, int, float) in [
            ("12", true, true),
            (" -3 ", true, true),
            ("1_000", true, true),
            ("1.5", false, true),
            (".5", false, true),
            ("1e5", false, true),
            ("1e999", false, false),
            ("inf", false, true),
            ("infinity", false, false),
            ("", false, false),
            ("1,000", false, false),
            ("12%", false, false),
        ] {
            assert_eq!((is_int(text), parse(text).is_some()), (int, float), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn printed_floats_read_back(value in proptest::num::f64::NORMAL) {
            proptest::prop_assert_eq!(repr(value).parse::<f64>().unwrap(), value);
            let six_digits: f64 = general(value).parse().unwrap();
            proptest::prop_assert!((six_digits - value).abs() <= value.abs() * 5.000_001e-6);
        }
    }
}
