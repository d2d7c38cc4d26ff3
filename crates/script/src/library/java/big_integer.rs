//! `java.math.BigInteger`.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use num_bigint::{BigInt, Sign};

use super::Class;
use crate::error::{Outcome, ScriptError};
use crate::values::{JavaObject, Value};

/// Maximum bits of a number: arithmetic on longer ones would run too long without a check for cancellation.
pub(super) const BITS_MAX: u64 = 1 << 17;

const STATICS: &[(&str, usize)] = &[("valueOf", 1), ("ZERO", 0), ("ONE", 0), ("TWO", 0), ("TEN", 0)];

pub(super) const CLASS: Class =
    Class { name: "BigInteger", statics: STATICS, call: static_call, construct: Some(construct) };

#[derive(Debug)]
pub(super) struct BigInteger(pub BigInt);

fn static_call(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let number = match (name, arguments) {
        ("ZERO", []) => BigInt::ZERO,
        ("ONE", []) => BigInt::from(1),
        ("TWO", []) => BigInt::from(2),
        ("TEN", []) => BigInt::from(10),
        ("valueOf", [number]) if number.is_number() => BigInt::from(number.i64()),
        _ => return Ok(None),
    };
    value(number, at).map(Some)
}

fn construct(_: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let (text, radix) = match arguments {
        [Value::Str(text)] => (text, 10),
        [Value::Str(text), radix] => (text, u32::try_from(radix.i64()).unwrap_or(0)),
        _ => return Ok(None),
    };
    let refused = || {
        let reason = match text.is_empty() {
            true => "Zero length BigInteger".to_owned(),
            false => format!("For input string: \"{text}\""),
        };
        ScriptError::new(at, "number_format_exception", reason)
    };
    if !(2..=36).contains(&radix) {
        return Err(ScriptError::new(at, "number_format_exception", "Radix out of range"));
    }
    check_digits(text.len(), at)?;
    let number = BigInt::parse_bytes(text.as_bytes(), radix).filter(|_| !text.contains('_'));
    value(number.ok_or_else(refused)?, at).map(Some)
}

/// Refuses digits of more bits than there may be.
pub(super) fn check_digits(count: usize, at: u32) -> Outcome<()> {
    if count as u64 * 3 > BITS_MAX {
        return Err(too_large(at));
    }
    Ok(())
}

pub(super) fn too_large(at: u32) -> ScriptError {
    let reason = "BigInteger would overflow supported range";
    ScriptError::new(at, "arithmetic_exception", reason)
}

/// The number as a value, unless it is too large.
pub(super) fn value(number: BigInt, at: u32) -> Outcome<Value> {
    if number.bits() > BITS_MAX {
        return Err(too_large(at));
    }
    Ok(Value::Object(Rc::new(BigInteger(number))))
}

/// The number's lowest bits, as Java narrows.
pub(super) fn long_of(number: &BigInt) -> i64 {
    let lowest = number.magnitude().iter_u64_digits().next().unwrap_or(0);
    let lowest = lowest as i64;
    if number.sign() == Sign::Minus { lowest.wrapping_neg() } else { lowest }
}

/// The number nearest to it.
pub(super) fn double_of(number: &BigInt) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}

/// The number that an object or one of Java's whole numbers is.
pub(super) fn integer_of(value: &Value) -> Option<BigInt> {
    match value {
        Value::Object(object) => object.as_any().downcast_ref::<BigInteger>().map(|big| big.0.clone()),
        _ => None,
    }
}

