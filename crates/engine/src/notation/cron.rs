//! Schedules of policies: "when is the next time?", in UTC.
//!
//! The syntax is that of Quartz: seconds, minutes, hours, day of the month, month, day of the week, and
//! optionally the year; with `*`, `?`, lists, ranges (even wrapping ones such as `22-2`), steps, names of
//! months and days, `L`, `L-3`, `LW`, `15W`, `6L`, `6#3`. Source: Elasticsearch's
//! `org.elasticsearch.xpack.core.scheduler.Cron`, `SchedulerEngine`, `TimeValueSchedule`.

use std::collections::BTreeSet;

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use limber_mapping::RequestError;

use crate::api::Result;
use crate::notation::value::parse_time_ms;

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const YEAR_MIN: u32 = 1970;
/// The last year searched. After it a schedule has no next time.
const YEAR_MAX: u32 = 2299;

/// When a policy runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Schedule {
    Cron(Box<Cron>),
    /// Every this many milliseconds, counted from when the policy was put.
    Interval(u64),
}

impl Schedule {
    /// Parses a schedule. A string that is a time value is an interval.
    pub(crate) fn parse(text: &str) -> Result<Schedule> {
        let is_interval =
            text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains(char::is_whitespace);
        if is_interval && let Ok(ms) = parse_time_ms("schedule", text) {
            return match u64::try_from(ms).ok().filter(|ms| *ms > 0) {
                Some(ms) => Ok(Schedule::Interval(ms)),
                None => Err(RequestError::illegal_argument(format!("invalid interval [{text}]"))),
            };
        }
        Ok(Schedule::Cron(Box::new(Cron::parse(text)?)))
    }

    /// Returns the first time after `after_ms`, in milliseconds since 1970; `None` when there is none.
    pub(crate) fn next_after(&self, after_ms: u64, put_ms: u64) -> Option<u64> {
        match self {
            Schedule::Cron(cron) => cron.next_after(after_ms),
            Schedule::Interval(interval_ms) => {
                // The clock may have been set to a time before the policy was put. The formula holds for that
                // too.
                let phase_ms = put_ms % interval_ms;
                let since_ms = (after_ms % interval_ms + interval_ms - phase_ms) % interval_ms;
                after_ms.checked_add(interval_ms - since_ms)
            }
        }
    }

    /// Returns the milliseconds between the next two times.
    pub(crate) fn shortest_gap_ms(&self, now_ms: u64) -> Option<u64> {
        let first = self.next_after(now_ms, now_ms)?;
        Some(self.next_after(first, now_ms)? - first)
    }
}

/// A parsed cron expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cron {
    seconds: BTreeSet<u32>,
    minutes: BTreeSet<u32>,
    hours: BTreeSet<u32>,
    days: Days,
    months: BTreeSet<u32>,
    years: BTreeSet<u32>,
}

/// Which days of a month match.
#[derive(Debug, Clone, PartialEq)]
enum Days {
    /// Day numbers, starting at 1.
    OfMonth(BTreeSet<u32>),
    /// This many days before the last day of the month.
    Last(u32),
    LastWeekday,
    /// The weekday nearest to this day, within the same month.
    NearestWeekday(u32),
    /// Days of the week; 1 is Sunday.
    OfWeek(BTreeSet<u32>),
    /// The last day of the month that is this day of the week.
    LastOfWeek(u32),
    /// A day of the week, and which of its occurrences in the month.
    NthOfWeek(u32, u32),
}

impl Cron {
    pub(crate) fn parse(text: &str) -> Result<Cron> {
        let invalid = |why: String| {
            RequestError::illegal_argument(format!("invalid cron expression [{text}]"))
                .caused_by(RequestError::bad_request("parse_exception", why))
        };
        parse(text).map_err(invalid)
    }

