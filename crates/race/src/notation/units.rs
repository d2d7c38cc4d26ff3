//! Converts milliseconds and bytes as Rally does for its report (`esrally/utils/convert.py`).
//!
//! Rally rounds to whole nanoseconds and whole bytes in between. The conversions here do the same, so that
//! the last digit agrees.

use crate::notation::number::Number;

const NS_PER_MS: i64 = 1_000_000;
pub(crate) const KB: f64 = 1024.0;
pub(crate) const MB: f64 = KB * 1024.0;
pub(crate) const GB: f64 = MB * 1024.0;
pub(crate) const TB: f64 = GB * 1024.0;
pub(crate) const PB: f64 = TB * 1024.0;

pub(crate) fn ms_to_minutes(ms: Number) -> Number {
    Number::Float(ns(ms) / 60e9)
}

pub(crate) fn ms_to_seconds(ms: Number) -> Number {
    Number::Float(ns(ms) / 1e9)
}

fn ns(ms: Number) -> f64 {
    match ms {
        Number::Int(ms) => ms.saturating_mul(NS_PER_MS) as f64,
        Number::Float(ms) => (ms * NS_PER_MS as f64).trunc(),
    }
}

pub(crate) fn bytes_to_gb(bytes: Number) -> Number {
    Number::Float(bytes.as_f64().trunc() / GB)
}

pub(crate) fn bytes_to_mb(bytes: Number) -> Number {
    Number::Float(bytes.as_f64().trunc() / MB)
}

/// Returns the largest unit in which the value is at least 1, and its bytes.
pub(crate) fn human_unit(bytes: f64) -> (&'static str, f64) {
    let size = bytes.abs();
    match size {
        _ if size < KB => ("B", 1.0),
        _ if size < MB => ("KB", KB),
        _ if size < GB => ("MB", MB),
        _ if size < TB => ("GB", GB),
        _ => ("TB", TB),
    }
}

/// Returns `252.9MB`, `17B` or `N/A`.
pub(crate) fn pretty_size(bytes: Option<u64>) -> String {
    let Some(bytes) = bytes else { return "N/A".to_owned() };
    match human_unit(bytes as f64) {
        ("B", _) => format!("{bytes}B"),
        (unit, unit_bytes) => format!("{:.1}{unit}", bytes as f64 / unit_bytes),
    }
}

/// Returns `11,396,503`.
pub(crate) fn pretty_count(count: u64) -> String {
    grouped_digits(&count.to_string())
}

/// Returns the digits with a comma before every three of them, counted from the end.
pub(super) fn grouped_digits(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the bytes of a size as Elasticsearch and its users write it: `512mb`, `10gb`, `1.5g`, `1024`, `-1`
/// (no limit).
pub(crate) fn bytes_of(text: &str) -> Option<f64> {
    let text = text.trim().to_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "b" => 1.0,
        "k" | "kb" => KB,
        "m" | "mb" => MB,
        "g" | "gb" => GB,
        "t" | "tb" => TB,
        "p" | "pb" => PB,
        _ => return None,
    };
    let number = digits.trim_end().parse::<f64>().ok()?;
    number.is_finite().then_some(number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_elasticsearch_writes_them() {
        assert_eq!(bytes_of("512mb"), Some(536_870_912.0));
        assert_eq!(bytes_of("1.5 GB"), Some(1_610_612_736.0));
        assert_eq!(bytes_of("-1"), Some(-1.0));
        assert_eq!((bytes_of("ten"), bytes_of("5x"), bytes_of("inf")), (None, None, None));
    }

    #[test]
    fn sizes_and_counts_are_readable() {
        assert_eq!(pretty_size(Some(0)), "0B");
        assert_eq!(pretty_size(Some(1023)), "1023B");
        assert_eq!(pretty_size(Some(265_208_777)), "252.9MB");
        assert_eq!(pretty_size(None), "N/A");
        assert_eq!(pretty_count(11_396_503), "11,396,503");
        assert_eq!(pretty_count(999), "999");
        assert_eq!(pretty_count(1_000), "1,000");
    }
}
