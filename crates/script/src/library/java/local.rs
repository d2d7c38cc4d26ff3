//! `LocalDate`, `LocalDateTime` and `LocalTime`: dates of no zone. Each is held as the moment that it would
//! be in UTC, a date at its midnight and a time on 1970-01-01, and has the methods of dates that its parts
//! allow.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use limber_mapping::date::{Civil, Instant, MILLIS_PER_DAY, days_in_month, is_leap};

use super::super::dates::{self, date_method};
use super::Class;
use super::formatter::parse_by;
use super::zoned::{with_local, zone_of};
use crate::error::{Outcome, ScriptError};
use crate::values::{DateValue, JavaObject, Value};

const OF_DATE: &[(&str, usize)] =
    &[("from", 1), ("of", 3), ("ofYearDay", 2), ("ofEpochDay", 1), ("parse", 1), ("parse", 2)];
const OF_DATE_TIME: &[(&str, usize)] = &[
    ("from", 1),
    ("of", 2),
    ("of", 5),
    ("of", 6),
    ("of", 7),
    ("ofEpochSecond", 3),
    ("ofInstant", 2),
    ("parse", 1),
    ("parse", 2),
];
const OF_TIME: &[(&str, usize)] = &[
    ("from", 1),
    ("of", 2),
    ("of", 3),
    ("of", 4),
    ("ofSecondOfDay", 1),
    ("ofNanoOfDay", 1),
    ("parse", 1),
    ("parse", 2),
];

pub(super) const DATE: Class =
    Class { name: "LocalDate", constants: &[], statics: OF_DATE, call: static_date, construct: None };
pub(super) const DATE_TIME: Class = Class {
    name: "LocalDateTime",
    constants: &[],
    statics: OF_DATE_TIME,
    call: static_date_time,
    construct: None,
};
pub(super) const TIME: Class = Class {
    name: "LocalTime",
    constants: &["MIDNIGHT", "NOON", "MIN", "MAX"],
    statics: OF_TIME,
    call: static_time,
    construct: None,
};

/// Which parts a date without a zone has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum LocalKind {
    Date,
    DateTime,
    Time,
}

/// A date without a zone.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Local {
    pub kind: LocalKind,
    /// The date and time, stored as the instant that they name in UTC.
    pub date: DateValue,
}

impl Local {
    /// Returns the local date, time or both of a moment in its zone.
    pub fn of(date: &DateValue, kind: LocalKind) -> Value {
        let local = date.zone.as_ref().map_or(date.millis(), |zone| zone.to_local(date.millis()));
        let instant = Instant { millis: local, ..date.instant };
        Local::cut(DateValue::utc(instant), kind)
    }

    /// Makes a date or time of a moment, without the parts that the kind does not have.
    pub(super) fn cut(date: DateValue, kind: LocalKind) -> Value {
        let millis = date.millis();
        let instant = match kind {
            LocalKind::DateTime => date.instant,
            LocalKind::Date => {
                Instant { millis: millis.saturating_sub(millis.rem_euclid(MILLIS_PER_DAY)), nanos: 0 }
            }
            LocalKind::Time => Instant { millis: millis.rem_euclid(MILLIS_PER_DAY), ..date.instant },
        };
        Value::Object(Rc::new(Local { kind, date: DateValue::utc(instant) }))
    }

    /// Returns the moment at which a clock of the zone shows it.
    pub(super) fn in_zone(&self, zone: &Value, at: u32) -> Outcome<Value> {
        let zone = zone_of(zone, at)?;
        let instant = Instant { millis: zone.to_utc(self.date.millis()), ..self.date.instant };
        Ok(Value::Date(DateValue { zone: Some(Rc::new(zone)), ..DateValue::utc(instant) }))
    }
}

