//! `java.time.Period`: years, months and days.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use limber_mapping::date::days_in_month;

use super::Class;
use super::local::{Local, LocalKind};
use crate::error::{Outcome, ScriptError};
use crate::library::dates;
use crate::values::{JavaObject, Value};

const STATICS: &[(&str, usize)] = &[
    ("between", 2),
    ("of", 3),
    ("ofDays", 1),
    ("ofWeeks", 1),
    ("ofMonths", 1),
    ("ofYears", 1),
    ("parse", 1),
];

pub(super) const CLASS: Class =
    Class { name: "Period", constants: &["ZERO"], statics: STATICS, call: static_call, construct: None };

#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct Period {
    pub years: i32,
    pub months: i32,
    pub days: i32,
}

fn value((years, months, days): (i64, i64, i64), at: u32) -> Outcome<Value> {
    let small = |number: i64| {
        i32::try_from(number).map_err(|_| ScriptError::new(at, "arithmetic_exception", "integer overflow"))
    };
    let period = Period { years: small(years)?, months: small(months)?, days: small(days)? };
    Ok(Value::Object(Rc::new(period)))
}

fn static_call(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let parts = match (name, arguments) {
        ("ZERO", []) => (0, 0, 0),
        ("of", [years, months, days]) => (years.i64(), months.i64(), days.i64()),
        ("ofDays", [days]) => (0, 0, days.i64()),
        ("ofWeeks", [weeks]) => (0, 0, weeks.i64().saturating_mul(7)),
        ("ofMonths", [months]) => (0, months.i64(), 0),
        ("ofYears", [years]) => (years.i64(), 0, 0),
        ("parse", [Value::Str(text)]) => parse(text).ok_or_else(|| {
            let reason = "Text cannot be parsed to a Period";
            ScriptError::new(at, "date_time_parse_exception", reason)
        })?,
        ("between", [from, to]) => match (date_of(from), date_of(to)) {
            (Some(from), Some(to)) => between(from, to, at)?,
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    value(parts, at).map(Some)
}

/// Returns the time from one day to another. Source: `LocalDate#until`.
pub(super) fn until(from: &Local, to: &Local, at: u32) -> Outcome<Value> {
    value(between(from, to, at)?, at)
}

fn date_of(value: &Value) -> Option<&Local> {
    value.object::<Local>().filter(|local| local.kind == LocalKind::Date)
}

/// Returns the whole months between two dates, and the remaining days. Source: `LocalDate#until`.
fn between(from: &Local, to: &Local, at: u32) -> Outcome<(i64, i64, i64)> {
    let (first, last) = (from.date.civil(), to.date.civil());
    let mut months = (last.year - first.year) * 12 + i64::from(last.month) - i64::from(first.month);
    let mut days = i64::from(last.day) - i64::from(first.day);
    if months > 0 && days < 0 {
        months -= 1;
        if let Some(Value::Date(moved)) = dates::shifted(&from.date, "Months", months, at)? {
            days = dates::between("DAYS", &moved, &to.date, at)?.i64();
        }
    } else if months < 0 && days > 0 {
        months += 1;
        days -= i64::from(days_in_month(last.year, last.month));
    }
    Ok((months / 12, months % 12, days))
}

/// Parses a period such as `P1Y2M3W4D`.
fn parse(text: &str) -> Option<(i64, i64, i64)> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let rest = rest.strip_prefix(['P', 'p'])?;
    let (mut parts, mut digits, mut next) = ((0i64, 0i64, 0i64), String::new(), 0);
    for letter in rest.chars() {
        match letter.to_ascii_uppercase() {
            digit @ ('0'..='9' | '-' | '+') => digits.push(digit),
            unit => {
                let number = sign * i64::from(digits.parse::<i32>().ok()?);
                // Each unit occurs at most once, and longer units come before shorter ones.
                let place = ['Y', 'M', 'W', 'D'].iter().position(|known| *known == unit)?;
                if place < next {
                    return None;
                }
                next = place + 1;
                match unit {
                    'Y' => parts.0 = number,
                    'M' => parts.1 = number,
                    'W' => parts.2 = 7 * number,
                    _ => parts.2 += number,
                }
                digits.clear();
            }
        }
    }
    (next > 0 && digits.is_empty()).then_some(parts)
}

impl JavaObject for Period {
    fn class(&self) -> &'static str {
        "java.time.Period"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        let parts = [(self.years, 'Y'), (self.months, 'M'), (self.days, 'D')];
        let shown: String = (parts.iter().filter(|(number, _)| *number != 0))
            .map(|(number, unit)| format!("{number}{unit}"))
            .collect();
        out.push('P');
        out.push_str(if shown.is_empty() { "0D" } else { &shown });
    }

    fn hash(&self) -> i32 {
        let turned = self.months.rotate_left(8).wrapping_add(self.days.rotate_left(16));
        self.years.wrapping_add(turned)
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<Period>() == Some(self)
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        let (years, months, days) = (i64::from(self.years), i64::from(self.months), i64::from(self.days));
        let other = arguments.first().and_then(Value::object::<Period>);
        Ok(Some(match (name, arguments, other) {
            ("getYears", [], _) => Value::Int(self.years),
            ("getMonths", [], _) => Value::Int(self.months),
            ("getDays", [], _) => Value::Int(self.days),
            ("toTotalMonths", [], _) => Value::Long(years * 12 + months),
            ("isZero", [], _) => Value::Bool((years, months, days) == (0, 0, 0)),
            ("isNegative", [], _) => Value::Bool(years < 0 || months < 0 || days < 0),
            ("negated", [], _) => value((-years, -months, -days), at)?,
            ("normalized", [], _) => {
                let all = years * 12 + months;
                value((all / 12, all % 12, days), at)?
            }
            ("multipliedBy", [by], _) => {
                let by = by.i64();
                value((years.saturating_mul(by), months.saturating_mul(by), days.saturating_mul(by)), at)?
            }
            ("plus" | "minus", [_], Some(other)) => {
                let sign = if name == "plus" { 1 } else { -1 };
                let with = |own: i64, other: i32| own + sign * i64::from(other);
                value((with(years, other.years), with(months, other.months), with(days, other.days)), at)?
            }
            ("plusYears", [by], _) => value((years.saturating_add(by.i64()), months, days), at)?,
            ("plusMonths", [by], _) => value((years, months.saturating_add(by.i64()), days), at)?,
            ("plusDays", [by], _) => value((years, months, days.saturating_add(by.i64())), at)?,
            ("minusYears", [by], _) => value((years.saturating_sub(by.i64()), months, days), at)?,
            ("minusMonths", [by], _) => value((years, months.saturating_sub(by.i64()), days), at)?,
            ("minusDays", [by], _) => value((years, months, days.saturating_sub(by.i64())), at)?,
            ("withYears", [years], _) => value((years.i64(), months, days), at)?,
            ("withMonths", [months], _) => value((years, months.i64(), days), at)?,
            ("withDays", [days], _) => value((years, months, days.i64()), at)?,
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
