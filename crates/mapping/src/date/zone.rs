//! Time zones: "how far is the local clock from UTC at this instant?"

use crate::RequestError;

/// A time zone, as `java.time.ZoneId` accepts it: `Z`, an offset, or a region of the tz database.
#[derive(Debug, Clone, PartialEq)]
pub enum Zone {
    /// The offset 0.
    Utc,
    /// A fixed offset.
    Fixed {
        /// Seconds east of Greenwich.
        seconds: i32,
    },
    /// A region whose offset changes.
    Region(jiff::tz::TimeZone),
}

impl Zone {
    /// Parses `Z`, `UTC`, `GMT`, `+01:00`, `-0530`, `+2`, `UTC+01:00`, `Europe/Berlin`.
    ///
    /// Error: `illegal_argument_exception` "Unknown time-zone ID: ...".
    pub fn parse(text: &str) -> Result<Zone, RequestError> {
        Zone::from_id(text).ok_or_else(|| {
            RequestError::illegal_argument(format!("failed to parse [time_zone] [{text}]")).caused_by(
                RequestError::bad_request("zone_rules_exception", format!("Unknown time-zone ID: {text}")),
            )
        })
    }

    pub(crate) fn from_id(text: &str) -> Option<Zone> {
        if matches!(text, "Z" | "UTC" | "GMT" | "UT") {
            return Some(Zone::Utc);
        }
        let offset = ["UTC", "GMT", "UT"].iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
        if offset.starts_with(['+', '-']) {
            return offset_seconds(offset).map(Zone::fixed);
        }
        if text.is_empty() || text.len() > 64 {
            return None;
        }
        let region = jiff::tz::TimeZone::get(text).ok()?;
        // Unlike Java, the database ignores case.
        (region.iana_name() == Some(text)).then_some(Zone::Region(region))
    }

    /// Returns the zone with this offset in seconds east of Greenwich.
    pub fn fixed(seconds: i32) -> Zone {
        if seconds == 0 { Zone::Utc } else { Zone::Fixed { seconds } }
    }

    /// Returns the period around an instant in which the offset does not change: its first instant, and the
    /// first instant after it.
    pub fn season_at(&self, instant_millis: i64) -> Option<(i64, i64)> {
        let Zone::Region(region) = self else { return Some((i64::MIN, i64::MAX)) };
        let time = |millis: i64| jiff::Timestamp::from_millisecond(millis).ok();
        let (here, after) = (time(instant_millis)?, time(instant_millis.checked_add(1)?)?);
        let start =
            region.preceding(after).next().map_or(i64::MIN, |change| change.timestamp().as_millisecond());
        let end =
            region.following(here).next().map_or(i64::MAX, |change| change.timestamp().as_millisecond());
        Some((start, end))
    }

    /// Returns how many seconds the local clock is ahead of UTC at an instant.
    pub fn offset_seconds_at(&self, utc_millis: i64) -> i32 {
        match self {
            Zone::Utc => 0,
            Zone::Fixed { seconds } => *seconds,
            Zone::Region(region) => {
                let low = jiff::Timestamp::MIN.as_millisecond();
                let high = jiff::Timestamp::MAX.as_millisecond();
                match jiff::Timestamp::from_millisecond(utc_millis.clamp(low, high)) {
                    Ok(instant) => region.to_offset(instant).seconds(),
                    Err(_) => 0,
                }
            }
        }
    }

    /// Returns the local time at an instant, in milliseconds since 1970-01-01T00:00 local time.
    pub fn to_local(&self, utc_millis: i64) -> i64 {
        utc_millis.saturating_add(self.offset_seconds_at(utc_millis) as i64 * 1000)
    }

    /// Returns the instant of a local time. A local time in a gap is shifted forward by the length of the
    /// gap; in an overlap the earlier instant is returned (`java.time.ZonedDateTime.ofLocal`).
    pub fn to_utc(&self, local_millis: i64) -> i64 {
        match self {
            Zone::Utc => local_millis,
            Zone::Fixed { seconds } => local_millis.saturating_sub(*seconds as i64 * 1000),
            Zone::Region(_) => {
                const DAY: i64 = super::MILLIS_PER_DAY;
                // The offsets before and after any change that could matter here.
                let before = self.offset_seconds_at(local_millis.saturating_sub(DAY)) as i64 * 1000;
                let after = self.offset_seconds_at(local_millis.saturating_add(DAY)) as i64 * 1000;
                for offset in [before, after] {
                    let utc = local_millis.saturating_sub(offset);
                    if self.offset_seconds_at(utc) as i64 * 1000 == offset {
                        return utc;
                    }
                }
                local_millis.saturating_sub(before)
            }
        }
    }

