//! Numbers as sortable `i64`, and Java's syntax of numbers: "which number does this string mean?"

use std::fmt::{Display, UpperExp};

/// Returns an `i64` that sorts like `value` (Lucene's `NumericUtils.doubleToSortableLong`).
#[inline]
pub fn sortable_from_f64(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ ((bits >> 63) & i64::MAX)
}

/// Inverse of [`sortable_from_f64`].
#[inline]
pub fn f64_from_sortable(sortable: i64) -> f64 {
    f64::from_bits((sortable ^ ((sortable >> 63) & i64::MAX)) as u64)
}

/// Returns an `i64` that sorts like `value`.
#[inline]
pub fn sortable_from_u64(value: u64) -> i64 {
    (value ^ 1 << 63) as i64
}

/// Inverse of [`sortable_from_u64`].
#[inline]
pub fn u64_from_sortable(sortable: i64) -> u64 {
    sortable as u64 ^ 1 << 63
}

/// Rounds `value` to the nearest half-precision number (ties to even), as f32. Overflow gives infinity.
///
/// Source: IEEE 754 binary16; Lucene's `HalfFloatPoint.shortBitsToHalfFloat` for the reverse.
pub fn round_to_half(value: f32) -> f32 {
    let bits = value.to_bits();
    let sign = bits & 0x8000_0000;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude >= 0x7f80_0000 {
        return value;
    }
    // 65,520 is halfway between the largest half float (65,504) and the next step.
    if magnitude >= 65520f32.to_bits() {
        return f32::from_bits(sign | 0x7f80_0000);
    }
    if magnitude < 0x3880_0000 {
        // Subnormal numbers are multiples of 2^-24. Adding and subtracting 0.5 rounds to these, because the
        // last bit of 0.5 is 2^-24.
        let rounded = (f32::from_bits(magnitude) + 0.5) - 0.5;
        return f32::from_bits(sign | rounded.to_bits());
    }
    let odd = (magnitude >> 13) & 1;
    f32::from_bits(sign | ((magnitude + 0xfff + odd) & !0x1fff))
}

/// The largest finite half float.
pub const HALF_FLOAT_MAX: f64 = 65504.0;

/// Parses a decimal number (`-12`, `1.5`, `2e3`, `.5`, `5.`) to an integer, truncated towards zero.
///
/// Source: Elasticsearch's `Numbers.toLong(text, coerce = true)`.
pub fn integer_from_text(text: &str) -> Option<TextInteger> {
    if let Ok(value) = text.parse::<i64>() {
        return Some(TextInteger { value: value as i128, has_fraction: false });
    }
    let bytes = text.as_bytes();
    let (negative, digits) = match bytes.first()? {
        b'-' => (true, &bytes[1..]),
        b'+' => (false, &bytes[1..]),
        _ => (false, bytes),
    };
    let (mantissa, exponent) = match digits.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&digits[..at], std::str::from_utf8(&digits[at + 1..]).ok()?.parse::<i64>().ok()?),
        None => (digits, 0),
    };
    let point = mantissa.iter().position(|&byte| byte == b'.').unwrap_or(mantissa.len());
    let fraction = mantissa.get(point + 1..).unwrap_or_default();
    if point + fraction.len() == 0 || !mantissa[..point].iter().chain(fraction).all(u8::is_ascii_digit) {
        return None;
    }
    // The integer part ends after `point + exponent` digits of the mantissa.
    let end = (point as i64).saturating_add(exponent);
    let mut value: i128 = 0;
    let mut has_fraction = false;
    for (place, &byte) in mantissa[..point].iter().chain(fraction).enumerate() {
        if (place as i64) < end {
            value = value.saturating_mul(10).saturating_add((byte - b'0') as i128);
        } else if byte != b'0' {
            has_fraction = true;
        }
    }
    if value != 0 {
        for _ in (point + fraction.len()) as i64..end.min(64) {
            value = value.saturating_mul(10);
        }
        if end > 64 {
            value = i128::MAX;
        }
    }
    Some(TextInteger { value: if negative { -value } else { value }, has_fraction })
}

/// The result of [`integer_from_text`]; saturated far outside of `i64`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextInteger {
    /// The number without its fraction.
    pub value: i128,
    /// Whether digits other than 0 follow the decimal point.
    pub has_fraction: bool,
}

