//! `java.time.Year` and `java.time.YearMonth`.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use limber_mapping::date::{days_in_month, is_leap};

use super::Class;
use super::formatter::parse_by;
use super::local::{Local, LocalKind, month_number};
use crate::error::{Outcome, ScriptError};
use crate::library::dates;
use crate::values::{JavaObject, Value};

pub(super) const YEAR: Class = Class {
    name: "Year",
    constants: &["MIN_VALUE", "MAX_VALUE"],
    statics: &[("from", 1), ("of", 1), ("parse", 1), ("parse", 2), ("isLeap", 1)],
    call: static_year,
    construct: None,
};

pub(super) const YEAR_MONTH: Class = Class {
    name: "YearMonth",
    constants: &[],
    statics: &[("from", 1), ("of", 2), ("parse", 1), ("parse", 2)],
    call: static_year_month,
    construct: None,
};

/// The largest year of Java's calendar.
const YEAR_MAX: i64 = 999_999_999;

/// A year, or a month of a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct YearPart {
    year: i64,
    /// From 1; `None` for a year.
    month: Option<i64>,
}

fn made(year: i64, month: Option<i64>, at: u32) -> Outcome<Value> {
    let is_valid =
        (-YEAR_MAX..=YEAR_MAX).contains(&year) && month.is_none_or(|month| (1..=12).contains(&month));
    match is_valid {
        true => Ok(Value::Object(Rc::new(YearPart { year, month }))),
        false => Err(dates::out_of_range(at)),
    }
}

fn unparsed(text: &str, at: u32) -> ScriptError {
    let reason = format!("Text '{text}' could not be parsed at index 0");
    ScriptError::new(at, "date_time_parse_exception", reason)
}

/// Reads a year: at least `least` digits, and with more than four of them a sign where `least` is four, as
/// ISO 8601 writes it.
fn year_of(text: &str, least: usize) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let needs_sign = least == 4 && digits.len() > 4;
    let fits = (least..=10).contains(&digits.len()) && (!needs_sign || digits.len() < text.len());
    (fits && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

fn static_year(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("of", [year]) if year.is_number() => made(year.i64(), None, at)?,
        ("parse", [Value::Str(text)]) => made(year_of(text, 1).ok_or_else(|| unparsed(text, at))?, None, at)?,
        ("parse", [text, format]) => made(parse_by(text, format, at)?.civil().year, None, at)?,
        ("from", [date]) => match dates::moment_of(date) {
            Some(date) => made(date.civil().year, None, at)?,
            None => return Ok(None),
        },
        ("isLeap", [year]) => Value::Bool(is_leap(year.i64())),
        ("MIN_VALUE", []) => Value::Int(-YEAR_MAX as i32),
        ("MAX_VALUE", []) => Value::Int(YEAR_MAX as i32),
        _ => return Ok(None),
    }))
}

fn static_year_month(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("of", [year, month]) if year.is_number() => made(year.i64(), Some(month_number(month)), at)?,
        ("parse", [Value::Str(text)]) => {
            let read = || {
                let (year, month) = text.rsplit_once('-')?;
                let month = (month.len() == 2).then(|| month.parse::<i64>().ok()).flatten()?;
                Some((year_of(year, 4)?, month))
            };
            let (year, month) = read().ok_or_else(|| unparsed(text, at))?;
            made(year, Some(month), at)?
        }
        ("parse", [text, format]) => {
            let civil = parse_by(text, format, at)?.civil();
            made(civil.year, Some(civil.month.into()), at)?
        }
        ("from", [date]) => match dates::moment_of(date).map(|date| date.civil()) {
            Some(civil) => made(civil.year, Some(civil.month.into()), at)?,
            None => return Ok(None),
        },
        _ => return Ok(None),
    }))
}

impl YearPart {
    /// Returns it as a number of months, or of years.
    fn count(self) -> i64 {
        self.month.map_or(self.year, |month| self.year * 12 + month - 1)
    }

    fn of_count(self, count: i64, at: u32) -> Outcome<Value> {
        match self.month {
            None => made(count, None, at),
            Some(_) => made(count.div_euclid(12), Some(count.rem_euclid(12) + 1), at),
        }
    }

    /// Adds units of time: years, and months where it has them.
    fn plus(self, amount: i64, unit: &str, at: u32) -> Outcome<Option<Value>> {
        let years = match unit {
            "YEARS" | "Years" => 1,
            "DECADES" => 10,
            "CENTURIES" => 100,
            "MILLENNIA" => 1_000,
            "MONTHS" | "Months" if self.month.is_some() => 0,
            _ => return Ok(None),
        };
        let step = match (years, self.month) {
            (0, _) => 1,
            (years, Some(_)) => years * 12,
            (years, None) => years,
        };
        let moved = amount.checked_mul(step).and_then(|moved| self.count().checked_add(moved));
        self.of_count(moved.ok_or_else(|| dates::out_of_range(at))?, at).map(Some)
    }