/// Returns the moment in UTC with this year, month, day, hour, minute, second and nanosecond.
pub(super) fn moment(parts: [i64; 7], at: u32) -> Outcome<DateValue> {
    let refused = || ScriptError::new(at, "date_time_exception", "Invalid value for a date");
    let [year, month, day, hour, minute, second, nano] = parts;
    let small = |value: i64, least: i64, most: i64| {
        u32::try_from(value).ok().filter(|_| (least..=most).contains(&value)).ok_or_else(refused)
    };
    if !(-dates::YEAR_MAX..=dates::YEAR_MAX).contains(&year) {
        return Err(refused());
    }
    let civil = Civil {
        year,
        month: small(month, 1, 12)?,
        day: small(day, 1, 31)?,
        hour: small(hour, 0, 23)?,
        minute: small(minute, 0, 59)?,
        second: small(second, 0, 59)?,
        ..Civil::from_millis(0)
    };
    let nano = small(nano, 0, 999_999_999)?;
    let millis = civil.to_millis().ok_or_else(refused)?;
    let date = DateValue::of_millis(millis);
    // Days that the month does not have.
    if i64::from(date.civil().day) != day {
        let reason = match (month, day) {
            (2, 29) => format!("Invalid date 'February 29' as '{year}' is not a leap year"),
            _ => format!("Invalid date '{} {day}'", dates::MONTHS[month as usize - 1]),
        };
        return Err(ScriptError::new(at, "date_time_exception", reason));
    }
    match dates::shifted(&date, "Nanos", i64::from(nano), at)? {
        Some(Value::Date(date)) => Ok(date),
        _ => Err(refused()),
    }
}

/// Returns the moment with these parts in a zone.
pub(in super::super) fn zoned(parts: [i64; 7], zone: &Value, at: u32) -> Outcome<Value> {
    Local { kind: LocalKind::DateTime, date: moment(parts, at)? }.in_zone(zone, at)
}

fn parsed(text: &Value, at: u32) -> Outcome<DateValue> {
    match dates::parse(&text.text(), at)? {
        Value::Date(date) => Ok(date),
        _ => Err(ScriptError::argument(at, "no date")),
    }
}

fn local_of(value: &Value) -> Option<&Local> {
    value.object()
}

fn static_date(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let date = match (name, arguments) {
        ("of", [year, month, day]) => moment([year.i64(), month_number(month), day.i64(), 0, 0, 0, 0], at)?,
        ("ofYearDay", [year, day]) => {
            let first = moment([year.i64(), 1, 1, 0, 0, 0, 0], at)?;
            let days = 365 + i64::from(is_leap(year.i64()));
            let day = Some(day.i64()).filter(|day| (1..=days).contains(day));
            let day = day.ok_or_else(|| dates::out_of_range(at))?;
            DateValue::of_millis(first.millis() + (day - 1) * MILLIS_PER_DAY)
        }
        ("ofEpochDay", [day]) => dates::of_day(day.i64(), at)?,
        ("parse", [text]) => parsed(text, at)?,
        _ => return converted(LocalKind::Date, name, arguments, at),
    };
    Ok(Some(Local::cut(date, LocalKind::Date)))
}

fn static_date_time(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let date = match (name, arguments) {
        ("of", [date, time]) => match joined(date, time) {
            Some(date) => date,
            None => return Ok(None),
        },
        ("of", [year, month, day, hour, minute, rest @ ..]) => {
            let at_place = |place: usize| rest.get(place).map_or(0, Value::i64);
            let time = [hour.i64(), minute.i64(), at_place(0), at_place(1)];
            let date = [year.i64(), month_number(month), day.i64()];
            moment([date[0], date[1], date[2], time[0], time[1], time[2], time[3]], at)?
        }
        ("ofEpochSecond", [seconds, nanos, _]) => dates::of_seconds(seconds.i64(), nanos.i64(), at)?,
        ("ofInstant", [Value::Date(date), zone]) => {
            let Some(Value::Date(date)) = date_method(date, "atZone", std::slice::from_ref(zone), at)? else {
                return Ok(None);
            };
            return Ok(Some(Local::of(&date, LocalKind::DateTime)));
        }
        ("parse", [text]) => parsed(text, at)?,
        _ => return converted(LocalKind::DateTime, name, arguments, at),
    };
    Ok(Some(Local::cut(date, LocalKind::DateTime)))
}

/// Returns the date and time that a day and a time of day make; `None` if they are not such.
pub(super) fn joined(date: &Value, time: &Value) -> Option<DateValue> {
    let (date, time) = (local_of(date)?, local_of(time)?);
    if (date.kind, time.kind) != (LocalKind::Date, LocalKind::Time) {
        return None;
    }
    let millis = date.date.millis().saturating_add(time.date.millis());
    Some(DateValue::utc(Instant { millis, ..time.date.instant }))
}

