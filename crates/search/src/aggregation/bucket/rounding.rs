//! Rounds an instant down to the start of its hour, month or other interval.
//!
//! Source: Elasticsearch's `Rounding`: calendar units are truncated in local time, and fixed intervals are
//! multiples since local 1970-01-01T00:00.

use limber_mapping::RequestError;
use limber_mapping::date::{Civil, MILLIS_PER_DAY, Zone, civil_from_days, days_from_civil};

/// The width of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interval {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    FixedMillis(i64),
}

impl Interval {
    /// Parses a calendar unit, such as `month` or `1M`.
    pub fn calendar(text: &str) -> Option<Interval> {
        Some(match text {
            "second" | "1s" => Interval::Second,
            "minute" | "1m" => Interval::Minute,
            "hour" | "1h" => Interval::Hour,
            "day" | "1d" => Interval::Day,
            "week" | "1w" => Interval::Week,
            "month" | "1M" => Interval::Month,
            "quarter" | "1q" => Interval::Quarter,
            "year" | "1y" => Interval::Year,
            _ => return None,
        })
    }

    /// Milliseconds of a calendar unit; for months and longer units the mean.
    pub fn mean_millis(self) -> Option<i64> {
        const YEAR: i64 = 31_556_952_000;
        Some(match self {
            Interval::Week => 7 * MILLIS_PER_DAY,
            Interval::Month => YEAR / 12,
            Interval::Quarter => YEAR / 4,
            Interval::Year => YEAR,
            other => return other.regular_millis(),
        })
    }

    /// Returns the number of months in units that are multiples of months.
    fn months(self) -> Option<i64> {
        match self {
            Interval::Month => Some(1),
            Interval::Quarter => Some(3),
            Interval::Year => Some(12),
            _ => None,
        }
    }

    /// Returns the name of a calendar unit.
    fn name(self) -> &'static str {
        match self {
            Interval::Second => "second",
            Interval::Minute => "minute",
            Interval::Hour => "hour",
            Interval::Day => "day",
            Interval::Week => "week",
            Interval::Month => "month",
            Interval::Quarter => "quarter",
            Interval::Year => "year",
            Interval::FixedMillis(_) => "fixed",
        }
    }

    /// Milliseconds of units that always have the same length while the UTC offset does not change.
    fn regular_millis(self) -> Option<i64> {
        Some(match self {
            Interval::Second => 1000,
            Interval::Minute => 60_000,
            Interval::Hour => 3_600_000,
            Interval::Day => MILLIS_PER_DAY,
            Interval::FixedMillis(millis) => millis,
            _ => return None,
        })
    }
}

/// Rounds instants down to the start of an interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounding {
    pub interval: Interval,
    pub zone: Zone,
    /// Shifts every start by this many milliseconds.
    pub offset_millis: i64,
}

impl Rounding {
    /// Returns the start of the bucket that contains an instant.
    pub fn round(&self, instant: i64) -> i64 {
        self.round_plain(instant.saturating_sub(self.offset_millis)).saturating_add(self.offset_millis)
    }

    /// Returns the start of the bucket after the one that starts at `start`. It is always later than `start`,
    /// except for the last representable instant. Near the limits of the representable time, where calendars
    /// and offsets would overflow, buckets can be as short as a millisecond.
    pub fn next(&self, start: i64) -> i64 {
        let plain = start.saturating_sub(self.offset_millis);
        let next = self.next_plain(plain).saturating_add(self.offset_millis);
        next.max(start.saturating_add(1))
    }

    /// Returns the length of a bucket in calendar units: of the bucket that starts at `start`, or of any
    /// bucket.
    ///
    /// # Errors
    /// `illegal_argument_exception` if months are to be measured in a unit that is not a multiple of months,
    /// or if the length of an unspecified month is to be measured in days.
    ///
    /// Source: Elasticsearch's `Rounding.Prepared#roundingSize`, which ignores the offset when it looks for
    /// the end of the bucket.
    pub fn size_in(&self, unit: Interval, start: Option<i64>) -> Result<f64, RequestError> {
        let refused = |reason: String| Err(RequestError::illegal_argument(reason));
        let only_short = "only week, day, hour, minute and second are supported for this histogram";
        match (self.interval, self.interval.months(), unit.months()) {
            (_, Some(own), Some(months)) => Ok(own as f64 / months as f64),
            (interval, None, None) => {
                let millis = |interval: Interval| interval.mean_millis().unwrap_or(1) as f64;
                Ok(millis(interval) / millis(unit))
            }
            (_, Some(_), None) => match start {
                Some(start) => {
                    let next = self.next_plain(self.round_plain(start));
                    Ok(next.saturating_sub(start) as f64 / unit.mean_millis().unwrap_or(1) as f64)
                }
                None => refused(format!(
                    "Cannot use non month-based rate unit [{}] with calendar interval histogram [{}] only month, quarter and year are \
                     supported for this histogram",
                    unit.name(),
                    self.interval.name()
                )),
            },
            (Interval::FixedMillis(_), ..) => refused(format!(
                "Cannot use month-based rate unit [{}] with fixed interval based histogram, {only_short}",
                unit.name()
            )),
            (interval, ..) => refused(format!(
                "Cannot use month-based rate unit [{}] with non-month based calendar interval histogram [{}] {only_short}",
                unit.name(),
                interval.name()
            )),
        }
    }