    /// Returns the next instant after `utc_millis` at which the offset changes; `None` if it never does.
    pub fn next_transition(&self, utc_millis: i64) -> Option<i64> {
        let Zone::Region(region) = self else { return None };
        let instant = jiff::Timestamp::from_millisecond(utc_millis).ok()?;
        region.following(instant).next().map(|transition| transition.timestamp().as_millisecond())
    }

    /// Returns the region's abbreviation at an instant (`EST`, `EDT`), if it has one of letters, or else the
    /// zone's id.
    pub(crate) fn short_name_at(&self, utc_millis: i64) -> String {
        if let Zone::Region(region) = self
            && let Ok(instant) = jiff::Timestamp::from_millisecond(utc_millis)
        {
            let info = region.to_offset_info(instant);
            let name = info.abbreviation();
            if name.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                return name.to_owned();
            }
        }
        self.id()
    }

    /// Returns `Z`, `+01:00` or the region's name.
    pub fn id(&self) -> String {
        match self {
            Zone::Utc => "Z".to_owned(),
            Zone::Fixed { seconds } => {
                let mut text = String::new();
                write_offset(&mut text, *seconds, true, false);
                text
            }
            Zone::Region(region) => region.iana_name().unwrap_or_default().to_owned(),
        }
    }
}

/// Parses `+h`, `+hh`, `+hhmm`, `+hh:mm`, `+hhmmss`, `+hh:mm:ss`, at most 18 hours.
fn offset_seconds(text: &str) -> Option<i32> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let rest = &text[1..];
    if !rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') {
        return None;
    }
    let two = |text: &str| (text.len() == 2).then(|| text.parse::<i32>().ok()).flatten();
    let (hours, minutes, seconds) = if rest.contains(':') {
        let mut parts = rest.split(':');
        let hours = two(parts.next()?)?;
        let minutes = two(parts.next()?)?;
        let seconds = parts.next().map_or(Some(0), two)?;
        if parts.next().is_some() {
            return None;
        }
        (hours, minutes, seconds)
    } else {
        match rest.len() {
            1 => (rest.parse().ok()?, 0, 0),
            2 => (two(rest)?, 0, 0),
            4 => (two(&rest[..2])?, two(&rest[2..])?, 0),
            6 => (two(&rest[..2])?, two(&rest[2..4])?, two(&rest[4..])?),
            _ => return None,
        }
    };
    let total = hours * 3600 + minutes * 60 + seconds;
    (minutes < 60 && seconds < 60 && total <= 18 * 3600).then_some(sign * total)
}

/// Appends `+01:00` or `+0100`. Seconds are only written if they are not zero, or if `with_seconds` is set.
pub(crate) fn write_offset(out: &mut String, seconds: i32, colon: bool, with_seconds: bool) {
    use std::fmt::Write;
    let sign = if seconds < 0 { '-' } else { '+' };
    let magnitude = seconds.unsigned_abs();
    let separator = if colon { ":" } else { "" };
    // Writing to a `String` cannot fail.
    let _ = write!(out, "{sign}{:02}{separator}{:02}", magnitude / 3600, magnitude / 60 % 60);
    if with_seconds || !magnitude.is_multiple_of(60) {
        let _ = write!(out, "{separator}{:02}", magnitude % 60);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(Zone::from_id(text).map(|zone| zone.id()).as_deref(), expected, "{text}");
        };
        check("Z", Some("Z"));
        check("UTC", Some("Z"));
        check("+01:00", Some("+01:00"));
        check("-0530", Some("-05:30"));
        check("+2", Some("+02:00"));
        check("UTC+01:00", Some("+01:00"));
        check("+00:00", Some("Z"));
        check("Europe/Berlin", Some("Europe/Berlin"));
        check("America/New_York", Some("America/New_York"));
        check("europe/berlin", None);
        check("Mars/Olympus", None);
        check("+19:00", None);
        check("+1:00", None);
        check("+01:60", None);
        check("", None);
    }

    #[test]
    fn gaps_and_overlaps() {
        let berlin = Zone::from_id("Europe/Berlin").unwrap();
        let check = |local: i64, utc: i64| assert_eq!(berlin.to_utc(local), utc);
        // 2022-03-27T02:30 does not exist; it becomes 03:30+02:00.
        check(1_648_348_200_000, 1_648_344_600_000);
        // 2022-10-30T02:30 exists twice; the first is +02:00.
        check(1_667_097_000_000, 1_667_089_800_000);
        check(1_650_000_000_000, 1_649_992_800_000);
        assert_eq!(berlin.to_local(1_649_992_800_000), 1_650_000_000_000);
    }
}
