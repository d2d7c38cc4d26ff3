//! Parses values of settings: durations, sizes, numbers, booleans. Errors have Elasticsearch's wording.
//!
//! Source: `org.elasticsearch.core.TimeValue`, `org.elasticsearch.common.unit.ByteSizeValue`, `Setting`.

use limber_mapping::RequestError;
use limber_text::byte_size;
use limber_text::time_value::TimeValue;

use crate::api::Result;

/// Parses a time such as `30s` to whole milliseconds; `-1` stays `-1`.
pub fn parse_time_ms(key: &str, text: &str) -> Result<i64> {
    let Some(time) = TimeValue::parse(text, key)? else { return Ok(-1) };
    i64::try_from(time.millis()).map_err(|_| {
        RequestError::illegal_argument(format!(
            "failed to parse setting [{key}] with value [{text}] as a time value: value is too large"
        ))
    })
}

/// Parses `512mb`, `1kb`, `10b`, `-1` or `0` to bytes. Fractions are allowed as in Elasticsearch (`1.5gb`).
pub fn parse_bytes(key: &str, text: &str) -> Result<i64> {
    match byte_size::parse(text) {
        Ok(bytes) => Ok(bytes.unwrap_or(-1)),
        Err(why) => Err(RequestError::illegal_argument(why.of_setting(key, text))),
    }
}

/// Parses a size, or a percentage (`10%`) of `whole_bytes`.
pub fn parse_bytes_or_percent(key: &str, text: &str, whole_bytes: u64) -> Result<u64> {
    match byte_size::share(text, whole_bytes) {
        Some(share) => share.map_err(|_| {
            RequestError::illegal_argument(format!(
                "percentage should be in [0-100], got [{text}] for setting [{key}]"
            ))
        }),
        None => Ok(parse_bytes(key, text)?.max(0) as u64),
    }
}

/// Parses `true` or `false`. The error names the setting `key`.
pub fn parse_bool(key: &str, text: &str) -> Result<bool> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(RequestError::illegal_argument(format!(
            "Failed to parse value [{text}] for setting [{key}] as only [true] or [false] are allowed."
        ))),
    }
}

/// Parses a whole number from `min` to `max`. The error names the setting `key`.
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

/// Parses a number from `min` to `max`. The error names the setting `key`.
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