    /// Whether all buckets have the same length.
    pub fn is_regular(&self) -> bool {
        self.interval.regular_millis().is_some() && !matches!(self.zone, Zone::Region(_))
    }

    /// Estimates the number of buckets between two instants.
    pub fn buckets_between(&self, first: i64, last: i64) -> u64 {
        let millis = self.interval.mean_millis().unwrap_or(1).max(1);
        (last.saturating_sub(first).max(0) as u64 / millis as u64).saturating_add(2)
    }

    fn round_plain(&self, instant: i64) -> i64 {
        let zone_millis = match &self.zone {
            Zone::Utc => 0,
            Zone::Fixed { seconds } => i64::from(*seconds) * 1000,
            Zone::Region(_) => return self.round_in_region(instant),
        };
        self.truncate(instant.saturating_add(zone_millis)).saturating_sub(zone_millis)
    }

    /// Truncates a local time to the start of its unit.
    fn truncate(&self, local: i64) -> i64 {
        if let Some(millis) = self.interval.regular_millis() {
            return local.div_euclid(millis).saturating_mul(millis);
        }
        let days = local.div_euclid(MILLIS_PER_DAY);
        let first_day = match self.interval {
            // 1970-01-01 was a Thursday; weeks start on Monday.
            Interval::Week => (days + 3).div_euclid(7) * 7 - 3,
            unit => {
                let (year, month, _) = civil_from_days(days);
                let month = match unit {
                    Interval::Month => month,
                    Interval::Quarter => (month - 1) / 3 * 3 + 1,
                    _ => 1,
                };
                days_from_civil(year, month, 1)
            }
        };
        first_day.saturating_mul(MILLIS_PER_DAY)
    }

    fn is_shorter_than_day(&self) -> bool {
        matches!(self.interval, Interval::Second | Interval::Minute | Interval::Hour)
    }

    fn round_in_region(&self, instant: i64) -> i64 {
        let offset = |at: i64| i64::from(self.zone.offset_seconds_at(at)) * 1000;
        let own = offset(instant);
        let local = self.truncate(instant.saturating_add(own));
        let start = local.saturating_sub(own);
        if offset(start) == own {
            return start;
        }
        if self.is_shorter_than_day() {
            // The offset changed after the unit began. The bucket is that of the last millisecond before the
            // change, unless the unit begins at or after the change.
            let change = self.change_between(start, instant);
            return if change <= start { start } else { self.round_in_region(change - 1) };
        }
        if matches!(self.interval, Interval::FixedMillis(_)) {
            let earlier = offset(start.saturating_sub(MILLIS_PER_DAY));
            let candidates = [local.saturating_sub(own), local.saturating_sub(earlier)];
            let valid =
                candidates.into_iter().filter(|&at| at <= instant && at.saturating_add(offset(at)) == local);
            return valid.max().unwrap_or_else(|| self.change_between(start.min(instant), instant));
        }
        self.zone.to_utc(local)
    }

