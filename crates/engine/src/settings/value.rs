//! Values of settings: durations, sizes, numbers, booleans, with Elasticsearch's words when they are wrong.
//!
//! Source: `org.elasticsearch.core.TimeValue`, `org.elasticsearch.common.unit.ByteSizeValue`, `Setting`.

use limber_mapping::RequestError;

use crate::api::Result;

/// `1d`, `2h`, `3m`, `4s`, `5ms`, `6micros`, `7nanos`, `-1`, `0` to milliseconds; `-1` stays `-1`.
pub fn parse_time_ms(key: &str, text: &str) -> Result<i64> {
    let lower = text.trim().to_ascii_lowercase();
    let failed = |why: &str| {
        RequestError::illegal_argument(format!(
            "failed to parse setting [{key}] with value [{text}] as a time value: {why}"
        ))
    };
    if lower == "-1" || lower == "0" {
        return Ok(if lower == "0" { 0 } else { -1 });
    }
    // Longest suffix first, so that `ms` is not read as `s`.
    const UNITS: [(&str, i64, i64); 7] = [
        ("nanos", 1, 1_000_000),
        ("micros", 1, 1_000),
        ("ms", 1, 1),
        ("s", 1_000, 1),
        ("m", 60_000, 1),
        ("h", 3_600_000, 1),
        ("d", 86_400_000, 1),
    ];
    let Some((suffix, factor, divisor)) = UNITS.into_iter().find(|(suffix, ..)| lower.ends_with(suffix))
    else {
        return Err(failed("unit is missing or unrecognized"));
    };
    let number = lower[..lower.len() - suffix.len()].trim();
    let number: i64 = match number.parse() {
        Ok(number) => number,
        Err(_) if number.parse::<f64>().is_ok() => {
            return Err(failed("fractional time values are not supported"));
        }
        Err(_) => return Err(failed("unit is missing or unrecognized")),
    };
    if number < 0 {
        return Err(failed("negative durations are not supported"));
    }
    number.checked_mul(factor).map(|ms| ms / divisor).ok_or_else(|| failed("value is too large"))
}

/// Units of sizes by their endings, longest first; the power of two that each is.
const BYTE_UNITS: [(&str, u32); 11] = [
    ("kb", 10),
    ("mb", 20),
    ("gb", 30),
    ("tb", 40),
    ("pb", 50),
    ("k", 10),
    ("m", 20),
    ("g", 30),
    ("t", 40),
    ("p", 50),
    ("b", 0),
];

/// The number before the unit of a size in lower case, and the unit as a power of two; `None`: no unit.
pub fn split_byte_unit(lower: &str) -> Option<(&str, u32)> {
    BYTE_UNITS.into_iter().find_map(|(unit, shift)| Some((lower.strip_suffix(unit)?.trim(), shift)))
}

/// `512mb`, `1kb`, `10b`, `-1`, `0` to bytes; fractions allowed as in Elasticsearch (`1.5gb`).
pub fn parse_bytes(key: &str, text: &str) -> Result<i64> {
    let lower = text.trim().to_ascii_lowercase();
    let failed = |why: &str| {
        RequestError::illegal_argument(format!(
            "failed to parse setting [{key}] with value [{text}] as a size in bytes: {why}"
        ))
    };
    if lower == "-1" || lower == "0" {
        return Ok(if lower == "0" { 0 } else { -1 });
    }
    let Some((number, shift)) = split_byte_unit(&lower) else {
        return Err(failed("unit is missing or unrecognized"));
    };
    let number: f64 = number.parse().map_err(|_| failed("unit is missing or unrecognized"))?;
    let bytes = number * (1u64 << shift) as f64;
    if !(0.0..=i64::MAX as f64).contains(&bytes) {
        return Err(failed("value is out of range"));
    }
    Ok(bytes as i64)
}

/// A size or a share (`10%`) of `whole_bytes`.
pub fn parse_bytes_or_percent(key: &str, text: &str, whole_bytes: u64) -> Result<u64> {
    match text.trim().strip_suffix('%') {
        Some(percent) => match percent.trim().parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => {
                Ok((whole_bytes as f64 * percent / 100.0) as u64)
            }
            _ => Err(RequestError::illegal_argument(format!(
                "percentage should be in [0-100], got [{text}] for setting [{key}]"
            ))),
        },
        None => Ok(parse_bytes(key, text)?.max(0) as u64),
    }
}

pub fn parse_bool(key: &str, text: &str) -> Result<bool> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(RequestError::illegal_argument(format!(
            "Failed to parse value [{text}] for setting [{key}] as only [true] or [false] are allowed."
        ))),
    }
}

pub fn parse_integer(key: &str, text: &str, min: i64, max: i64) -> Result<i64> {
    let value: i64 = text.trim().parse().map_err(|_| {
        RequestError::illegal_argument(format!("Failed to parse value [{text}] for setting [{key}]"))
    })?;
    if value < min {
        return Err(RequestError::illegal_argument(format!(
            "Failed to parse value [{text}] for setting [{key}] must be >= {min}"
        )));
    }
    if value > max {
        return Err(RequestError::illegal_argument(format!(
            "Failed to parse value [{text}] for setting [{key}] must be <= {max}"
        )));
    }
    Ok(value)
}

pub fn parse_float(key: &str, text: &str, min: f64, max: f64) -> Result<f64> {
    let value: f64 = text.trim().parse().map_err(|_| {
        RequestError::illegal_argument(format!("Failed to parse value [{text}] for setting [{key}]"))
    })?;
    if value.is_nan() || value < min {
        return Err(RequestError::illegal_argument(format!(
            "Failed to parse value [{text}] for setting [{key}] must be >= {min:?}"
        )));
    }
    if value > max {
        return Err(RequestError::illegal_argument(format!(
            "Failed to parse value [{text}] for setting [{key}] must be <= {max:?}"
        )));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_every_unit() {
        let check =
            |text, expected: Option<i64>| assert_eq!(parse_time_ms("k", text).ok(), expected, "{text}");
        check("1s", Some(1000));
        check("30S", Some(30_000));
        check("1d", Some(86_400_000));
        check("5ms", Some(5));
        check("1500micros", Some(1));
        check("-1", Some(-1));
        check("0", Some(0));
        check("10", None);
        check("1.5s", None);
        check("-5s", None);
        check("", None);
        check("s", None);
        check("99999999999999999d", None);
    }

    #[test]
    fn sizes_in_every_unit() {
        let check = |text, expected: Option<i64>| assert_eq!(parse_bytes("k", text).ok(), expected, "{text}");
        check("512mb", Some(512 << 20));
        check("1.5kb", Some(1536));
        check("10b", Some(10));
        check("2G", Some(2 << 30));
        check("-1", Some(-1));
        check("10", None);
        check("mb", None);
        check("1e30pb", None);
        assert_eq!(parse_bytes_or_percent("k", "10%", 1000).ok(), Some(100));
        assert!(parse_bytes_or_percent("k", "110%", 1000).is_err());
    }
}
