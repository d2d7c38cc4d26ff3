//! Formats figures for people.

use std::collections::HashSet;

use crate::notation::units;

/// Returns `1,234,567`, or two decimals for a fraction below 10.
pub(crate) fn grouped(value: f64) -> String {
    if value.abs() < 10.0 && value.fract() != 0.0 {
        return format!("{value:.2}");
    }
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", units::grouped_digits(&format!("{:.0}", value.abs())))
}

/// Returns three significant digits in a suitable unit: `340 µs`, `12.3 ms`, `2.05 s`.
pub(crate) fn milliseconds(ms: f64) -> String {
    let (value, unit) = match ms {
        0.0 => return "0 ms".to_owned(),
        ms if ms < 0.9995 => (ms * 1000.0, "µs"),
        ms if ms < 999.5 => (ms, "ms"),
        ms => (ms / 1000.0, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// Returns three significant digits in a suitable unit: `12.0 MiB`.
pub(crate) fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes;
    let mut units = UNITS.iter();
    let mut unit = units.next();
    while value.abs() >= 999.5 {
        let Some(larger) = units.next() else { break };
        unit = Some(larger);
        value /= 1024.0;
    }
    let text = if value.fract() == 0.0 && value < 10.0 { format!("{value:.0}") } else { three_digits(value) };
    format!("{text} {}", unit.unwrap_or(&"B"))
}

/// Formats a figure by its own unit: times and sizes in a suitable one, percentages with three digits,
/// anything else with grouped digits.
pub(crate) fn in_unit(value: f64, unit: &str) -> String {
    match unit {
        "ms" => milliseconds(value),
        "s" => milliseconds(value * 1000.0),
        "bytes" => bytes(value),
        "%" => format!("{} %", three_digits(value)),
        "" => grouped(value),
        unit => format!("{} {unit}", grouped(value)),
    }
}

/// Returns a share in percent, with three significant digits.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", three_digits(share * 100.0))
}

/// Returns three significant digits, without an exponent.
pub(crate) fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// Returns six significant digits without an exponent and without trailing zeros, for tables: `170840`,
/// `0.412`.
pub(crate) fn plain(value: f64) -> String {
    let value = significant(value, 6);
    // `Display` of a float never writes an exponent.
    if value.is_finite() { value.to_string() } else { "-".to_owned() }
}

/// Returns the unit in which a table shows figures of `unit`, and the factor to convert them. Sizes are in
/// MB, so that columns need no powers of ten.
pub(crate) fn table_unit(unit: &str) -> (&str, f64) {
    match unit {
        "bytes" => ("MB", 1.0 / units::MB),
        unit => (unit, 1.0),
    }
}

/// Returns the closest number with this many significant digits.
pub(crate) fn significant(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

/// Returns `0:07`, `12:34` or `1:02:03`.
pub(crate) fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Returns each name once, in the order of the first occurrences.
pub(crate) fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        let shown: Vec<String> =
            [0.00034, 0.34, 0.9996, 12.34, 99.96, 999.6, 2050.0].map(milliseconds).into();
        assert_eq!(milliseconds(0.0), "0 ms");
        assert_eq!(shown, ["0.34 µs", "340 µs", "1.00 ms", "12.3 ms", "100 ms", "1.00 s", "2.05 s"]);
        let shown: Vec<String> = [0.0, 0.5, 9.0, 999.4, 61_204.0, -1_234_567.0].map(grouped).into();
        assert_eq!(shown, ["0", "0.50", "9", "999", "61,204", "-1,234,567"]);
        assert_eq!(
            [0.0, 900.0, 1024.0, 12_582_912.0, 1e15].map(bytes),
            ["0 B", "900 B", "1 KiB", "12.0 MiB", "909 TiB"]
        );
        assert_eq!((significant(1_234_567.0, 5), significant(-0.000_123_456, 3)), (1_234_600.0, -0.000_123));
        let units = ["ms", "s", "bytes", "%", "", "docs/s"].map(|unit| in_unit(2048.0, unit));
        assert_eq!(units, ["2.05 s", "2048 s", "2 KiB", "2048 %", "2,048", "2,048 docs/s"]);
        assert_eq!(
            [50_319_400.0, 170_840.332, 0.412, 3e-7, f64::NAN].map(plain),
            ["50319400", "170840", "0.412", "0.0000003", "-"]
        );
        assert_eq!([7.2, 754.0, 3723.0].map(clock), ["0:07", "12:34", "1:02:03"]);
    }
}