    /// Returns the first time after `after_ms`.
    pub(crate) fn next_after(&self, after_ms: u64) -> Option<u64> {
        let after = jiff::Timestamp::from_second((after_ms / 1000) as i64 + 1).ok()?;
        let start = after.to_zoned(TimeZone::UTC).datetime();
        let mut date = start.date();
        let mut earliest = start.time();
        loop {
            if date.year() as i64 > i64::from(YEAR_MAX) {
                return None;
            }
            let year = date.year() as u32;
            if !self.years.contains(&year) {
                let next = *self.years.range(year + 1..).next()?;
                date = Date::new(next as i16, 1, 1).ok()?;
            } else if !self.months.contains(&(date.month() as u32)) {
                date = date.last_of_month().tomorrow().ok()?;
            } else {
                if self.days.contains(date)
                    && let Some(time) = self.first_time(earliest)
                {
                    let moment = date.to_datetime(time).to_zoned(TimeZone::UTC).ok()?;
                    return u64::try_from(moment.timestamp().as_millisecond()).ok();
                }
                date = date.tomorrow().ok()?;
            }
            earliest = Time::midnight();
        }
    }

    fn first_time(&self, earliest: Time) -> Option<Time> {
        let (hour, minute, second) =
            (earliest.hour() as u32, earliest.minute() as u32, earliest.second() as u32);
        let first = |set: &BTreeSet<u32>| set.first().copied();
        let made =
            |hour: u32, minute: u32, second: u32| Time::new(hour as i8, minute as i8, second as i8, 0).ok();
        if self.hours.contains(&hour) {
            if self.minutes.contains(&minute)
                && let Some(second) = self.seconds.range(second..).next()
            {
                return made(hour, minute, *second);
            }
            if let Some(minute) = self.minutes.range(minute + 1..).next() {
                return made(hour, *minute, first(&self.seconds)?);
            }
        }
        let hour = self.hours.range(hour + 1..).next()?;
        made(*hour, first(&self.minutes)?, first(&self.seconds)?)
    }
}

impl Days {
    fn contains(&self, date: Date) -> bool {
        let (day, last) = (date.day() as u32, date.days_in_month() as u32);
        let weekday = date.weekday().to_sunday_one_offset() as u32;
        match self {
            Days::OfMonth(days) => days.contains(&day),
            Days::Last(before) => day + before == last,
            Days::LastWeekday => day == nearest_weekday(date, last),
            Days::NearestWeekday(wanted) => day == nearest_weekday(date, (*wanted).min(last)),
            Days::OfWeek(days) => days.contains(&weekday),
            Days::LastOfWeek(wanted) => weekday == *wanted && day + 7 > last,
            Days::NthOfWeek(wanted, number) => weekday == *wanted && day.div_ceil(7) == *number,
        }
    }
}

/// Returns the day from Monday to Friday that is nearest to `day`, within the month of `date`.
fn nearest_weekday(date: Date, day: u32) -> u32 {
    let last = date.days_in_month() as u32;
    let Ok(wanted) = Date::new(date.year(), date.month(), day as i8) else { return 0 };
    match wanted.weekday() {
        jiff::civil::Weekday::Saturday if day == 1 => 3,
        jiff::civil::Weekday::Saturday => day - 1,
        jiff::civil::Weekday::Sunday if day == last => day - 2,
        jiff::civil::Weekday::Sunday => day + 1,
        _ => day,
    }
}

fn parse(text: &str) -> std::result::Result<Cron, String> {
    let upper = text.to_ascii_uppercase();
    let fields: Vec<&str> = upper.split_whitespace().collect();
    let (six, years) = match fields[..] {
        [a, b, c, d, e, f] => ([a, b, c, d, e, f], "*"),
        [a, b, c, d, e, f, years] => ([a, b, c, d, e, f], years),
        _ => return Err(format!("it has [{}] fields instead of 6 or 7", fields.len())),
    };
    let [seconds, minutes, hours, days, months, weekdays] = six;
    let days = match (days, weekdays) {
        ("?", "?") => return Err("'?' can only be specified for Day-of-Month -OR- Day-of-Week.".into()),
        ("?", weekdays) => days_of_week(weekdays)?,
        (days, "?") => days_of_month(days)?,
        _ => {
            let why =
                "support for specifying both a day-of-week AND a day-of-month parameter is not implemented.";
            return Err(why.into());
        }
    };
    Ok(Cron {
        seconds: set(seconds, 0, 59, &[])?,
        minutes: set(minutes, 0, 59, &[])?,
        hours: set(hours, 0, 23, &[])?,
        days,
        months: set(months, 1, 12, &MONTHS)?,
        years: set(years, YEAR_MIN, YEAR_MAX, &[])?,
    })
}

