//! Times with a unit (`30s`): "how long is this?"
//!
//! Source: `org.elasticsearch.core.TimeValue#parseTimeValue`.

use crate::{Error, Result};

/// Units by their suffixes, with their nanoseconds; a unit that ends like another one comes before it.
const UNITS: [(&str, u64); 7] = [
    ("nanos", 1),
    ("micros", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// A duration as it was written: a whole number of one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeValue {
    count: u64,
    unit_nanos: u64,
}

impl TimeValue {
    /// Parses `5s`, `100ms` or `0`; `-1` is `None`. Letters may be of either case, except for `m`: `M`
    /// would be months.
    ///
    /// # Errors
    /// [`Error::IllegalArgument`] and [`Error::IllegalNumber`], which name `setting`; fractions are refused.
    pub fn parse(text: &str, setting: &str) -> Result<Option<TimeValue>> {
        let lower = text.trim().to_ascii_lowercase();
        let unit = UNITS
            .into_iter()
            .find(|(unit, _)| lower.ends_with(unit))
            .filter(|(unit, _)| *unit != "m" || text.trim().ends_with('m'));
        let refused = |why: &str| {
            Error::illegal(format!(
                "failed to parse setting [{setting}] with value [{text}] as a time value: {why}"
            ))
        };
        let Some((unit, unit_nanos)) = unit else {
            return match lower.as_str() {
                zeros if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => {
                    Ok(Some(TimeValue { count: 0, unit_nanos: 1 }))
                }
                negative if is_minus_one(negative) => Ok(None),
                _ => Err(refused("unit is missing or unrecognized")),
            };
        };
        let number = lower[..lower.len() - unit.len()].trim();
        match number.parse::<i64>() {
            Ok(-1) => Ok(None),
            Ok(count) => match u64::try_from(count) {
                Ok(count) => Ok(Some(TimeValue { count, unit_nanos })),
                Err(_) => Err(refused("negative durations are not supported")),
            },
            Err(_) => {
                let is_fraction = number.parse::<f64>().is_ok_and(f64::is_finite);
                let why = if is_fraction { ", fractional time values are not supported" } else { "" };
                Err(Error::IllegalNumber {
                    reason: format!("failed to parse [{text}]{why}"),
                    number: number.to_owned(),
                })
            }
        }
    }

    /// Returns nanoseconds; `u64::MAX` if the time is longer.
    pub fn nanos(self) -> u64 {
        self.count.saturating_mul(self.unit_nanos)
    }

    /// Returns whole milliseconds, as `TimeValue#getMillis` does; `u64::MAX` if the time is longer.
    pub fn millis(self) -> u64 {
        self.in_millis(u128::div_euclid)
    }

    /// Returns milliseconds, rounded up, so that only 0 becomes 0.
    pub fn millis_begun(self) -> u64 {
        self.in_millis(u128::div_ceil)
    }

    fn in_millis(self, divide: fn(u128, u128) -> u128) -> u64 {
        let nanos = u128::from(self.count) * u128::from(self.unit_nanos);
        u64::try_from(divide(nanos, 1_000_000)).unwrap_or(u64::MAX)
    }
}

/// Returns the nanoseconds of a unit (`micros`); `None` if there is no such unit.
pub fn unit_nanos(name: &str) -> Option<u64> {
    UNITS.into_iter().find(|(unit, _)| *unit == name).map(|(_, nanos)| nanos)
}

/// Shows milliseconds as `TimeValue#toString` does: in the largest unit of which they have one, with one
/// decimal unless that is zero.
pub fn show_millis(millis: u64) -> String {
    show_millis_to(millis, 1)
}

/// Does the same as [`show_millis`] with up to `decimals` decimals, the last of which is not zero
/// (`TimeValue#toHumanReadableString`).
pub fn show_millis_to(millis: u64, decimals: u32) -> String {
    show(u128::from(millis) * 1_000_000, decimals)
}

/// Shows nanoseconds as `TimeValue#toString` does.
pub fn show_nanos(nanos: u64) -> String {
    show(u128::from(nanos), 1)
}

fn show(nanos: u128, decimals: u32) -> String {
    let largest = UNITS.into_iter().rev().find(|(_, unit_nanos)| nanos >= u128::from(*unit_nanos));
    let Some((unit, unit_nanos)) = largest else { return "0s".to_owned() };
    let (whole, rest) = (nanos / u128::from(unit_nanos), nanos % u128::from(unit_nanos));
    let fraction = rest * 10_u128.pow(decimals) / u128::from(unit_nanos);
    let digits = format!("{fraction:0width$}", width = decimals as usize);
    match digits.trim_end_matches('0') {
        "" => format!("{whole}{unit}"),
        digits => format!("{whole}.{digits}{unit}"),
    }
}

fn is_minus_one(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|digits| digits.trim_start_matches('0') == "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_every_unit() {
        let check = |text: &str, nanos: u64| {
            let read = TimeValue::parse(text, "k").map(|time| time.map(TimeValue::nanos));
            assert_eq!(read, Ok(Some(nanos)), "{text}");
        };
        check("7nanos", 7);
        check("1500micros", 1_500_000);
        check("5ms", 5_000_000);
        check("30S", 30_000_000_000);
        check(" 2 m ", 120_000_000_000);
        check("1h", 3_600_000_000_000);
        check("1D", 86_400_000_000_000);
        check("0", 0);
        check("000", 0);
        check("999999999999d", u64::MAX);
    }

    #[test]
    fn milliseconds_are_cut_off_or_counted_whole() {
        let time = TimeValue::parse("1500micros", "k").expect("a time").expect("not -1");
        assert_eq!((time.millis(), time.millis_begun()), (1, 2));
        let long = TimeValue::parse("1000000d", "k").expect("a time").expect("not -1");
        assert_eq!(long.millis(), 86_400_000_000_000);
    }

    #[test]
    fn times_are_shown_in_the_largest_unit() {
        for (millis, shown) in
            [(0, "0s"), (12, "12ms"), (1500, "1.5s"), (90_000, "1.5m"), (172_800_000, "2d")]
        {
            assert_eq!(show_millis(millis), shown);
        }
        for (nanos, shown) in [(0, "0s"), (7, "7nanos"), (1_500, "1.5micros"), (604_462_327, "604.4ms")] {
            assert_eq!(show_nanos(nanos), shown);
        }
        assert_eq!((unit_nanos("ms"), unit_nanos("MS")), (Some(1_000_000), None));
    }

    #[test]
    fn minus_one_is_none_in_any_unit() {
        for text in ["-1", "-01", "-1s", "-1ms"] {
            assert_eq!(TimeValue::parse(text, "k"), Ok(None), "{text}");
        }
    }

    #[test]
    fn errors_in_elasticsearchs_words() {
        let check = |text: &str, expected: &str| {
            let error = TimeValue::parse(text, "k").expect_err(text);
            assert_eq!(error.to_string(), expected);
        };
        let whole = |text: &str, why: &str| {
            format!("failed to parse setting [k] with value [{text}] as a time value: {why}")
        };
        for text in ["10", "", "x", "1M"] {
            check(text, &whole(text, "unit is missing or unrecognized"));
        }
        check("-5s", &whole("-5s", "negative durations are not supported"));
        check("1.5m", "failed to parse [1.5m], fractional time values are not supported");
        check("s", "failed to parse [s]");
        check("xs", "failed to parse [xs]");
        check(
            "99999999999999999999d",
            "failed to parse [99999999999999999999d], fractional time values are not supported",
        );
    }
}
