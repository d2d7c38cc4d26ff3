//! `java.text.DecimalFormat` and `NumberFormat`, in English.

use std::any::Any;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use super::super::{Class, MODES, construct};
use super::decimal_pattern::{FRACTION_DIGITS_MAX, Shape, WHOLE_DIGITS_MAX};
use crate::error::{Outcome, ScriptError};
use crate::values::{JavaObject, Value};

/// The pattern of `new DecimalFormat()` and of `NumberFormat#getInstance`.
const DEFAULT: &str = "#,##0.###";
/// The mode in which doubles are printed exactly.
const HALF_EVEN: &str = "HALF_EVEN";
/// Time of printing a number, in units of about 10 nanoseconds.
const STEPS: usize = 32;

pub(in super::super) const CLASS: Class = Class {
    name: "DecimalFormat",
    constants: &[],
    statics: &[],
    call: no_static,
    construct: Some(constructed),
};

pub(in super::super) const NUMBER_FORMAT: Class = Class {
    name: "NumberFormat",
    constants: &[],
    statics: &[
        ("getInstance", 0),
        ("getInstance", 1),
        ("getIntegerInstance", 0),
        ("getIntegerInstance", 1),
        ("getNumberInstance", 0),
        ("getNumberInstance", 1),
        ("getPercentInstance", 0),
        ("getPercentInstance", 1),
    ],
    call: instance,
    construct: None,
};

#[derive(Debug)]
struct DecimalFormat {
    shape: RefCell<Shape>,
    mode: RefCell<Arc<str>>,
}

fn no_static(_: &str, _: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(None)
}

fn shape_of(pattern: &str, at: u32) -> Outcome<Shape> {
    Shape::parse(pattern).map_err(|reason| ScriptError::argument(at, reason))
}

fn made(pattern: &str, at: u32) -> Outcome<Option<Value>> {
    let (shape, mode) = (RefCell::new(shape_of(pattern, at)?), RefCell::new(Arc::from(HALF_EVEN)));
    Ok(Some(Value::Object(Rc::new(DecimalFormat { shape, mode }))))
}

fn constructed(_: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    match arguments {
        [] => made(DEFAULT, at),
        [Value::Str(pattern)] => made(pattern, at),
        _ => Ok(None),
    }
}

/// Makes a format of `NumberFormat`. The locales that scripts can name have the same formats.
fn instance(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    match (name, arguments) {
        ("getInstance" | "getNumberInstance", [] | [Value::Str(_)]) => made(DEFAULT, at),
        ("getIntegerInstance", [] | [Value::Str(_)]) => made("#,##0", at),
        ("getPercentInstance", [] | [Value::Str(_)]) => made("#,##0%", at),
        _ => Ok(None),
    }
}

impl DecimalFormat {
    fn format(&self, number: &Value, at: u32) -> Outcome<Value> {
        let shape = self.shape.borrow();
        let double = match number {
            Value::Double(_) | Value::Float(_) => number.f64() * f64::from(shape.multiplier),
            _ => 0.0,
        };
        if double.is_nan() {
            return Ok(Value::str("NaN"));
        }
        if double.is_infinite() {
            return Ok(Value::str(shape.around(double.is_sign_negative(), "\u{221e}")));
        }
        let (mode, places) = (self.mode.borrow().clone(), shape.fraction_max);
        let digits = match number {
            Value::Double(_) | Value::Float(_) if *mode == *HALF_EVEN => format!("{double:.places$}"),
            Value::Double(_) | Value::Float(_) => rounded(Value::Double(double), &shape, &mode, at)?,
            Value::Int(_) | Value::Long(_) => {
                (i128::from(number.i64()) * i128::from(shape.multiplier)).to_string()
            }
            Value::Object(object) if object.number().is_some() => {
                let own = decimal(&Value::str(object.text()), at)?;
                let by = decimal(&Value::str(shape.multiplier.to_string()), at)?;
                rounded(called(&own, "multiply", &[by], at)?, &shape, &mode, at)?
            }
            _ => {
                return Err(ScriptError::argument(at, "Cannot format given Object as a Number"));
            }
        };
        Ok(Value::str(match digits.strip_prefix('-') {
            Some(digits) => shape.write(true, digits),
            // A negative number that was rounded to zero, or minus zero.
            None => shape.write(double.is_sign_negative(), &digits),
        }))
    }