fn days_of_month(field: &str) -> std::result::Result<Days, String> {
    if field == "LW" {
        return Ok(Days::LastWeekday);
    }
    if let Some(rest) = field.strip_prefix('L') {
        let before = match rest {
            "" => 0,
            rest => number(rest.strip_prefix('-').ok_or(format!("[{field}] is no day"))?, 1, 30, &[])?,
        };
        return Ok(Days::Last(before));
    }
    match field.strip_suffix('W') {
        Some(day) => Ok(Days::NearestWeekday(number(day, 1, 31, &[])?)),
        None => Ok(Days::OfMonth(set(field, 1, 31, &[])?)),
    }
}

fn days_of_week(field: &str) -> std::result::Result<Days, String> {
    if field == "L" {
        return Ok(Days::OfWeek(BTreeSet::from([7])));
    }
    if let Some((day, nth)) = field.split_once('#') {
        return Ok(Days::NthOfWeek(number(day, 1, 7, &DAYS)?, number(nth, 1, 5, &[])?));
    }
    match field.strip_suffix('L') {
        Some(day) => Ok(Days::LastOfWeek(number(day, 1, 7, &DAYS)?)),
        None => Ok(Days::OfWeek(set(field, 1, 7, &DAYS)?)),
    }
}

/// Parses a number, or a name that stands for one; the first name stands for 1.
fn number(text: &str, min: u32, max: u32, names: &[&str]) -> std::result::Result<u32, String> {
    let by_name = || names.iter().position(|name| *name == text).map(|at| at as u32 + 1);
    let value =
        text.parse::<u32>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit())).or_else(by_name);
    match value {
        Some(value) if (min..=max).contains(&value) => Ok(value),
        Some(value) => Err(format!("[{value}] is not between [{min}] and [{max}]")),
        None => Err(format!("[{text}] is no number")),
    }
}

/// Parses a list of `*`, numbers and ranges, each with an optional step.
fn set(field: &str, min: u32, max: u32, names: &[&str]) -> std::result::Result<BTreeSet<u32>, String> {
    let mut values = BTreeSet::new();
    for part in field.split(',') {
        let (range, step) = match part.split_once('/') {
            None => (part, None),
            Some((range, step)) => (range, Some(number(step, 1, max, &[])?)),
        };
        let (from, to) = match range.split_once('-') {
            _ if range == "*" || (range.is_empty() && step.is_some()) => (min, max),
            Some((from, to)) => (number(from, min, max, names)?, number(to, min, max, names)?),
            None => {
                let from = number(range, min, max, names)?;
                (from, if step.is_some() { max } else { from })
            }
        };
        // A range that ends before it begins wraps around.
        let count = if from <= to { to - from + 1 } else { (max - min + 1) - (from - to) + 1 };
        let steps = (0..count).step_by(step.unwrap_or(1) as usize);
        values.extend(steps.map(|offset| min + (from - min + offset) % (max - min + 1)));
    }
    Ok(values)
}

