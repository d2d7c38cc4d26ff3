//! Methods of dates, Java's `ZonedDateTime`.

use limber_mapping::date::{Civil, DateFormat, Instant, MILLIS_PER_DAY, NANOS_PER_MILLI, days_in_month};

use super::java::{Duration, Local, LocalKind, Period, adjuster, formatter_of, zone_method};
use crate::error::{Outcome, ScriptError};
use crate::types::DatePart;
use crate::values::{DateValue, JavaObject, Value, date_part};

pub(crate) const DAYS: [&str; 7] =
    ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
pub(crate) const MONTHS: [&str; 12] = [
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "MAY",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
];
const DAY_NANOS: i64 = MILLIS_PER_DAY * NANOS_PER_MILLI;

/// Units of a fixed length: the name in methods, the name in `ChronoUnit`, and nanoseconds.
pub(super) const UNITS: &[(&str, &str, i64)] = &[
    ("Weeks", "WEEKS", 7 * DAY_NANOS),
    ("Days", "DAYS", DAY_NANOS),
    ("HalfDays", "HALF_DAYS", DAY_NANOS / 2),
    ("Hours", "HOURS", 3_600_000 * NANOS_PER_MILLI),
    ("Minutes", "MINUTES", 60_000 * NANOS_PER_MILLI),
    ("Seconds", "SECONDS", 1000 * NANOS_PER_MILLI),
    ("Millis", "MILLIS", NANOS_PER_MILLI),
    ("Micros", "MICROS", 1000),
    ("Nanos", "NANOS", 1),
];

/// The last year that a moment can be in, and minus the first: milliseconds since 1970 reach no further.
pub(super) const YEAR_MAX: i64 = 292_000_000;

/// Returns the nanoseconds of a unit, given either of its names.
pub(crate) fn unit_nanos(name: &str) -> Option<i64> {
    UNITS.iter().find(|(method, unit, _)| *method == name || *unit == name).map(|(_, _, nanos)| *nanos)
}

/// Returns the moment that is this many seconds and nanoseconds after the start of 1970.
pub(super) fn of_seconds(seconds: i64, nanos: i64, at: u32) -> Outcome<DateValue> {
    let nanos = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    of_nanos(nanos, at).map(DateValue::utc)
}

/// Returns the beginning of a day, counted from 1970-01-01.
pub(super) fn of_day(day: i64, at: u32) -> Outcome<DateValue> {
    day.checked_mul(MILLIS_PER_DAY).map(DateValue::of_millis).ok_or_else(|| out_of_range(at))
}

pub(super) fn out_of_range(at: u32) -> ScriptError {
    ScriptError::new(at, "date_time_exception", "Invalid value for a date")
}

/// Returns the instant that is `nanos` nanoseconds after 1970.
fn of_nanos(nanos: i128, at: u32) -> Outcome<Instant> {
    let per_milli = i128::from(NANOS_PER_MILLI);
    let millis = i64::try_from(nanos.div_euclid(per_milli)).map_err(|_| out_of_range(at))?;
    Ok(Instant { millis, nanos: nanos.rem_euclid(per_milli) as u32 })
}

/// Returns that instant in the zone of `date`.
fn at_nanos(date: &DateValue, nanos: i128, at: u32) -> Outcome<Value> {
    Ok(Value::Date(DateValue { instant: of_nanos(nanos, at)?, ..date.clone() }))
}

/// Returns the date at a local time, in the zone of `date` and with its nanoseconds beyond the millisecond.
fn with_civil(date: &DateValue, civil: Civil, at: u32) -> Outcome<Value> {
    let local = civil.to_millis().ok_or_else(|| out_of_range(at))?;
    let millis = date.zone.as_ref().map_or(local, |zone| zone.to_utc(local));
    let instant = Instant { millis, ..date.instant };
    Ok(Value::Date(DateValue { instant, ..date.clone() }))
}

