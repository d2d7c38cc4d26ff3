//! Formats and parses sizes and shares as people write them.

use crate::notation::units::{bytes_of, pretty_size};

/// Returns `1.5GB`. `bytes` may be a mean or a rate.
pub(super) fn size(bytes: f64) -> String {
    pretty_size(Some(bytes.max(0.0) as u64))
}

/// Returns `12 %` or `0.4 %`, with as many digits as are useful.
pub(super) fn percent(value: f64) -> String {
    if value.abs() >= 10.0 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}

/// Returns `100 * part / whole`, or 0 if `whole` is 0.
pub(super) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}

/// Parses a size, or a share of `whole` such as `10%`.
pub(super) fn bytes_or_share_of(text: &str, whole: f64) -> Option<f64> {
    match text.trim().strip_suffix('%') {
        Some(share) => Some(share.trim().parse::<f64>().ok()? / 100.0 * whole),
        None => bytes_of(text),
    }
}

/// Returns the seconds of an Elasticsearch time: `1s`, `500ms`, `5m`. `-1` means never.
pub(super) fn seconds_of(text: &str) -> Option<f64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" if digits.starts_with('-') => 1.0,
        "" | "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        "micros" => 1e-6,
        "nanos" => 1e-9,
        _ => return None,
    };
    digits.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_as_elasticsearch_writes_them() {
        assert_eq!(bytes_or_share_of("10%", 200.0), Some(20.0));
        assert_eq!(seconds_of("1s"), Some(1.0));
        assert_eq!(seconds_of("500ms"), Some(0.5));
        assert_eq!(seconds_of("-1"), Some(-1.0));
        assert_eq!(seconds_of("soon"), None);
        assert_eq!(percent(0.44), "0.4 %");
        assert_eq!(percent(44.4), "44 %");
    }
}