/// Parses a double like Java's `Double.parseDouble`, which accepts surrounding blanks, `NaN`, `Infinity` and
/// a type suffix.
pub fn double_from_text(text: &str) -> Option<f64> {
    rust_syntax(text)?.parse().ok()
}

/// Parses a float like Java's `Float.parseFloat`. The digits are rounded once: a double that is rounded to a
/// float may be another number.
pub fn float_from_text(text: &str) -> Option<f32> {
    rust_syntax(text)?.parse().ok()
}

/// Returns the part of a number in Java's syntax that Rust reads as the same number. `None` if Java would
/// refuse a character of it.
fn rust_syntax(text: &str) -> Option<&str> {
    let text = text.trim_matches(|c: char| c <= ' ');
    match text {
        // Java's NaN has no sign.
        "NaN" | "+NaN" | "-NaN" => return Some("NaN"),
        "Infinity" | "+Infinity" | "-Infinity" => return Some(text),
        _ => {}
    }
    let plain = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    // Unlike Java, Rust also accepts `inf`, `nan` and `infinity`.
    let is_number = |byte: u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    plain.bytes().all(is_number).then_some(plain)
}

/// Parses a number of JSON's grammar to the nearest double (ties to even); infinite if it is too large.
///
/// If the digits as an integer are at most 2^53 and the power of ten is at most 10^22, both are exact
/// doubles, so that their quotient is rounded only once (Clinger, "How to read floating point numbers
/// accurately", 1990). All other numbers are parsed by the standard library.
#[inline]
pub fn double_from_json(text: &str) -> f64 {
    decimal(text.as_bytes()).unwrap_or_else(|| text.parse().unwrap_or(f64::NAN))
}

/// Parses a number without exponent. `None` if it has an exponent or too many digits.
#[inline]
fn decimal(bytes: &[u8]) -> Option<f64> {
    let (is_negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.len() > DECIMAL_BYTES_MAX {
        return None;
    }
    let (mut whole, mut fraction_digits) = (0u64, 0);
    let mut is_fraction = false;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            whole = whole * 10 + u64::from(digit);
            fraction_digits += usize::from(is_fraction);
        } else if *byte == b'.' && !is_fraction {
            is_fraction = true;
        } else {
            return None;
        }
    }
    if whole > 1 << f64::MANTISSA_DIGITS {
        return None;
    }
    let value = whole as f64 / POWERS_OF_TEN[fraction_digits];
    Some(if is_negative { -value } else { value })
}

/// This many digits fit into 64 bits.
const DECIMAL_BYTES_MAX: usize = 19;
const POWERS_OF_TEN: [f64; DECIMAL_BYTES_MAX] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

/// Formats a double like Java's `Double.toString` (`1.0`, `1.0E10`, `1.0E-5`).
pub fn java_double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let magnitude = value.abs();
    java_digits(value, magnitude == 0.0 || (1e-3..1e7).contains(&magnitude))
}

/// Formats a float like Java's `Float.toString`.
pub fn java_float(value: f32) -> String {
    if !value.is_finite() {
        return java_double(value as f64);
    }
    let magnitude = value.abs();
    java_digits(value, magnitude == 0.0 || (1e-3..1e7).contains(&magnitude))
}

