//! `java.text.SimpleDateFormat`, for the letters of a pattern that mean the same in `DateTimeFormatter`.
//!
//! Texts must have as many digits as the pattern has letters; Java's class also reads fewer.

use std::any::Any;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use limber_mapping::date::{DateFormat, Zone};

use super::super::Class;
use super::super::date::{date_of, millis_of};
use super::super::zoned::zone_of;
use crate::error::{Outcome, ScriptError};
use crate::values::{JavaObject, Value};

pub(in super::super) const CLASS: Class = Class {
    name: "SimpleDateFormat",
    constants: &[],
    statics: &[],
    call: no_static,
    construct: Some(constructed),
};

/// `java.util.TimeZone`: scripts see a zone as its id.
pub(in super::super) const TIME_ZONE: Class = Class {
    name: "TimeZone",
    constants: &[],
    statics: &[("getTimeZone", 1)],
    call: time_zone,
    construct: None,
};

/// Letters that mean the same in both classes; `S` does if there are three of them.
const LETTERS: &str = "GyMLdDEaHkKhmszZXS";
/// Estimated bytes of a compiled pattern.
const PATTERN_BYTES: usize = 512;

#[derive(Debug)]
struct SimpleDateFormat {
    format: RefCell<Arc<DateFormat>>,
    zone: RefCell<Rc<Zone>>,
}

fn no_static(_: &str, _: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(None)
}

/// Returns the id of a zone; like Java's, that of an unknown zone is `GMT`.
fn time_zone(name: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(match (name, arguments) {
        ("getTimeZone", [Value::Str(id)]) => {
            Some(Value::Str(if Zone::parse(id).is_ok() { id.clone() } else { Arc::from("GMT") }))
        }
        _ => None,
    })
}

/// Makes a format. The locales that scripts can name have the same names.
fn constructed(_: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let ([Value::Str(pattern)] | [Value::Str(pattern), Value::Str(_)]) = arguments else { return Ok(None) };
    let (format, zone) = (RefCell::new(format_of(pattern, at)?), RefCell::new(Rc::new(Zone::Utc)));
    Ok(Some(Value::Object(Rc::new(SimpleDateFormat { format, zone }))))
}

fn format_of(pattern: &str, at: u32) -> Outcome<Arc<DateFormat>> {
    let (mut is_quoted, mut run) = (false, String::new());
    for letter in pattern.chars().chain(['\'']) {
        if !run.starts_with(letter) {
            if run.starts_with('S') && run.len() != 3 && !is_quoted {
                return Err(ScriptError::unsupported(at, "[S] in a SimpleDateFormat other than [SSS]"));
            }
            run.clear();
        }
        run.push(letter);
        is_quoted ^= letter == '\'';
        if !is_quoted && letter.is_ascii_alphabetic() && !LETTERS.contains(letter) {
            return Err(ScriptError::unsupported(at, format_args!("[{letter}] in a SimpleDateFormat")));
        }
    }
    let format = DateFormat::shared(pattern);
    format.map_err(|error| ScriptError::new(at, error.kind, error.reason))
}

impl SimpleDateFormat {
    fn parse(&self, text: &str, at: u32) -> Outcome<Value> {
        let instant = self.format.borrow().parse_instant_in(text, &self.zone.borrow());
        let refused = |_| ScriptError::new(at, "parse_exception", format!("Unparseable date: \"{text}\""));
        instant.map(|instant| date_of(instant.millis)).map_err(refused)
    }
}

impl JavaObject for SimpleDateFormat {
    fn class(&self) -> &'static str {
        "java.text.SimpleDateFormat"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        out.push_str(self.class());
    }

    fn hash(&self) -> i32 {
        0
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        let other = other.as_any().downcast_ref::<SimpleDateFormat>();
        other.is_some_and(|other| self.format.borrow().pattern == other.format.borrow().pattern)
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("format", [date]) => {
                let millis = match date {
                    Value::Int(_) | Value::Long(_) => Some(date.i64()),
                    date => millis_of(date),
                };
                let refused = || ScriptError::argument(at, "Cannot format given Object as a Date");
                let millis = millis.ok_or_else(refused)?;
                Value::str(self.format.borrow().format_millis_in(millis, &self.zone.borrow()))
            }
            ("parse" | "parseObject", [Value::Str(text)]) => self.parse(text, at)?,
            ("setTimeZone", [zone]) => {
                *self.zone.borrow_mut() = Rc::new(zone_of(zone, at)?);
                Value::Null
            }
            ("applyPattern", [Value::Str(pattern)]) => {
                *self.format.borrow_mut() = format_of(pattern, at)?;
                Value::Null
            }
            ("toPattern", []) => Value::str(self.format.borrow().pattern.as_str()),
            ("getTimeZone", []) => Value::str(self.zone.borrow().id()),
            ("isLenient", []) => Value::Bool(false),
            ("setLenient", [Value::Bool(false)]) => Value::Null,
            ("setLenient", [_]) => {
                return Err(ScriptError::unsupported(at, "[setLenient] of a SimpleDateFormat"));
            }
            _ => return Ok(None),
        }))
    }

    fn bytes(&self) -> usize {
        size_of_val(self) + PATTERN_BYTES
    }

    fn is_mutable(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