    fn date(self, month: i64, day: i64, at: u32) -> Outcome<Value> {
        Ok(Local::cut(super::local::moment([self.year, month, day, 0, 0, 0, 0], at)?, LocalKind::Date))
    }

    /// Calls a method that only months, or only years, have.
    fn own_call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        let days_of_year = 365 + i64::from(is_leap(self.year));
        Ok(Some(match (self.month, name, arguments) {
            (Some(month), "getMonthValue", []) => Value::Int(month as i32),
            (Some(month), "getMonth", []) => Value::str(dates::MONTHS[month as usize - 1]),
            (Some(month), "lengthOfMonth", []) => Value::Int(days_in_month(self.year, month as u32) as i32),
            (Some(_), "lengthOfYear", []) => Value::Int(days_of_year as i32),
            (Some(month), "atDay", [day]) => self.date(month, day.i64(), at)?,
            (Some(month), "atEndOfMonth", []) => {
                self.date(month, days_in_month(self.year, month as u32).into(), at)?
            }
            (Some(month), "isValidDay", [day]) => {
                Value::Bool((1..=i64::from(days_in_month(self.year, month as u32))).contains(&day.i64()))
            }
            (Some(_), "withMonth", [month]) => made(self.year, Some(month.i64()), at)?,
            (Some(month), "withYear", [year]) => made(year.i64(), Some(month), at)?,
            (None, "length", []) => Value::Int(days_of_year as i32),
            (None, "atMonth", [month]) => made(self.year, Some(month_number(month)), at)?,
            (None, "atDay", [day]) if (1..=days_of_year).contains(&day.i64()) => {
                let mut left = day.i64();
                let mut month = 1;
                while left > i64::from(days_in_month(self.year, month)) {
                    left -= i64::from(days_in_month(self.year, month));
                    month += 1;
                }
                self.date(month.into(), left, at)?
            }
            (None, "getValue", []) => Value::Int(self.year as i32),
            _ => return Ok(None),
        }))
    }
}

impl JavaObject for YearPart {
    fn class(&self) -> &'static str {
        if self.month.is_some() { "java.time.YearMonth" } else { "java.time.Year" }
    }

    fn write_text(&self, out: &mut String, _: u32) {
        match self.month {
            None => out.push_str(&self.year.to_string()),
            Some(month) => {
                let sign = if self.year < 0 { "-" } else { "" };
                out.push_str(&format!("{sign}{:04}-{month:02}", self.year.abs()));
            }
        }
    }

    fn hash(&self) -> i32 {
        let year = self.year as i32;
        self.month.map_or(year, |month| year ^ (month as i32) << 27)
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<YearPart>() == Some(self)
    }

    fn compare(&self, other: &dyn JavaObject) -> Option<Ordering> {
        let other = other.as_any().downcast_ref::<YearPart>();
        other.filter(|other| other.month.is_some() == self.month.is_some()).map(|other| self.cmp(other))
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        if let [other] = arguments
            && let Some(other) = other.object::<YearPart>()
        {
            return Ok(match name {
                "isAfter" => Some(Value::Bool(self > other)),
                "isBefore" => Some(Value::Bool(self < other)),
                _ => None,
            });
        }
        Ok(Some(match (name, arguments) {
            ("format", [format]) => {
                let Some(format) = super::formatter_of(format) else { return Ok(None) };
                let first = [self.year, self.month.unwrap_or(1), 1, 0, 0, 0, 0];
                let first = Local { kind: LocalKind::Date, date: super::local::moment(first, at)? };
                return Ok(format.print_local(&first).map(Value::str));
            }
            ("getYear", []) if self.month.is_some() => Value::Int(self.year as i32),
            ("isLeapYear", []) if self.month.is_some() => Value::Bool(is_leap(self.year)),
            ("isLeap", []) if self.month.is_none() => Value::Bool(is_leap(self.year)),
            ("plusYears", [years]) => return self.plus(years.i64(), "Years", at),
            ("minusYears", [years]) => return self.plus(years.i64().saturating_neg(), "Years", at),
            ("plusMonths", [months]) => return self.plus(months.i64(), "Months", at),
            ("minusMonths", [months]) => return self.plus(months.i64().saturating_neg(), "Months", at),
            ("plus", [amount, Value::Str(unit)]) => return self.plus(amount.i64(), unit, at),
            ("minus", [amount, Value::Str(unit)]) => {
                return self.plus(amount.i64().saturating_neg(), unit, at);
            }
            ("until", [other, Value::Str(unit)]) => {
                let Some(other) = other.object::<YearPart>() else { return Ok(None) };
                let between = other.count() - self.count();
                match (&**unit, self.month) {
                    ("MONTHS", Some(_)) | ("YEARS", None) => Value::Long(between),
                    ("YEARS", Some(_)) => Value::Long(between / 12),
                    _ => return Ok(None),
                }
            }
            _ => return self.own_call(name, arguments, at),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