/// Does what `from` does, and `parse` with a formatter; `None` if the arguments do not fit.
fn converted(kind: LocalKind, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    Ok(match (name, arguments) {
        ("parse", [text, format]) => Some(Local::of(&parse_by(text, format, at)?, kind)),
        ("from", [Value::Date(date)]) if !date.is_instant => Some(Local::of(date, kind)),
        ("from", [other]) => local_of(other)
            .filter(|local| local.kind == kind || local.kind == LocalKind::DateTime)
            .map(|local| Local::cut(local.date.clone(), kind)),
        _ => None,
    })
}

fn static_time(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    const DAY_NANOS: i64 = MILLIS_PER_DAY * 1_000_000;
    let date = match (name, arguments) {
        ("of", [hour, minute, rest @ ..]) if rest.len() <= 2 => {
            let at_place = |place: usize| rest.get(place).map_or(0, Value::i64);
            moment([1970, 1, 1, hour.i64(), minute.i64(), at_place(0), at_place(1)], at)?
        }
        ("parse", [text]) => parsed(&Value::str(format!("1970-01-01T{}", text.text())), at)?,
        _ => {
            let nanos = match (name, arguments) {
                ("ofSecondOfDay", [seconds]) => seconds.i64().saturating_mul(1_000_000_000),
                ("ofNanoOfDay", [nanos]) => nanos.i64(),
                ("MIDNIGHT" | "MIN", []) => 0,
                ("NOON", []) => MILLIS_PER_DAY / 2 * 1_000_000,
                ("MAX", []) => DAY_NANOS - 1,
                _ => return converted(LocalKind::Time, name, arguments, at),
            };
            if !(0..DAY_NANOS).contains(&nanos) {
                return Err(dates::out_of_range(at));
            }
            dates::of_seconds(0, nanos, at)?
        }
    };
    Ok(Some(Local::cut(date, LocalKind::Time)))
}

/// Returns the number of a month, given as its number or its constant.
pub(super) fn month_number(value: &Value) -> i64 {
    match value {
        Value::Str(name) => {
            dates::MONTHS.iter().position(|month| **month == **name).map_or(0, |place| place as i64 + 1)
        }
        number => number.i64(),
    }
}

/// Methods that only moments have, not dates without a zone.
const OF_MOMENTS: [&str; 15] = [
    "toInstant",
    "withZoneSameInstant",
    "withZoneSameLocal",
    "withOffsetSameInstant",
    "withOffsetSameLocal",
    "atZoneSameInstant",
    "atZoneSimilarLocal",
    "withFixedOffsetZone",
    "toOffsetDateTime",
    "toZonedDateTime",
    "atZone",
    "atOffset",
    "toEpochMilli",
    "getMillis",
    "getEpochSecond",
];