    /// Reads a number from the beginning of a text.
    fn parse(&self, text: &str, at: u32) -> Outcome<Value> {
        let shape = self.shape.borrow();
        let refused = || ScriptError::new(at, "parse_exception", format!("Unparseable number: \"{text}\""));
        let (before, _) = &shape.positive;
        let negative = match &shape.negative {
            Some((before, _)) => before.clone(),
            None => format!("-{before}"),
        };
        let (is_negative, rest) = match (text.strip_prefix(&*negative), text.strip_prefix(&**before)) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return Err(refused()),
        };
        let mut digits = String::new();
        for letter in rest.chars() {
            match letter {
                '0'..='9' => digits.push(letter),
                ',' if shape.group > 0 && !digits.contains('.') => {}
                '.' if !digits.contains('.') => digits.push('.'),
                _ => break,
            }
        }
        if !digits.contains(|letter: char| letter.is_ascii_digit()) {
            return Err(refused());
        }
        let sign = if is_negative { "-" } else { "" };
        let whole = digits.trim_end_matches('.').parse::<i64>();
        if let (Ok(whole), 1) = (whole, shape.multiplier) {
            return Ok(Value::Long(if is_negative { -whole } else { whole }));
        }
        let number: f64 = format!("{sign}{digits}").parse().map_err(|_| refused())?;
        let number = number / f64::from(shape.multiplier);
        let is_whole = number.fract() == 0.0 && number.abs() < 9.2e18;
        Ok(if is_whole { Value::Long(number as i64) } else { Value::Double(number) })
    }

    /// Calls a method that reads or changes the shape; `None` if there is no such method.
    fn option(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        let mut shape = self.shape.borrow_mut();
        let count = |most: usize| {
            arguments.first().map_or(0, |count| usize::try_from(count.i64()).unwrap_or(0)).min(most)
        };
        match (name, arguments) {
            ("setMaximumFractionDigits", [_]) => {
                shape.fraction_max = count(FRACTION_DIGITS_MAX);
                shape.fraction_min = shape.fraction_min.min(shape.fraction_max);
            }
            ("setMinimumFractionDigits", [_]) => {
                shape.fraction_min = count(FRACTION_DIGITS_MAX);
                shape.fraction_max = shape.fraction_max.max(shape.fraction_min);
            }
            ("setMaximumIntegerDigits", [_]) => {
                shape.whole_max = count(WHOLE_DIGITS_MAX);
                shape.whole_min = shape.whole_min.min(shape.whole_max);
            }
            ("setMinimumIntegerDigits", [_]) => {
                shape.whole_min = count(WHOLE_DIGITS_MAX);
                shape.whole_max = shape.whole_max.max(shape.whole_min);
            }
            ("setGroupingSize", [_]) => shape.group = count(WHOLE_DIGITS_MAX),
            ("setGroupingUsed", [Value::Bool(false)]) => shape.group = 0,
            ("setGroupingUsed", [Value::Bool(true)]) if shape.group == 0 => shape.group = 3,
            ("setGroupingUsed", [Value::Bool(true)]) => {}
            ("setDecimalSeparatorAlwaysShown", [Value::Bool(shows)]) => shape.shows_point = *shows,
            ("setRoundingMode", [Value::Str(mode)]) if MODES.contains(&&**mode) => {
                *self.mode.borrow_mut() = mode.clone();
            }
            ("applyPattern", [Value::Str(pattern)]) => *shape = shape_of(pattern, at)?,
            _ => return Ok(read(&shape, name, arguments)),
        }
        Ok(Some(Value::Null))
    }
}

/// Calls a method that reads the shape; `None` if there is no such method.
fn read(shape: &Shape, name: &str, arguments: &[Value]) -> Option<Value> {
    if !arguments.is_empty() {
        return None;
    }
    Some(match name {
        "getMaximumFractionDigits" => Value::Int(shape.fraction_max as i32),
        "getMinimumFractionDigits" => Value::Int(shape.fraction_min as i32),
        "getMaximumIntegerDigits" => Value::Int(shape.whole_max as i32),
        "getMinimumIntegerDigits" => Value::Int(shape.whole_min as i32),
        "getGroupingSize" => Value::Int(shape.group as i32),
        "getMultiplier" => Value::Int(shape.multiplier),
        "isGroupingUsed" => Value::Bool(shape.group > 0),
        "isDecimalSeparatorAlwaysShown" => Value::Bool(shape.shows_point),
        _ => return None,
    })
}

/// Makes a `BigDecimal`.
fn decimal(of: &Value, at: u32) -> Outcome<Value> {
    let made = construct("BigDecimal", std::slice::from_ref(of), at)?;
    made.ok_or_else(|| ScriptError::argument(at, "Cannot format given Object as a Number"))
}

/// Calls a method of a `BigDecimal`.
fn called(target: &Value, name: &str, arguments: &[Value], at: u32) -> Outcome<Value> {
    let found = match target {
        Value::Object(object) => object.call(name, arguments, at)?,
        _ => None,
    };
    found.ok_or_else(|| ScriptError::argument(at, "Cannot format given Object as a Number"))
}

/// Returns the digits of a number, rounded as a mode says.
fn rounded(number: Value, shape: &Shape, mode: &str, at: u32) -> Outcome<String> {
    let number = match number {
        Value::Double(_) => decimal(&number, at)?,
        other => other,
    };
    let scale = Value::Int(shape.fraction_max as i32);
    let scaled = called(&number, "setScale", &[scale, Value::str(mode)], at)?;
    Ok(called(&scaled, "toPlainString", &[], at)?.text())
}

impl JavaObject for DecimalFormat {
    fn class(&self) -> &'static str {
        "java.text.DecimalFormat"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        out.push_str(self.class());
    }

    fn hash(&self) -> i32 {
        0
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        let other = other.as_any().downcast_ref::<DecimalFormat>();
        other.is_some_and(|other| *self.shape.borrow() == *other.shape.borrow())
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        match (name, arguments) {
            ("format", [number]) => self.format(number, at).map(Some),
            ("parse" | "parseObject", [Value::Str(text)]) => self.parse(text, at).map(Some),
            ("getRoundingMode", []) => Ok(Some(Value::Str(self.mode.borrow().clone()))),
            _ => self.option(name, arguments, at),
        }
    }

    fn steps(&self) -> usize {
        STEPS
    }

    fn is_mutable(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
