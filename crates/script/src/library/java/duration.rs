//! `java.time.Duration`: nanoseconds.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use super::Class;
use crate::error::{Outcome, ScriptError};
use crate::library::dates;
use crate::values::{JavaObject, Value};

const SECOND: i128 = 1_000_000_000;

const STATICS: &[(&str, usize)] = &[
    ("between", 2),
    ("of", 2),
    ("ofDays", 1),
    ("ofHours", 1),
    ("ofMinutes", 1),
    ("ofSeconds", 1),
    ("ofSeconds", 2),
    ("ofMillis", 1),
    ("ofNanos", 1),
    ("parse", 1),
];

pub(in super::super) const CLASS: Class =
    Class { name: "Duration", constants: &["ZERO"], statics: STATICS, call: static_call, construct: None };

#[derive(Debug, PartialEq)]
pub(in super::super) struct Duration {
    /// The number of seconds fits into a `long`, as in Java.
    pub nanos: i128,
}

fn overflow(at: u32) -> ScriptError {
    ScriptError::new(at, "arithmetic_exception", "long overflow")
}

fn no_exact_length(at: u32) -> ScriptError {
    let reason = "Unit must not have an estimated duration";
    ScriptError::new(at, "unsupported_temporal_type_exception", reason)
}

fn value(nanos: Option<i128>, at: u32) -> Outcome<Value> {
    let is_in_range = |nanos: &i128| i64::try_from(nanos.div_euclid(SECOND)).is_ok();
    let nanos = nanos.filter(is_in_range).ok_or_else(|| overflow(at))?;
    Ok(Value::Object(Rc::new(Duration { nanos })))
}

/// Returns the nanoseconds of a unit, given its name in methods (`Days`) or in `ChronoUnit` (`DAYS`). Units
/// longer than a day have no exact length.
fn unit(name: &str) -> Option<i128> {
    dates::unit_nanos(name).map(i128::from).filter(|nanos| *nanos <= 86_400 * SECOND)
}

