//! Instants finer than a millisecond, and the units of stored dates.

use super::civil::{Civil, MILLIS_PER_DAY};
use crate::RequestError;

/// Nanoseconds in a millisecond.
pub const NANOS_PER_MILLI: i64 = 1_000_000;

/// An instant, ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    /// Milliseconds since 1970-01-01T00:00Z, rounded down.
    pub millis: i64,
    /// Additional nanoseconds, 0 to 999,999.
    pub nanos: u32,
}

impl Instant {
    /// Returns the instant this many milliseconds after 1970-01-01T00:00Z.
    pub const fn of_millis(millis: i64) -> Instant {
        Instant { millis, nanos: 0 }
    }

    /// Returns the instant this many nanoseconds after 1970-01-01T00:00Z.
    pub const fn of_nanos(nanos: i64) -> Instant {
        Instant { millis: nanos.div_euclid(NANOS_PER_MILLI), nanos: nanos.rem_euclid(NANOS_PER_MILLI) as u32 }
    }

    /// Returns the nanoseconds since 1970-01-01T00:00Z.
    ///
    /// # Errors
    /// The instant is before 1970, or too late for 64 bits.
    pub fn to_nanos(self) -> Result<i64, RequestError> {
        if self.millis < 0 {
            return Err(RequestError::illegal_argument(format!(
                "date[{}] is before the epoch in 1970 and cannot be stored in nanosecond resolution",
                self.to_iso()
            )));
        }
        let nanos =
            self.millis.checked_mul(NANOS_PER_MILLI).and_then(|nanos| nanos.checked_add(self.nanos.into()));
        nanos.ok_or_else(|| {
            RequestError::illegal_argument(format!(
                "date[{}] is after 2262-04-11T23:47:16.854775807 and cannot be stored in nanosecond resolution",
                self.to_iso()
            ))
        })
    }

    /// Formats the instant like `java.time.Instant#toString`: with as many groups of three digits after the
    /// point as necessary.
    pub fn to_iso(self) -> String {
        let civil = Civil::from_millis(self.millis);
        let sign = if civil.year > 9999 { "+" } else { "" };
        let mut text = format!(
            "{sign}{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            civil.year, civil.month, civil.day, civil.hour, civil.minute, civil.second
        );
        text.push_str(&fraction_by_threes(
            self.millis.rem_euclid(1000) * NANOS_PER_MILLI + i64::from(self.nanos),
        ));
        text.push('Z');
        text
    }
}

/// Whether this is an error of [`Instant::to_nanos`].
pub fn is_beyond_nanos(error: &RequestError) -> bool {
    error.reason.starts_with("date[") && error.reason.ends_with("cannot be stored in nanosecond resolution")
}

/// Formats the nanoseconds within a second as `.123`, `.123456`, `.123456789` or nothing.
pub fn fraction_by_threes(nanos: i64) -> String {
    match nanos {
        0 => String::new(),
        _ if nanos % NANOS_PER_MILLI == 0 => format!(".{:03}", nanos / NANOS_PER_MILLI),
        _ if nanos % 1000 == 0 => format!(".{:06}", nanos / 1000),
        _ => format!(".{nanos:09}"),
    }
}

/// The unit of a stored date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Resolution {
    /// `date`.
    #[default]
    Millis,
    /// `date_nanos`: 1970 to 2262.
    Nanos,
}

impl Resolution {
    /// Converts an instant to a stored date.
    ///
    /// # Errors
    /// The instant is out of the range of nanoseconds: before 1970 or after 2262.
    #[inline]
    pub fn stored(self, instant: Instant) -> Result<i64, RequestError> {
        match self {
            Resolution::Millis => Ok(instant.millis),
            Resolution::Nanos => instant.to_nanos(),
        }
    }

    /// Converts a stored date to an instant.
    #[inline]
    pub fn instant(self, stored: i64) -> Instant {
        match self {
            Resolution::Millis => Instant::of_millis(stored),
            Resolution::Nanos => Instant::of_nanos(stored),
        }
    }

    /// Converts a stored date to whole milliseconds, which aggregations and functions use.
    #[inline]
    pub fn millis(self, stored: i64) -> i64 {
        match self {
            Resolution::Millis => stored,
            Resolution::Nanos => stored.div_euclid(NANOS_PER_MILLI),
        }
    }

    /// Returns the number of units in a millisecond.
    pub const fn per_milli(self) -> i64 {
        match self {
            Resolution::Millis => 1,
            Resolution::Nanos => NANOS_PER_MILLI,
        }
    }
}

/// Nanoseconds in a day.
pub(super) const NANOS_PER_DAY: i64 = MILLIS_PER_DAY * NANOS_PER_MILLI;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_reach_from_1970_to_2262() {
        for nanos in [0, 1, 999_999, 1_000_000, 1_540_815_132_123_456_789, i64::MAX] {
            assert_eq!(Instant::of_nanos(nanos).to_nanos(), Ok(nanos));
        }
        let reason = |instant: Instant| instant.to_nanos().map_err(|error| error.reason).unwrap_err();
        assert_eq!(
            reason(Instant { millis: -1, nanos: 999_999 }),
            "date[1969-12-31T23:59:59.999999999Z] is before the epoch in 1970 and cannot be stored in nanosecond resolution"
        );
        let last = Instant::of_nanos(i64::MAX);
        assert_eq!(
            reason(Instant { nanos: last.nanos + 1, ..last }),
            "date[2262-04-11T23:47:16.854775808Z] is after 2262-04-11T23:47:16.854775807 and cannot be stored in nanosecond \
             resolution"
        );
        assert!(
            reason(Instant::of_millis(1_540_815_132_123_456_789))
                .starts_with("date[+48828457-10-22T15:37:36.789Z]")
        );
    }

    #[test]
    fn fractions_have_groups_of_three_digits() {
        assert_eq!(Instant::of_nanos(0).to_iso(), "1970-01-01T00:00:00Z");
        assert_eq!(Instant::of_nanos(1_100_000_000).to_iso(), "1970-01-01T00:00:01.100Z");
        assert_eq!(Instant::of_nanos(1_100_020_000).to_iso(), "1970-01-01T00:00:01.100020Z");
        assert_eq!(Instant::of_nanos(1_000_000_003).to_iso(), "1970-01-01T00:00:01.000000003Z");
    }
}
