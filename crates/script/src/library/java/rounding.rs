//! `java.math.RoundingMode`, by the names of its constants, and `MathContext`.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use num_bigint::{BigInt, Sign};

use super::Class;
use crate::error::{Outcome, ScriptError};
use crate::values::{JavaObject, Value};

pub(super) const CONTEXT: Class = Class {
    name: "MathContext",
    constants: &["DECIMAL128", "DECIMAL32", "DECIMAL64", "UNLIMITED"],
    statics: &[],
    call: context_constant,
    construct: Some(context_of),
};

/// How many digits a result has, and how it is rounded to them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MathContext {
    /// 0 for as many as are needed.
    pub precision: i64,
    pub mode: Arc<str>,
}

fn context(precision: i64, mode: &str) -> Value {
    Value::Object(Rc::new(MathContext { precision, mode: mode.into() }))
}

fn context_constant(name: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(match (name, arguments) {
        ("DECIMAL32", []) => Some(context(7, "HALF_EVEN")),
        ("DECIMAL64", []) => Some(context(16, "HALF_EVEN")),
        ("DECIMAL128", []) => Some(context(34, "HALF_EVEN")),
        ("UNLIMITED", []) => Some(context(0, "HALF_UP")),
        _ => None,
    })
}

fn context_of(_: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let (precision, mode) = match arguments {
        [Value::Int(precision)] => (*precision, "HALF_UP"),
        [Value::Int(precision), Value::Str(mode)] if MODES.contains(&&**mode) => (*precision, &**mode),
        _ => return Ok(None),
    };
    match precision {
        ..0 => Err(ScriptError::argument(at, "Digits < 0")),
        _ => Ok(Some(context(precision.into(), mode))),
    }
}

impl JavaObject for MathContext {
    fn class(&self) -> &'static str {
        "java.math.MathContext"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        out.push_str(&format!("precision={} roundingMode={}", self.precision, self.mode));
    }

    fn hash(&self) -> i32 {
        self.precision as i32
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<MathContext>() == Some(self)
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
        Ok(match (name, arguments) {
            ("getPrecision", []) => Some(Value::Int(self.precision as i32)),
            ("getRoundingMode", []) => Some(Value::Str(self.mode.clone())),
            _ => None,
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The constants, which are strings in scripts.
pub(crate) const MODES: [&str; 8] =
    ["UP", "DOWN", "CEILING", "FLOOR", "HALF_UP", "HALF_DOWN", "HALF_EVEN", "UNNECESSARY"];

/// Returns `dividend / divisor`, rounded; `None` if the mode does not allow a remainder, or if there is no
/// such mode.
pub(super) fn divided(dividend: &BigInt, divisor: &BigInt, mode: &str) -> Option<BigInt> {
    let quotient = dividend / divisor;
    let rest = dividend - &quotient * divisor;
    if rest.sign() == Sign::NoSign {
        return Some(quotient);
    }
    let is_negative = (dividend.sign() == Sign::Minus) != (divisor.sign() == Sign::Minus);
    let twice = (rest.magnitude() * 2u32).cmp(divisor.magnitude());
    let away = match mode {
        "UP" => true,
        "DOWN" => false,
        "CEILING" => !is_negative,
        "FLOOR" => is_negative,
        "HALF_UP" => twice.is_ge(),
        "HALF_DOWN" => twice.is_gt(),
        "HALF_EVEN" => twice.is_gt() || twice.is_eq() && quotient.bit(0),
        _ => return None,
    };
    Some(match (away, is_negative) {
        (false, _) => quotient,
        (true, false) => quotient + 1,
        (true, true) => quotient - 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table in the documentation of `RoundingMode`.
    #[test]
    fn tenths_are_rounded_as_java_does() {
        let round = |tenths: i32, mode: &str| {
            let found = divided(&BigInt::from(tenths), &BigInt::from(10), mode).expect("rounded");
            found.to_string().parse::<i32>().expect("small")
        };
        let all = [55, 25, 16, 11, 10, -10, -11, -16, -25, -55];
        let rounded = |mode: &str| all.map(|tenths| round(tenths, mode));
        assert_eq!(rounded("UP"), [6, 3, 2, 2, 1, -1, -2, -2, -3, -6]);
        assert_eq!(rounded("DOWN"), [5, 2, 1, 1, 1, -1, -1, -1, -2, -5]);
        assert_eq!(rounded("CEILING"), [6, 3, 2, 2, 1, -1, -1, -1, -2, -5]);
        assert_eq!(rounded("FLOOR"), [5, 2, 1, 1, 1, -1, -2, -2, -3, -6]);
        assert_eq!(rounded("HALF_UP"), [6, 3, 2, 1, 1, -1, -1, -2, -3, -6]);
        assert_eq!(rounded("HALF_DOWN"), [5, 2, 2, 1, 1, -1, -1, -2, -2, -5]);
        assert_eq!(rounded("HALF_EVEN"), [6, 2, 2, 1, 1, -1, -1, -2, -2, -6]);
        assert_eq!(divided(&BigInt::from(11), &BigInt::from(10), "UNNECESSARY"), None);
    }
}