fn static_call(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let nanos = match (name, arguments) {
        ("ZERO", []) => Some(0),
        ("between", [from, to]) => match (dates::moment_of(from), dates::moment_of(to)) {
            (Some(from), Some(to)) => to.nanos().checked_sub(from.nanos()),
            _ => return Ok(None),
        },
        ("of", [amount, named]) => match unit(&named.text()) {
            Some(nanos) => nanos.checked_mul(i128::from(amount.i64())),
            None => return Err(no_exact_length(at)),
        },
        ("ofSeconds", [seconds, nanos]) => Some(i128::from(seconds.i64()) * SECOND + i128::from(nanos.i64())),
        ("parse", [Value::Str(text)]) => Some(parse(text).ok_or_else(|| {
            let reason = "Text cannot be parsed to a Duration";
            ScriptError::new(at, "date_time_parse_exception", reason)
        })?),
        (of, [amount]) => match of.strip_prefix("of").and_then(unit) {
            Some(nanos) => nanos.checked_mul(i128::from(amount.i64())),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    value(nanos, at).map(Some)
}

/// Parses a duration such as `P2DT3H4M5.6S`.
fn parse(text: &str) -> Option<i128> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let rest = rest.strip_prefix(['P', 'p'])?;
    let (mut total, mut digits, mut in_time, mut count) = (0i128, String::new(), false, 0);
    for letter in rest.chars() {
        match letter.to_ascii_uppercase() {
            'T' if digits.is_empty() && !in_time => in_time = true,
            digit @ ('0'..='9' | '.' | '-' | '+') => digits.push(digit),
            named => {
                let unit = match (named, in_time) {
                    ('D', false) => 86_400 * SECOND,
                    ('H', true) => 3_600 * SECOND,
                    ('M', true) => 60 * SECOND,
                    ('S', true) => SECOND,
                    _ => return None,
                };
                let (whole, part) = digits.split_once('.').unwrap_or((&digits, ""));
                if !part.is_empty() && named != 'S' || part.len() > 9 {
                    return None;
                }
                total = total.checked_add(i128::from(whole.parse::<i64>().ok()?) * unit)?;
                if !part.is_empty() {
                    let nanos: i128 = format!("{part:0<9}").parse().ok()?;
                    total += if whole.starts_with('-') { -nanos } else { nanos };
                }
                digits.clear();
                count += 1;
            }
        }
    }
    (count > 0 && digits.is_empty()).then_some(sign * total)
}

impl JavaObject for Duration {
    fn class(&self) -> &'static str {
        "java.time.Duration"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        if self.nanos == 0 {
            return out.push_str("PT0S");
        }
        let seconds = self.nanos / SECOND;
        let (hours, minutes) = (seconds / 3600, seconds % 3600 / 60);
        let (rest, nanos) = (seconds % 60, self.nanos % SECOND);
        out.push_str("PT");
        if hours != 0 {
            out.push_str(&format!("{hours}H"));
        }
        if minutes != 0 {
            out.push_str(&format!("{minutes}M"));
        }
        if rest != 0 || nanos != 0 {
            let sign = if rest == 0 && nanos < 0 { "-" } else { "" };
            out.push_str(&format!("{sign}{rest}"));
            if nanos != 0 {
                let digits = format!("{:09}", nanos.abs());
                out.push_str(&format!(".{}", digits.trim_end_matches('0')));
            }
            out.push('S');
        }
    }

    fn hash(&self) -> i32 {
        let seconds = self.nanos.div_euclid(SECOND) as i64;
        let nanos = self.nanos.rem_euclid(SECOND) as i32;
        Value::Long(seconds).hash().wrapping_add(nanos.wrapping_mul(51))
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<Duration>() == Some(self)
    }

    fn compare(&self, other: &dyn JavaObject) -> Option<Ordering> {
        Some(self.nanos.cmp(&other.as_any().downcast_ref::<Duration>()?.nanos))
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        let own = self.nanos;
        let other = arguments.first().and_then(Value::object::<Duration>).map(|other| other.nanos);
        let long = |number: i128| i64::try_from(number).map(Value::Long).map_err(|_| overflow(at));
        Ok(Some(match (name, arguments) {
            ("getSeconds" | "toSeconds", []) => long(own.div_euclid(SECOND))?,
            ("getNano" | "toNanosPart", []) => Value::Int(own.rem_euclid(SECOND) as i32),
            ("isZero", []) => Value::Bool(own == 0),
            ("isNegative", []) => Value::Bool(own < 0),
            ("negated", []) => value(Some(-own), at)?,
            ("abs", []) => value(Some(own.abs()), at)?,
            ("plus", [_]) if other.is_some() => value(other.and_then(|other| own.checked_add(other)), at)?,
            ("minus", [_]) if other.is_some() => value(other.and_then(|other| own.checked_sub(other)), at)?,
            ("plus" | "minus", [amount, named]) => {
                let unit = unit(&named.text()).ok_or_else(|| no_exact_length(at))?;
                let by = unit * i128::from(amount.i64());
                value(Some(if name == "plus" { own + by } else { own - by }), at)?
            }
            ("multipliedBy", [by]) => value(own.checked_mul(i128::from(by.i64())), at)?,
            ("dividedBy", [by]) => match by.i64() {
                0 => return Err(ScriptError::new(at, "arithmetic_exception", "Cannot divide by zero")),
                by => value(Some(own / i128::from(by)), at)?,
            },
            ("withSeconds", [seconds]) => {
                value(Some(i128::from(seconds.i64()) * SECOND + own.rem_euclid(SECOND)), at)?
            }
            ("withNanos", [nanos]) => {
                value(Some(own.div_euclid(SECOND) * SECOND + i128::from(nanos.i64())), at)?
            }
            (to, []) if to.starts_with("to") => match unit(&to[2..]) {
                // Seconds of a negative duration are rounded down, and the others made of them.
                Some(unit) if unit >= SECOND => long(own.div_euclid(SECOND) / (unit / SECOND))?,
                Some(unit) => long(own.div_euclid(unit))?,
                None => return Ok(None),
            },
            (change, [by]) if change.starts_with("plus") || change.starts_with("minus") => {
                let (sign, named) = match change.strip_prefix("plus") {
                    Some(named) => (1, named),
                    None => (-1, &change[5..]),
                };
                let Some(unit) = unit(named) else { return Ok(None) };
                let by = unit.checked_mul(i128::from(by.i64())).map(|by| sign * by);
                value(by.and_then(|by| own.checked_add(by)), at)?
            }
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