impl JavaObject for BigInteger {
    fn class(&self) -> &'static str {
        "java.math.BigInteger"
    }

    fn text(&self) -> String {
        self.0.to_string()
    }

    fn hash(&self) -> i32 {
        let words = self.0.magnitude().to_u32_digits();
        let hash =
            words.iter().rev().fold(0i32, |hash, word| hash.wrapping_mul(31).wrapping_add(*word as i32));
        if self.0.sign() == Sign::Minus { hash.wrapping_neg() } else { hash }
    }

    fn equals(&self, other: &dyn JavaObject) -> bool {
        other.as_any().downcast_ref::<BigInteger>().is_some_and(|other| other.0 == self.0)
    }

    fn compare(&self, other: &dyn JavaObject) -> Option<Ordering> {
        Some(self.0.cmp(&other.as_any().downcast_ref::<BigInteger>()?.0))
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        if let [other] = arguments
            && let Some(other) = integer_of(other)
        {
            return self.with(name, &other, at);
        }
        let own = &self.0;
        Ok(Some(match (name, arguments) {
            ("negate", []) => value(-own, at)?,
            ("not", []) => value(!own, at)?,
            ("abs", []) => value(BigInt::from(own.magnitude().clone()), at)?,
            ("signum", []) => Value::Int(match own.sign() {
                Sign::Minus => -1,
                Sign::NoSign => 0,
                Sign::Plus => 1,
            }),
            ("bitLength", []) => Value::Int(match own.sign() {
                Sign::Minus => (!own).bits(),
                _ => own.bits(),
            } as i32),
            ("testBit", [place]) => Value::Bool(own.bit(u64::try_from(place.i64()).unwrap_or(u64::MAX))),
            ("sqrt", []) if own.sign() != Sign::Minus => value(own.sqrt(), at)?,
            ("pow", [exponent]) => power(own, exponent, at)?,
            ("shiftLeft" | "shiftRight", [count]) => {
                let count = if name == "shiftLeft" { count.i64() } else { -count.i64() };
                if count.unsigned_abs() > BITS_MAX {
                    return Err(too_large(at));
                }
                value(if count < 0 { own >> count.unsigned_abs() } else { own << count.unsigned_abs() }, at)?
            }
            ("toString", [radix]) => {
                let radix = u32::try_from(radix.i64()).ok().filter(|radix| (2..=36).contains(radix));
                Value::str(own.to_str_radix(radix.unwrap_or(10)))
            }
            ("intValue", []) => Value::Int(long_of(own) as i32),
            ("longValue", []) => Value::Long(long_of(own)),
            ("doubleValue", []) => Value::Double(double_of(own)),
            ("floatValue", []) => Value::Float(double_of(own) as f32),
            ("intValueExact", []) => Value::Int(own.try_into().map_err(|_| out_of_range("int", at))?),
            ("longValueExact", []) => Value::Long(own.try_into().map_err(|_| out_of_range("long", at))?),
            _ => return Ok(None),
        }))
    }

    fn number(&self) -> Option<f64> {
        Some(double_of(&self.0))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn out_of_range(kind: &str, at: u32) -> ScriptError {
    ScriptError::new(at, "arithmetic_exception", format!("BigInteger out of {kind} range"))
}

fn power(base: &BigInt, exponent: &Value, at: u32) -> Outcome<Value> {
    let Ok(exponent) = u32::try_from(exponent.i64()) else {
        return Err(ScriptError::new(at, "arithmetic_exception", "Negative exponent"));
    };
    if base.bits().saturating_mul(u64::from(exponent)) > BITS_MAX {
        return Err(too_large(at));
    }
    value(base.pow(exponent), at)
}

impl BigInteger {
    /// Methods of another number.
    fn with(&self, name: &str, other: &BigInt, at: u32) -> Outcome<Option<Value>> {
        let own = &self.0;
        let is_zero = other.sign() == Sign::NoSign;
        let found = match name {
            "add" => own + other,
            "subtract" => own - other,
            "multiply" if own.bits() + other.bits() > BITS_MAX => return Err(too_large(at)),
            "multiply" => own * other,
            "divide" | "remainder" if is_zero => {
                return Err(ScriptError::new(at, "arithmetic_exception", "BigInteger divide by zero"));
            }
            "divide" => own / other,
            "remainder" => own % other,
            "mod" if other.sign() != Sign::Plus => {
                return Err(ScriptError::new(at, "arithmetic_exception", "BigInteger: modulus not positive"));
            }
            "mod" => ((own % other) + other) % other,
            "gcd" => greatest_divisor(own, other),
            "and" => own & other,
            "or" => own | other,
            "xor" => own ^ other,
            "andNot" => own & !other,
            "max" => own.max(other).clone(),
            "min" => own.min(other).clone(),
            _ => return Ok(None),
        };
        value(found, at).map(Some)
    }
}

fn greatest_divisor(one: &BigInt, other: &BigInt) -> BigInt {
    let (mut one, mut other) = (one.magnitude().clone(), other.magnitude().clone());
    while other.bits() > 0 {
        (one, other) = (other.clone(), one % other);
    }
    one.into()
}