/// Returns the milliseconds since 1970 of a time in UTC.
#[cfg(test)]
fn moment(text: &str) -> u64 {
    let civil: jiff::civil::DateTime = text.parse().expect("a time");
    civil.to_zoned(TimeZone::UTC).expect("in UTC").timestamp().as_millisecond() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_times() {
        // The start is 2024-02-28T10:20:30, a Wednesday, unless the case says otherwise.
        for (expression, expected) in [
            ("* * * * * ?", "2024-02-28T10:20:31"),
            ("0 30 1 * * ?", "2024-02-29T01:30:00"),
            ("30 20 10 * * ?", "2024-02-29T10:20:30"),
            ("0 */15 * * * ?", "2024-02-28T10:30:00"),
            ("0 5/10 * * * ?", "2024-02-28T10:25:00"),
            ("0 0 22-2 * * ?", "2024-02-28T22:00:00"),
            ("0 0 8 ? * MON-FRI", "2024-02-29T08:00:00"),
            ("0 0 8 ? * sat-sun", "2024-03-02T08:00:00"),
            ("0 0 0 1 1 ?", "2025-01-01T00:00:00"),
            ("0 0 0 29 2 ?", "2024-02-29T00:00:00"),
            ("0 0 0 29 FEB ? 2025-2030", "2028-02-29T00:00:00"),
            ("0 0 12 L * ?", "2024-02-29T12:00:00"),
            ("0 0 12 L-3 * ?", "2024-03-28T12:00:00"),
            ("0 0 12 LW 3 ?", "2024-03-29T12:00:00"),
            ("0 0 12 3W * ?", "2024-03-04T12:00:00"),
            ("0 0 12 1W 6 ?", "2024-06-03T12:00:00"),
            ("0 0 12 ? * 6L", "2024-03-29T12:00:00"),
            ("0 0 12 ? * 6#3", "2024-03-15T12:00:00"),
            ("0 0 12 ? * L", "2024-03-02T12:00:00"),
            ("0 0 12 ? * 1,4", "2024-02-28T12:00:00"),
            ("0 0 9,18 * * ?", "2024-02-28T18:00:00"),
        ] {
            let cron = Cron::parse(expression).expect(expression);
            let next = cron.next_after(moment("2024-02-28T10:20:30"));
            assert_eq!(next, Some(moment(expected)), "{expression}");
        }
        let past = Cron::parse("0 0 0 1 1 ? 2020").expect("valid");
        assert_eq!(past.next_after(moment("2024-01-01T00:00:00")), None);
    }

    #[test]
    fn what_is_no_schedule() {
        for bad in [
            "",
            "*",
            "* * * * *",
            "0 0 0 * * *",
            "0 0 0 ? * ?",
            "60 * * * * ?",
            "0 0 24 * * ?",
            "0 0 0 32 * ?",
            "0 0 0 0 * ?",
            "0 0 0 ? * 8",
            "0 0 0 ? * FOO",
            "0 0 0 1 13 ?",
            "0/0 * * * * ?",
            "0 0 0 ? * 6#6",
            "a b c d e f",
            "0 0 0 1 1 ? 1969",
            "-1 * * * * ?",
            "0 0 0 +1 * ?",
            "0 0 0 , * ?",
        ] {
            let error = Schedule::parse(bad).expect_err(bad);
            assert_eq!(error.reason, format!("invalid cron expression [{bad}]"));
        }
    }

    #[test]
    fn intervals_count_from_when_they_were_put() {
        let schedule = Schedule::parse("30m").expect("an interval");
        assert_eq!(schedule, Schedule::Interval(1_800_000));
        assert_eq!(schedule.next_after(1_000, 1_000), Some(1_801_000));
        assert_eq!(schedule.next_after(1_801_000, 1_000), Some(3_601_000));
        assert_eq!(schedule.next_after(9_000_000, 5_000), Some(9_005_000));
        assert_eq!(schedule.next_after(1_000, 9_000_007), Some(1_800_007), "the clock was set back");
        assert_eq!(schedule.shortest_gap_ms(0), Some(1_800_000));
        assert!(Schedule::parse("0s").is_err());
    }

    /// Compares with a walk over every second.
    #[test]
    fn as_a_naive_search() {
        for expression in ["*/7 3-50/9 4,23 ? * 2#1", "0 59 23 LW * ?", "5 4 3 31 * ?", "1 1 1 30W * ?"] {
            let cron = Cron::parse(expression).expect("valid");
            let mut at = moment("2023-12-30T00:00:00");
            for _ in 0..20 {
                let next = cron.next_after(at).expect("a next time");
                let mut naive = (at / 1000 + 1) * 1000;
                let is_time = |ms: u64| {
                    let time = jiff::Timestamp::from_millisecond(ms as i64).expect("in range");
                    let time = time.to_zoned(TimeZone::UTC).datetime();
                    cron.seconds.contains(&(time.second() as u32))
                        && cron.minutes.contains(&(time.minute() as u32))
                        && cron.hours.contains(&(time.hour() as u32))
                        && cron.days.contains(time.date())
                };
                // Skips whole days on which nothing can match.
                while !is_time(naive) {
                    let day = naive / 86_400_000 * 86_400_000;
                    let date = jiff::Timestamp::from_millisecond(day as i64).expect("in range");
                    let fits = cron.days.contains(date.to_zoned(TimeZone::UTC).date());
                    naive = if fits { naive + 1000 } else { day + 86_400_000 };
                }
                assert_eq!(next, naive, "{expression}");
                at = next;
            }
        }
    }
}
