//! Methods of dates, Java's `ZonedDateTime` to the millisecond.

use std::rc::Rc;

use limber_mapping::date::{Civil, DateFormat, Zone};

use super::error::ScriptError;
use super::field_part::date_part;
use super::run::Outcome;
use super::tree::DatePart;
use super::value::{DateValue, Value};

const DAYS: [&str; 7] = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
const MONTHS: [&str; 12] = [
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
const DAY_MILLIS: i64 = 86_400_000;

/// Milliseconds of a fixed unit, by the name of its methods and of `ChronoUnit`.
const UNITS: &[(&str, &str, i64)] = &[
    ("Weeks", "WEEKS", 7 * DAY_MILLIS),
    ("Days", "DAYS", DAY_MILLIS),
    ("Hours", "HOURS", 3_600_000),
    ("Minutes", "MINUTES", 60_000),
    ("Seconds", "SECONDS", 1_000),
    ("Millis", "MILLIS", 1),
];

fn out_of_range(at: u32) -> ScriptError {
    ScriptError::new(at, "date_time_exception", "Invalid value for a date")
}

fn with_civil(date: &DateValue, civil: Civil, at: u32) -> Outcome<Value> {
    let local = civil.to_millis().ok_or_else(|| out_of_range(at))?;
    let millis = date.zone.as_ref().map_or(local, |zone| zone.to_utc(local));
    Ok(Value::Date(DateValue { millis, zone: date.zone.clone() }))
}

fn moved(date: &DateValue, millis: Option<i64>, at: u32) -> Outcome<Value> {
    let millis = millis.and_then(|by| date.millis.checked_add(by)).ok_or_else(|| out_of_range(at))?;
    Ok(Value::Date(DateValue { millis, zone: date.zone.clone() }))
}

/// `None`: there is no such method.
pub(super) fn method(date: &DateValue, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let part = |part| Value::Int(date_part(date, part));
    Ok(Some(match (name, arguments) {
        ("getYear", []) => part(DatePart::Year),
        ("getMonthValue" | "getMonthOfYear", []) => part(DatePart::Month),
        ("getMonth", []) => Value::str(MONTHS[date.civil().month as usize - 1]),
        ("getDayOfMonth", []) => part(DatePart::DayOfMonth),
        ("getDayOfYear", []) => part(DatePart::DayOfYear),
        ("getDayOfWeekEnum" | "getDayOfWeek", []) => {
            Value::str(DAYS[date_part(date, DatePart::DayOfWeek) as usize - 1])
        }
        ("getHour" | "getHourOfDay", []) => part(DatePart::Hour),
        ("getMinute" | "getMinuteOfHour", []) => part(DatePart::Minute),
        ("getSecond" | "getSecondOfMinute", []) => part(DatePart::Second),
        ("getNano", []) => Value::Int(date.millis.rem_euclid(1000) as i32 * 1_000_000),
        ("getMillisOfSecond", []) => Value::Int(date.millis.rem_euclid(1000) as i32),
        ("getMillis" | "toEpochMilli", []) => Value::Long(date.millis),
        ("toEpochSecond" | "getEpochSecond", []) => Value::Long(date.millis.div_euclid(1000)),
        ("toInstant" | "toLocalDateTime", []) => Value::Date(DateValue::utc(date.millis)),
        ("withZoneSameInstant" | "atZone", [zone]) => {
            let zone = Zone::parse(&zone.text())
                .map_err(|error| ScriptError::new(at, "zone_rules_exception", error.reason))?;
            Value::Date(DateValue { millis: date.millis, zone: Some(Rc::new(zone)) })
        }
        ("isAfter", [Value::Date(other)]) => Value::Bool(date.millis > other.millis),
        ("isBefore", [Value::Date(other)]) => Value::Bool(date.millis < other.millis),
        ("isEqual", [Value::Date(other)]) => Value::Bool(date.millis == other.millis),
        ("until", [Value::Date(other), unit]) => between(&unit.text(), date, other, at)?,
        ("format", [Value::Formatter(format)]) => {
            let zone = date.zone.as_deref().cloned().unwrap_or(Zone::Utc);
            Value::str(format.format_millis_in(date.millis, &zone))
        }
        ("truncatedTo", [unit]) => {
            let unit = unit.text();
            let Some((_, _, millis)) = UNITS.iter().find(|(_, name, _)| *name == unit) else {
                return Ok(None);
            };
            let local = date.zone.as_ref().map_or(date.millis, |zone| zone.to_local(date.millis));
            let local = local - local.rem_euclid(*millis);
            let millis = date.zone.as_ref().map_or(local, |zone| zone.to_utc(local));
            Value::Date(DateValue { millis, zone: date.zone.clone() })
        }
        ("plus" | "minus", [amount, unit]) => {
            let unit = unit.text();
            let amount = if name == "plus" { amount.i64() } else { amount.i64().wrapping_neg() };
            let Some((method, ..)) = UNITS.iter().find(|(_, known, _)| *known == unit) else {
                return shifted(date, &unit, amount, at);
            };
            return shifted(date, method, amount, at);
        }
        (shift, [amount]) if shift.starts_with("plus") || shift.starts_with("minus") => {
            let (sign, unit) = match shift.strip_prefix("plus") {
                Some(unit) => (1, unit),
                None => (-1, &shift[5..]),
            };
            return shifted(date, unit, amount.i64().wrapping_mul(sign), at);
        }
        (with, [amount]) if with.starts_with("with") => return changed(date, &with[4..], amount.i64(), at),
        _ => return Ok(None),
    }))
}

fn shifted(date: &DateValue, unit: &str, amount: i64, at: u32) -> Outcome<Option<Value>> {
    let months = match unit {
        "Months" | "MONTHS" => Some(amount),
        "Years" | "YEARS" => amount.checked_mul(12),
        _ => {
            let Some((_, _, millis)) = UNITS.iter().find(|(name, ..)| *name == unit) else { return Ok(None) };
            return moved(date, amount.checked_mul(*millis), at).map(Some);
        }
    };
    let civil = months.and_then(|months| date.civil().plus_months(months)).ok_or_else(|| out_of_range(at))?;
    with_civil(date, civil, at).map(Some)
}

fn changed(date: &DateValue, part: &str, value: i64, at: u32) -> Outcome<Option<Value>> {
    let mut civil = date.civil();
    let small = u32::try_from(value).map_err(|_| out_of_range(at))?;
    let is_sound = match part {
        "Year" => {
            civil.year = value;
            (0..=9999).contains(&value)
        }
        "Month" => {
            civil.month = small;
            (1..=12).contains(&small)
        }
        "DayOfMonth" => {
            civil.day = small;
            (1..=31).contains(&small)
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
        "Nano" => {
            civil.millisecond = small / 1_000_000;
            small < 1_000_000_000
        }
        _ => return Ok(None),
    };
    if !is_sound {
        return Err(out_of_range(at));
    }
    with_civil(date, civil, at).map(Some)
}

/// `ChronoUnit.UNIT.between(from, to)`.
pub(super) fn between(unit: &str, from: &DateValue, to: &DateValue, at: u32) -> Outcome<Value> {
    let millis = to.millis.checked_sub(from.millis).ok_or_else(|| out_of_range(at))?;
    if let Some((_, _, length)) = UNITS.iter().find(|(_, name, _)| *name == unit) {
        return Ok(Value::Long(millis / length));
    }
    let (first, second) = (from.civil(), to.civil());
    let mut months = (second.year - first.year) * 12 + i64::from(second.month) - i64::from(first.month);
    let rest = |civil: &Civil| (civil.day, civil.hour, civil.minute, civil.second, civil.millisecond);
    if months > 0 && rest(&second) < rest(&first) {
        months -= 1;
    } else if months < 0 && rest(&second) > rest(&first) {
        months += 1;
    }
    match unit {
        "MONTHS" => Ok(Value::Long(months)),
        "YEARS" => Ok(Value::Long(months / 12)),
        _ => Err(ScriptError::unsupported(at, format_args!("ChronoUnit [{unit}]"))),
    }
}

pub(super) fn parse(text: &str, at: u32) -> Outcome<Value> {
    let millis = crate::dates::default_format().parse_millis(text).map_err(|_| {
        ScriptError::new(
            at,
            "date_time_parse_exception",
            format!("Text '{text}' could not be parsed at index 0"),
        )
    })?;
    Ok(Value::Date(DateValue::utc(millis)))
}

pub(super) fn formatter(pattern: &str, at: u32) -> Outcome<Value> {
    match DateFormat::parse_list(pattern) {
        Ok(format) => Ok(Value::Formatter(format.into())),
        Err(error) => Err(ScriptError::new(at, error.kind, error.reason)),
    }
}