impl JavaObject for Local {
    fn class(&self) -> &'static str {
        match self.kind {
            LocalKind::Date => "java.time.LocalDate",
            LocalKind::DateTime => "java.time.LocalDateTime",
            LocalKind::Time => "java.time.LocalTime",
        }
    }

    fn write_text(&self, out: &mut String, _: u32) {
        let text = self.date.text();
        let text = text.strip_suffix('Z').unwrap_or(&text);
        let (date, time) = text.split_once('T').unwrap_or((text, ""));
        out.push_str(match self.kind {
            LocalKind::Date => date,
            LocalKind::DateTime => text,
            LocalKind::Time => time,
        });
    }

    fn hash(&self) -> i32 {
        Value::Long(self.date.nanos() as i64).hash()
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<Local>() == Some(self)
    }

    fn compare(&self, other: &dyn JavaObject) -> Option<Ordering> {
        let other = other.as_any().downcast_ref::<Local>().filter(|other| other.kind == self.kind)?;
        Some(self.date.instant.cmp(&other.date.instant))
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        if let [Value::Object(amount)] = arguments
            && matches!(name, "plus" | "minus")
        {
            let sign = if name == "plus" { 1 } else { -1 };
            let moved = dates::moved(&self.date, &**amount, sign, at)?;
            return Ok(moved.map(|moved| match moved {
                Value::Date(date) => Local::cut(date, self.kind),
                other => other,
            }));
        }
        if let Some(other) = arguments.first().and_then(local_of) {
            return self.beside(name, other, &arguments[1..], at);
        }
        if let ("format", [format]) = (name, arguments)
            && let Some(format) = super::formatter_of(format)
        {
            return Ok(format.print_local(self).map(Value::str));
        }
        let civil = self.date.civil();
        let is_leap = is_leap(civil.year);
        let has_date = self.kind != LocalKind::Time;
        Ok(Some(match (name, arguments) {
            ("atZone", [zone]) if self.kind == LocalKind::DateTime => self.in_zone(zone, at)?,
            ("atOffset" | "toInstant" | "toEpochSecond", [zone]) if self.kind == LocalKind::DateTime => {
                match (self.in_zone(zone, at)?, name) {
                    (Value::Date(date), "toInstant") => Value::Date(DateValue::utc(date.instant)),
                    (Value::Date(date), "toEpochSecond") => Value::Long(date.millis().div_euclid(1000)),
                    (date, _) => date,
                }
            }
            ("atStartOfDay", []) if self.kind == LocalKind::Date => {
                Local::cut(self.date.clone(), LocalKind::DateTime)
            }
            ("atStartOfDay", [zone]) if self.kind == LocalKind::Date => self.in_zone(zone, at)?,
            ("atTime", [hour, minute, rest @ ..]) if self.kind == LocalKind::Date => {
                let at_place = |place: usize| rest.get(place).map_or(0, Value::i64);
                let date = [civil.year, i64::from(civil.month), i64::from(civil.day)];
                let parts = [date[0], date[1], date[2], hour.i64(), minute.i64(), at_place(0), at_place(1)];
                Local::cut(moment(parts, at)?, LocalKind::DateTime)
            }
            ("toLocalDate", []) if has_date => Local::cut(self.date.clone(), LocalKind::Date),
            ("toLocalTime", []) if self.kind != LocalKind::Date => {
                Local::cut(self.date.clone(), LocalKind::Time)
            }
            ("toEpochDay", []) if self.kind == LocalKind::Date => {
                Value::Long(self.date.millis().div_euclid(MILLIS_PER_DAY))
            }
            ("toSecondOfDay", []) if !has_date => Value::Int((self.date.millis() / 1000) as i32),
            ("toNanoOfDay", []) if !has_date => Value::Long(self.date.nanos() as i64),
            ("isLeapYear", []) if has_date => Value::Bool(is_leap),
            ("lengthOfYear", []) if has_date => Value::Int(365 + i32::from(is_leap)),
            ("lengthOfMonth", []) if has_date => Value::Int(days_in_month(civil.year, civil.month) as i32),
            _ if OF_MOMENTS.contains(&name) => return Ok(None),
            _ => match date_method(&self.date, name, arguments, at)? {
                Some(Value::Date(date)) => Local::cut(date, self.kind),
                found => return Ok(found),
            },
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Local {
    /// Calls a method that takes another date or time.
    fn beside(&self, name: &str, other: &Local, rest: &[Value], at: u32) -> Outcome<Option<Value>> {
        let order = self.date.instant.cmp(&other.date.instant);
        Ok(Some(match (name, rest) {
            ("isAfter", []) => Value::Bool(order.is_gt()),
            ("isBefore", []) => Value::Bool(order.is_lt()),
            ("isEqual", []) => Value::Bool(order.is_eq()),
            ("until", [unit]) => dates::between(&unit.text(), &self.date, &other.date, at)?,
            ("until", []) if (self.kind, other.kind) == (LocalKind::Date, LocalKind::Date) => {
                super::period::until(self, other, at)?
            }
            ("with", []) => Local::cut(with_local(&self.date, other), self.kind),
            ("atTime", []) if self.kind == LocalKind::Date && other.kind == LocalKind::Time => {
                let millis = self.date.millis().saturating_add(other.date.millis());
                let date = DateValue::utc(Instant { millis, ..other.date.instant });
                Local::cut(date, LocalKind::DateTime)
            }
            ("atDate", []) if (self.kind, other.kind) == (LocalKind::Time, LocalKind::Date) => {
                let millis = other.date.millis().saturating_add(self.date.millis());
                let date = DateValue::utc(Instant { millis, ..self.date.instant });
                Local::cut(date, LocalKind::DateTime)
            }
            _ => return Ok(None),
        }))
    }
}