    /// Returns the first instant after `from` that has the same offset as `to`.
    fn change_between(&self, from: i64, to: i64) -> i64 {
        let wanted = self.zone.offset_seconds_at(to);
        let (mut low, mut high) = (from, to);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.zone.offset_seconds_at(middle) == wanted { high = middle } else { low = middle + 1 }
        }
        low
    }

    fn next_plain(&self, start: i64) -> i64 {
        if let (Some(millis), Zone::Utc | Zone::Fixed { .. }) = (self.interval.regular_millis(), &self.zone) {
            return start.saturating_add(millis);
        }
        if let Interval::FixedMillis(millis) = self.interval {
            let next = self.zone.to_utc(self.zone.to_local(start).saturating_add(millis));
            return if next > start { next } else { start.saturating_add(millis) };
        }
        if self.is_shorter_than_day() {
            let millis = self.interval.regular_millis().unwrap_or(1);
            let next = self.round_plain(start.saturating_add(millis));
            return if next > start { next } else { self.round_plain(start.saturating_add(2 * millis)) };
        }
        let local = self.zone.to_local(start);
        let civil = Civil::from_millis(local);
        let months = self.interval.months().unwrap_or(0);
        let next = match self.interval {
            Interval::Week => Some(local.saturating_add(7 * MILLIS_PER_DAY)),
            Interval::Day => Some(local.saturating_add(MILLIS_PER_DAY)),
            _ => civil.plus_months(months).and_then(Civil::to_millis),
        };
        let next = next.map_or(i64::MAX, |local| self.zone.to_utc(self.truncate(local)));
        if next > start { next } else { start.saturating_add(MILLIS_PER_DAY) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn millis(text: &str) -> i64 {
        text.parse::<jiff::Timestamp>().expect("an instant").as_millisecond()
    }

    fn rounding(interval: Interval, zone: &str) -> Rounding {
        Rounding { interval, zone: Zone::parse(zone).expect("a zone"), offset_millis: 0 }
    }

    #[test]
    fn starts_of_buckets() {
        for (interval, zone, instant, start, next) in [
            (Interval::Month, "UTC", "2020-03-29T00:30:00Z", "2020-03-01T00:00:00Z", "2020-04-01T00:00:00Z"),
            (
                Interval::Month,
                "Europe/Berlin",
                "2020-03-29T00:30:00Z",
                "2020-02-29T23:00:00Z",
                "2020-03-31T22:00:00Z",
            ),
            (Interval::Week, "UTC", "2020-01-01T10:00:00Z", "2019-12-30T00:00:00Z", "2020-01-06T00:00:00Z"),
            (
                Interval::Quarter,
                "UTC",
                "2020-06-30T10:00:00Z",
                "2020-04-01T00:00:00Z",
                "2020-07-01T00:00:00Z",
            ),
            (
                Interval::Year,
                "+02:00",
                "2019-12-31T23:00:00Z",
                "2019-12-31T22:00:00Z",
                "2020-12-31T22:00:00Z",
            ),
            (
                Interval::Hour,
                "Europe/Berlin",
                "2020-03-29T01:30:00Z",
                "2020-03-29T01:00:00Z",
                "2020-03-29T02:00:00Z",
            ),
            (
                Interval::Hour,
                "Europe/Berlin",
                "2020-10-25T01:30:00Z",
                "2020-10-25T01:00:00Z",
                "2020-10-25T02:00:00Z",
            ),
            (
                Interval::Hour,
                "Asia/Kolkata",
                "2020-10-25T01:45:00Z",
                "2020-10-25T01:30:00Z",
                "2020-10-25T02:30:00Z",
            ),
            (
                Interval::Day,
                "America/Sao_Paulo",
                "2018-11-04T12:00:00Z",
                "2018-11-04T03:00:00Z",
                "2018-11-05T02:00:00Z",
            ),
            (
                Interval::FixedMillis(43_200_000),
                "Europe/Berlin",
                "2020-03-29T01:30:00Z",
                "2020-03-28T23:00:00Z",
                "2020-03-29T10:00:00Z",
            ),
            (
                Interval::FixedMillis(30 * MILLIS_PER_DAY),
                "+02:00",
                "2020-01-01T10:00:00Z",
                "2019-12-09T22:00:00Z",
                "2020-01-08T22:00:00Z",
            ),
        ] {
            let rounding = rounding(interval, zone);
            assert_eq!(rounding.round(millis(instant)), millis(start), "{interval:?} {zone} {instant}");
            assert_eq!(rounding.next(millis(start)), millis(next), "{interval:?} {zone} {instant}");
        }
    }

    #[test]
    fn an_offset_shifts_every_start() {
        let rounding = Rounding { interval: Interval::Day, zone: Zone::Utc, offset_millis: 6 * 3_600_000 };
        assert_eq!(rounding.round(millis("2020-03-29T01:30:00Z")), millis("2020-03-28T06:00:00Z"));
        assert_eq!(rounding.next(millis("2020-03-28T06:00:00Z")), millis("2020-03-29T06:00:00Z"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn buckets_go_on_to_the_ends_of_time(
            start in prop_oneof![Just(i64::MAX), Just(i64::MIN), i64::MAX - 100_000_000_000..i64::MAX, i64::MIN..i64::MIN + 100_000_000_000, any::<i64>()],
            offset_millis in prop::sample::select(vec![0, i64::MAX, i64::MIN, -1, 86_400_000]),
            zone in prop::sample::select(vec!["UTC", "+05:30", "Europe/Berlin"]),
            interval in prop::sample::select(vec![
                Interval::Second, Interval::Day, Interval::Week, Interval::Month, Interval::Year, Interval::FixedMillis(i64::MAX),
            ]),
        ) {
            let rounding = Rounding { offset_millis, ..rounding(interval, zone) };
            rounding.round(start);
            prop_assert!(rounding.next(start) > start || start == i64::MAX);
        }

        #[test]
        fn starts_hold_their_instants(
            instant in -2_000_000_000_000i64..4_000_000_000_000,
            zone in prop::sample::select(vec!["UTC", "+05:30", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]),
            interval in prop::sample::select(vec![
                Interval::Minute, Interval::Hour, Interval::Day, Interval::Week, Interval::Month, Interval::Quarter, Interval::Year,
                Interval::FixedMillis(60_000), Interval::FixedMillis(5_400_000), Interval::FixedMillis(7 * MILLIS_PER_DAY),
            ]),
        ) {
            let rounding = rounding(interval, zone);
            let start = rounding.round(instant);
            prop_assert!(start <= instant);
            prop_assert_eq!(rounding.round(start), start);
            prop_assert!(rounding.next(start) > start);
        }
    }
}
