//! `java.time.temporal.TemporalAdjusters`: how `with` moves a date.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use limber_mapping::date::days_in_month;

use super::Class;
use crate::error::Outcome;
use crate::library::dates;
use crate::values::{DateValue, JavaObject, Value};

const STATICS: &[(&str, usize)] = &[
    ("dayOfWeekInMonth", 2),
    ("firstDayOfMonth", 0),
    ("firstDayOfNextMonth", 0),
    ("firstDayOfNextYear", 0),
    ("firstDayOfYear", 0),
    ("firstInMonth", 1),
    ("lastDayOfMonth", 0),
    ("lastDayOfYear", 0),
    ("lastInMonth", 1),
    ("next", 1),
    ("nextOrSame", 1),
    ("previous", 1),
    ("previousOrSame", 1),
];

pub(super) const CLASS: Class =
    Class { name: "TemporalAdjusters", constants: &[], statics: STATICS, call: static_call, construct: None };

/// An adjuster by the method that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Adjuster {
    name: &'static str,
    /// The day of the week, from 0 for Monday.
    weekday: i64,
    /// Which of such days of the month.
    ordinal: i64,
}

fn static_call(name: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    let Some((name, _)) = STATICS.iter().find(|known| **known == (name, arguments.len())) else {
        return Ok(None);
    };
    let weekday = match arguments.last() {
        None => 0,
        Some(Value::Str(day)) => match dates::DAYS.iter().position(|known| **known == **day) {
            Some(place) => place as i64,
            None => return Ok(None),
        },
        Some(_) => return Ok(None),
    };
    let ordinal = if arguments.len() == 2 { arguments[0].i64() } else { 0 };
    Ok(Some(Value::Object(Rc::new(Adjuster { name, weekday, ordinal }))))
}

impl Adjuster {
    /// Moves a date; its time of day and its zone stay.
    pub fn adjust(&self, date: &DateValue, at: u32) -> Outcome<Option<Value>> {
        let civil = date.civil();
        let (day, month) = (i64::from(civil.day), i64::from(civil.month));
        let month_days = i64::from(days_in_month(civil.year, civil.month));
        // Days since a Monday, as for the days of the week.
        let weekday_of = |day: i64| {
            let days = limber_mapping::date::days_from_civil(civil.year, civil.month, 1) + day - 1;
            (days + 3).rem_euclid(7)
        };
        let ahead = (self.weekday - weekday_of(day)).rem_euclid(7);
        let in_month = |ordinal: i64| match ordinal {
            1.. => 1 + (self.weekday - weekday_of(1)).rem_euclid(7) + (ordinal - 1).saturating_mul(7),
            0 => 1 + (self.weekday - weekday_of(1)).rem_euclid(7) - 7,
            _ => {
                month_days - (weekday_of(month_days) - self.weekday).rem_euclid(7)
                    + (ordinal + 1).saturating_mul(7)
            }
        };
        let days = match self.name {
            "firstDayOfMonth" => 1 - day,
            "lastDayOfMonth" => month_days - day,
            "firstDayOfNextMonth" => month_days + 1 - day,
            "firstDayOfYear" | "firstDayOfNextYear" | "lastDayOfYear" => {
                let first = limber_mapping::date::days_from_civil(civil.year, 1, 1);
                let next = limber_mapping::date::days_from_civil(civil.year.saturating_add(1), 1, 1);
                let own = limber_mapping::date::days_from_civil(civil.year, month as u32, day as u32);
                match self.name {
                    "firstDayOfYear" => first - own,
                    "firstDayOfNextYear" => next - own,
                    _ => next - 1 - own,
                }
            }
            "next" => {
                if ahead == 0 {
                    7
                } else {
                    ahead
                }
            }
            "nextOrSame" => ahead,
            "previous" => ahead - 7,
            "previousOrSame" => {
                if ahead == 0 {
                    0
                } else {
                    ahead - 7
                }
            }
            "firstInMonth" => in_month(1) - day,
            "lastInMonth" => in_month(-1) - day,
            _ => in_month(self.ordinal).saturating_sub(day),
        };
        dates::shifted(date, "Days", days, at)
    }
}

/// Returns what moves a date, if a value does.
pub(in super::super) fn adjuster(value: &Value) -> Option<&Adjuster> {
    value.object()
}

impl JavaObject for Adjuster {
    fn class(&self) -> &'static str {
        "java.time.temporal.TemporalAdjuster"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        out.push_str(self.class());
    }

    fn hash(&self) -> i32 {
        self.weekday as i32
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<Adjuster>() == Some(self)
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, _: &str, _: &[Value], _: u32) -> Outcome<Option<Value>> {
        Ok(None)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