/// Returns the part of a date that a method without arguments reads.
pub(crate) fn part_of_method(name: &str) -> Option<DatePart> {
    Some(match name {
        "getYear" => DatePart::Year,
        "getMonthValue" | "getMonthOfYear" => DatePart::Month,
        "getDayOfMonth" => DatePart::DayOfMonth,
        "getDayOfYear" => DatePart::DayOfYear,
        "getHour" | "getHourOfDay" => DatePart::Hour,
        "getMinute" | "getMinuteOfHour" => DatePart::Minute,
        "getSecond" | "getSecondOfMinute" => DatePart::Second,
        _ => return None,
    })
}

/// Calls a method of a date; `None` if there is no such method.
pub(crate) fn date_method(
    date: &DateValue,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    if let (Some(known), []) = (part_of_method(name), arguments) {
        return Ok(Some(Value::Int(date_part(date, known))));
    }
    if let Some(seen) = seen_as(date, name, arguments) {
        return Ok(Some(seen));
    }
    if let Some(found) = zone_method(date, name, arguments, at)? {
        return Ok(Some(found));
    }
    if let ("plus" | "minus", [Value::Object(amount)]) = (name, arguments) {
        return moved(date, &**amount, if name == "plus" { 1 } else { -1 }, at);
    }
    Ok(Some(match (name, arguments) {
        ("getMonth", []) => Value::str(MONTHS[date.civil().month as usize - 1]),
        ("getDayOfWeekEnum" | "getDayOfWeek", []) => {
            Value::str(DAYS[date_part(date, DatePart::DayOfWeek) as usize - 1])
        }
        ("getNano", []) => Value::Int(date.nano_of_second() as i32),
        ("getMillisOfSecond", []) => Value::Int(date.millis().rem_euclid(1000) as i32),
        ("getMillis" | "toEpochMilli", []) => Value::Long(date.millis()),
        ("toEpochSecond" | "getEpochSecond", []) => Value::Long(date.millis().div_euclid(1000)),
        ("toInstant", []) => Value::Date(DateValue::of_instant(date.instant)),
        ("isAfter", [Value::Date(other)]) => Value::Bool(date.instant > other.instant),
        ("isBefore", [Value::Date(other)]) => Value::Bool(date.instant < other.instant),
        ("isEqual", [Value::Date(other)]) => Value::Bool(date.instant == other.instant),
        ("until", [Value::Date(other), unit]) => between(&unit.text(), date, other, at)?,
        ("with", [change]) if adjuster(change).is_some() => {
            return adjuster(change).map_or(Ok(None), |adjuster| adjuster.adjust(date, at));
        }
        ("format", [format]) => {
            return Ok(formatter_of(format).and_then(|format| format.print(date)).map(Value::str));
        }
        ("truncatedTo", [unit]) => return truncated(date, &unit.text(), at),
        ("plus" | "minus", [amount, unit]) => {
            let unit = unit.text();
            let sign = if name == "plus" { 1 } else { -1 };
            return shifted(date, &unit, signed(amount, sign, at)?, at);
        }
        (shift, [amount]) if shift.starts_with("plus") || shift.starts_with("minus") => {
            let (sign, unit) = match shift.strip_prefix("plus") {
                Some(unit) => (1, unit),
                None => (-1, &shift[5..]),
            };
            return shifted(date, unit, signed(amount, sign, at)?, at);
        }
        (with, [amount]) if with.starts_with("with") => return changed(date, &with[4..], amount.i64(), at),
        _ => return Ok(None),
    }))
}

/// Returns the date without what is less than the unit; `None` if a day is not divided by it.
fn truncated(date: &DateValue, unit: &str, at: u32) -> Outcome<Option<Value>> {
    // Days are the longest that divide a day.
    let Some(length) = unit_nanos(unit).filter(|length| *length <= DAY_NANOS) else {
        return Ok(None);
    };
    let local = date.zone.as_ref().map_or(date.millis(), |zone| zone.to_local(date.millis()));
    let instant = Instant { millis: local, ..date.instant };
    let nanos = DateValue::utc(instant).nanos();
    let kept = nanos - nanos.rem_euclid(i128::from(length));
    let kept = of_nanos(kept, at)?;
    let millis = date.zone.as_ref().map_or(kept.millis, |zone| zone.to_utc(kept.millis));
    Ok(Some(Value::Date(DateValue { instant: Instant { millis, ..kept }, ..date.clone() })))
}