/// Formats a number with a decimal point and the fewest digits that distinguish it from its neighbours. Has
/// an exponent unless `is_plain`.
fn java_digits(value: impl Display + UpperExp, is_plain: bool) -> String {
    if is_plain {
        let text = format!("{value}");
        return if text.contains('.') { text } else { format!("{text}.0") };
    }
    let text = format!("{value:E}");
    match text.split_once('E') {
        // Java shows at least two digits, those nearest to the value: the least double is 4.9E-324.
        Some((mantissa, _)) if !mantissa.contains('.') => format!("{value:.1E}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_from_text() {
        let check = |text: &str, expected: Option<(i128, bool)>| {
            let found = integer_from_text(text).map(|found| (found.value, found.has_fraction));
            assert_eq!(found, expected, "{text}");
        };
        check("12", Some((12, false)));
        check("-12", Some((-12, false)));
        check("+7", Some((7, false)));
        check("1.5", Some((1, true)));
        check("-1.9", Some((-1, true)));
        check("1.0", Some((1, false)));
        check("-1e3", Some((-1000, false)));
        check("1.5e1", Some((15, false)));
        check("15e-1", Some((1, true)));
        check("15e-5", Some((0, true)));
        check(".5", Some((0, true)));
        check("5.", Some((5, false)));
        check("9223372036854775808", Some((9223372036854775808, false)));
        check("1e400", Some((i128::MAX, false)));
        check("0e99999999999", Some((0, false)));
        check("", None);
        check("-", None);
        check(".", None);
        check("1e", None);
        check(" 5", None);
        check("1x", None);
    }

    #[test]
    fn half_floats() {
        let check = |value: f32, expected: f32| assert_eq!(round_to_half(value), expected, "{value}");
        check(0.0, 0.0);
        check(1.0, 1.0);
        check(0.1, 0.099975586);
        check(65504.0, 65504.0);
        check(65519.0, 65504.0);
        check(65520.0, f32::INFINITY);
        check(-2.0001, -2.0);
        check(5.9604645e-8, 5.9604645e-8);
        check(1e-9, 0.0);
        check(2049.0, 2048.0);
        check(2051.0, 2052.0);
    }

    #[test]
    fn java_text() {
        let check = |value: f64, expected: &str| assert_eq!(java_double(value), expected);
        check(1.0, "1.0");
        check(0.1, "0.1");
        check(1e7, "1.0E7");
        check(1.25e-5, "1.25E-5");
        check(f64::NAN, "NaN");
        check(-0.0, "-0.0");
        check(0.001, "0.001");
        check(0.0001, "1.0E-4");
        check(9999999.0, "9999999.0");
        check(1.5e20, "1.5E20");
        check(f64::NEG_INFINITY, "-Infinity");
        check(f64::from_bits(1), "4.9E-324");
        assert_eq!(java_float(1.1), "1.1");
        assert_eq!(java_float(3.0e10), "3.0E10");
        assert_eq!(java_float(f32::from_bits(1)), "1.4E-45");
    }

    #[test]
    fn numbers_are_read_as_java_reads_them() {
        assert_eq!(double_from_text(" 1 "), Some(1.0));
        assert_eq!(double_from_text("1.0d"), Some(1.0));
        assert_eq!(double_from_text("1e400"), Some(f64::INFINITY));
        assert_eq!(double_from_text("-Infinity"), Some(f64::NEG_INFINITY));
        assert!(double_from_text("-NaN").is_some_and(f64::is_nan));
        for refused in ["", "d", "inf", "nan", "0x10", "+-1", "1dd"] {
            assert_eq!(double_from_text(refused), None, "{refused}");
            assert_eq!(float_from_text(refused), None, "{refused}");
        }
        // The nearest double is halfway between two floats, and the digits are above it.
        let digits = "1.000000059604644775390626";
        assert_eq!(float_from_text(digits), Some(1.0000001));
        assert_eq!(double_from_text(digits).map(|double| double as f32), Some(1.0));
        assert_eq!(float_from_text("1e400"), Some(f32::INFINITY));
    }

    #[test]
    fn sortable_keeps_order() {
        let values = [f64::NEG_INFINITY, -1e300, -1.5, -0.0, 0.0, 1e-300, 2.0, f64::INFINITY];
        for pair in values.windows(2) {
            assert!(sortable_from_f64(pair[0]) < sortable_from_f64(pair[1]));
        }
        for value in values {
            assert_eq!(f64_from_sortable(sortable_from_f64(value)).to_bits(), value.to_bits());
        }
    }

    #[test]
    fn short_decimals_are_the_doubles_of_the_standard_library() {
        let check = |text: &str| {
            let expected: f64 = text.parse().expect("a number");
            assert_eq!(double_from_json(text).to_bits(), expected.to_bits(), "{text}");
        };
        for text in ["0", "-0.0", "0.1", "9007199254740993", "9007199254740992.0", "-73.98201751708984"] {
            check(text);
        }
        for text in [
            "1e3",
            "-2.5E-7",
            "1e400",
            "12345678901234567890",
            "0.00000000000000000001",
            "1.0000000000000000001",
        ] {
            check(text);
        }
        let mut state = 7u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (digits, point) = (state >> (state >> 58), (state >> 20) as usize % 20);
            let mut text = format!("{digits:020}");
            text.insert(20 - point, '.');
            let text = text.trim_start_matches('0').trim_end_matches('.');
            let text = if text.starts_with('.') { format!("0{text}") } else { text.to_owned() };
            check(if text.is_empty() { "0" } else { &text });
        }
    }
}