fn signed(amount: &Value, sign: i64, at: u32) -> Outcome<i64> {
    amount.i64().checked_mul(sign).ok_or_else(|| out_of_range(at))
}

/// Returns a part of the date, or the date converted to another class; `None` if there is no such method.
fn seen_as(date: &DateValue, name: &str, arguments: &[Value]) -> Option<Value> {
    Some(match (name, arguments) {
        ("getOffset", []) => Value::str(date.offset()),
        ("getZone", []) => {
            Value::str(date.zone.as_ref().map_or_else(|| "Z".to_owned(), |zone| zone.id().to_string()))
        }
        ("get" | "getLong", [field]) => match field_of(date, &field.text()) {
            Some(value) if name == "get" => Value::Int(value as i32),
            Some(value) => Value::Long(value),
            None => return None,
        },
        ("toLocalDate", []) => Local::of(date, LocalKind::Date),
        ("toLocalTime", []) => Local::of(date, LocalKind::Time),
        ("toLocalDateTime", []) => Local::of(date, LocalKind::DateTime),
        _ => return None,
    })
}

/// Returns the value of a `ChronoField`, or of a constant of `IsoFields`.
fn field_of(date: &DateValue, field: &str) -> Option<i64> {
    let part = |part| i64::from(date_part(date, part));
    let nano = date.nano_of_second();
    let second_of_day = part(DatePart::Hour) * 3600 + part(DatePart::Minute) * 60 + part(DatePart::Second);
    Some(match field {
        "YEAR" | "YEAR_OF_ERA" => part(DatePart::Year),
        "MONTH_OF_YEAR" => part(DatePart::Month),
        "DAY_OF_MONTH" => part(DatePart::DayOfMonth),
        "DAY_OF_YEAR" => part(DatePart::DayOfYear),
        "DAY_OF_WEEK" => part(DatePart::DayOfWeek),
        "HOUR_OF_DAY" => part(DatePart::Hour),
        "MINUTE_OF_HOUR" => part(DatePart::Minute),
        "SECOND_OF_MINUTE" => part(DatePart::Second),
        "MINUTE_OF_DAY" => second_of_day / 60,
        "SECOND_OF_DAY" => second_of_day,
        "NANO_OF_SECOND" => nano,
        "MILLI_OF_SECOND" => nano / 1_000_000,
        "MICRO_OF_SECOND" => nano / 1000,
        "MILLI_OF_DAY" => second_of_day * 1000 + nano / 1_000_000,
        "INSTANT_SECONDS" => date.millis().div_euclid(1000),
        "EPOCH_DAY" => {
            let local = date.zone.as_ref().map_or(date.millis(), |zone| zone.to_local(date.millis()));
            local.div_euclid(MILLIS_PER_DAY)
        }
        "ALIGNED_WEEK_OF_YEAR" => (part(DatePart::DayOfYear) - 1) / 7 + 1,
        "ALIGNED_WEEK_OF_MONTH" => (part(DatePart::DayOfMonth) - 1) / 7 + 1,
        "ALIGNED_DAY_OF_WEEK_IN_YEAR" => (part(DatePart::DayOfYear) - 1) % 7 + 1,
        "ALIGNED_DAY_OF_WEEK_IN_MONTH" => (part(DatePart::DayOfMonth) - 1) % 7 + 1,
        "AMPM_OF_DAY" => part(DatePart::Hour) / 12,
        "HOUR_OF_AMPM" => part(DatePart::Hour) % 12,
        "PROLEPTIC_MONTH" => part(DatePart::Year) * 12 + part(DatePart::Month) - 1,
        "QUARTER_OF_YEAR" => (part(DatePart::Month) + 2) / 3,
        "DAY_OF_QUARTER" => {
            let quarter = (part(DatePart::Month) - 1) / 3;
            let leap_day = i64::from(quarter > 0 && is_leap(part(DatePart::Year)));
            part(DatePart::DayOfYear) - [0, 90, 181, 273][quarter as usize] - leap_day
        }
        "WEEK_BASED_YEAR" | "WEEK_OF_WEEK_BASED_YEAR" => {
            let (year, week) =
                iso_week(part(DatePart::Year), part(DatePart::DayOfYear), part(DatePart::DayOfWeek));
            if field == "WEEK_BASED_YEAR" { year } else { week }
        }
        _ => return None,
    })
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Returns the year and the week of ISO 8601 of a day: weeks begin on Monday (1), and the first week of a
/// year contains its first Thursday.
fn iso_week(year: i64, day_of_year: i64, day_of_week: i64) -> (i64, i64) {
    let week = (day_of_year - day_of_week + 10) / 7;
    let first_day = (day_of_week - day_of_year).rem_euclid(7) + 1;
    if week < 1 {
        let before = year - 1;
        let length = if is_leap(before) { 366 } else { 365 };
        return iso_week(before, length + day_of_year, day_of_week);
    }
    let has_53 = first_day == 4 || first_day == 3 && is_leap(year);
    if week > 52 && !has_53 { (year + 1, 1) } else { (year, week) }
}

/// Does what `ZonedDateTime#of` does, given the year to the nanosecond, and the zone.
pub(super) fn of(parts: &[Value], zone: &Value, at: u32) -> Outcome<Value> {
    let numbers: Vec<i64> = parts.iter().map(Value::i64).collect();
    let Ok(numbers) = <[i64; 7]>::try_from(numbers) else { return Err(out_of_range(at)) };
    super::java::zoned(numbers, zone, at)
}

/// Returns the date moved forward or back by a `Duration` or a `Period`; `None` if the object is neither.
pub(super) fn moved(date: &DateValue, amount: &dyn JavaObject, sign: i64, at: u32) -> Outcome<Option<Value>> {
    if let Some(duration) = amount.as_any().downcast_ref::<Duration>() {
        return at_nanos(date, date.nanos() + i128::from(sign) * duration.nanos, at).map(Some);
    }
    let Some(period) = amount.as_any().downcast_ref::<Period>() else { return Ok(None) };
    let months = i64::from(period.years) * 12 + i64::from(period.months);
    match shifted(date, "Months", sign * months, at)? {
        Some(Value::Date(date)) => shifted(&date, "Days", sign * i64::from(period.days), at),
        other => Ok(other),
    }
}

/// Returns the moment of a date of any class; a date without a zone is taken as UTC.
pub(super) fn moment_of(value: &Value) -> Option<DateValue> {
    match value {
        Value::Date(date) => Some(date.clone()),
        other => other.object::<Local>().map(|local| local.date.clone()),
    }
}

/// Returns the date moved by `amount` units; `None` if there is no such unit.
pub(crate) fn shifted(date: &DateValue, unit: &str, amount: i64, at: u32) -> Outcome<Option<Value>> {
    let months = match unit {
        "Months" | "MONTHS" => Some(amount),
        "Years" | "YEARS" => amount.checked_mul(12),
        "DECADES" => amount.checked_mul(120),
        "CENTURIES" => amount.checked_mul(1_200),
        "MILLENNIA" => amount.checked_mul(12_000),
        _ => {
            let Some(length) = unit_nanos(unit) else { return Ok(None) };
            if length >= DAY_NANOS {
                return days_later(date, amount.checked_mul(length / DAY_NANOS), at).map(Some);
            }
            let by = i128::from(amount) * i128::from(length);
            return at_nanos(date, date.nanos() + by, at).map(Some);
        }
    };
    let civil = months.and_then(|months| date.civil().plus_months(months)).ok_or_else(|| out_of_range(at))?;
    with_civil(date, civil, at).map(Some)
}

/// Returns the date a number of days later, at the same time of its own clock. `None` is out of range.
fn days_later(date: &DateValue, days: Option<i64>, at: u32) -> Outcome<Value> {
    let by = days.and_then(|days| days.checked_mul(MILLIS_PER_DAY));
    let local = by.and_then(|by| date.local_millis().checked_add(by)).ok_or_else(|| out_of_range(at))?;
    let millis = date.zone.as_ref().map_or(local, |zone| zone.to_utc(local));
    Ok(Value::Date(DateValue { instant: Instant { millis, ..date.instant }, ..date.clone() }))
}

/// Returns the date with another value of a part, such as `Year` or `DayOfMonth`; `None` if there is no such
/// part.
pub(super) fn changed(date: &DateValue, part: &str, value: i64, at: u32) -> Outcome<Option<Value>> {
    let mut civil = date.civil();
    let small = u32::try_from(value).unwrap_or(u32::MAX);
    let is_sound = match part {
        "Year" => {
            civil.year = value;
            (-YEAR_MAX..=YEAR_MAX).contains(&value)
        }
        "Month" => {
            civil.month = small;
            civil.day = civil.day.min(days_in_month(civil.year, small));
            (1..=12).contains(&small)
        }
        "DayOfMonth" => {
            civil.day = small;
            (1..=days_in_month(civil.year, civil.month)).contains(&small)
        }
        "DayOfYear" => {
            let days = 365 + i64::from(is_leap(civil.year));
            let own = i64::from(date_part(date, DatePart::DayOfYear));
            let by = (1..=days).contains(&value).then(|| value - own);
            return days_later(date, by, at).map(Some);
        }
        "Hour" => {
            civil.hour = small;
            small < 24
        }
        "Minute" => {
            civil.minute = small;
            small < 60
        }
        "Second" => {
            civil.second = small;
            small < 60
        }
        "Nano" if small < 1_000_000_000 => {
            let nanos = date.nanos() - i128::from(date.nano_of_second()) + i128::from(small);
            return at_nanos(date, nanos, at).map(Some);
        }
        "Nano" => false,
        _ => return Ok(None),
    };
    if !is_sound {
        return Err(out_of_range(at));
    }
    with_civil(date, civil, at).map(Some)
}

/// Evaluates `ChronoUnit.UNIT.between(from, to)`.
pub(crate) fn between(unit: &str, from: &DateValue, to: &DateValue, at: u32) -> Outcome<Value> {
    // Both are seen on the clock of the first, which days and longer units count on.
    let to = &DateValue { zone: from.zone.clone(), ..to.clone() };
    if let Some(length) = unit_nanos(unit) {
        let offset = |date: &DateValue| match length >= DAY_NANOS {
            true => i128::from(date.offset_seconds()) * 1_000_000_000,
            false => 0,
        };
        let count = (to.nanos() + offset(to) - from.nanos() - offset(from)) / i128::from(length);
        return i64::try_from(count).map(Value::Long).map_err(|_| out_of_range(at));
    }
    let (first, second) = (from.civil(), to.civil());
    let mut months = (second.year - first.year) * 12 + i64::from(second.month) - i64::from(first.month);
    let rest = |civil: &Civil, date: &DateValue| {
        (civil.day, civil.hour, civil.minute, civil.second, date.nano_of_second())
    };
    let (first, second) = (rest(&first, from), rest(&second, to));
    if months > 0 && second < first {
        months -= 1;
    } else if months < 0 && second > first {
        months += 1;
    }
    match unit {
        "MONTHS" => Ok(Value::Long(months)),
        "YEARS" => Ok(Value::Long(months / 12)),
        "DECADES" => Ok(Value::Long(months / 120)),
        "CENTURIES" => Ok(Value::Long(months / 1_200)),
        "MILLENNIA" => Ok(Value::Long(months / 12_000)),
        _ => Err(ScriptError::unsupported(at, format_args!("ChronoUnit [{unit}]"))),
    }
}

pub(crate) fn parse(text: &str, at: u32) -> Outcome<Value> {
    let instant = limber_mapping::date::default_format().parse_instant(text).map_err(|_| {
        ScriptError::new(
            at,
            "date_time_parse_exception",
            format!("Text '{text}' could not be parsed at index 0"),
        )
    })?;
    Ok(Value::Date(DateValue::utc(instant)))
}

pub(crate) fn formatter(pattern: &str, at: u32) -> Outcome<Value> {
    match DateFormat::parse_list(pattern) {
        Ok(format) => Ok(Value::Formatter(format.into())),
        Err(error) => Err(ScriptError::new(at, error.kind, error.reason)),
    }
}
