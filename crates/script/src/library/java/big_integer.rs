//! `java.math.BigInteger`.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use limber_mapping::RequestError;
use limber_work as work;
use num_bigint::{BigInt, Sign};

use super::Class;
use crate::error::{Outcome, ScriptError};
use crate::values::{JavaObject, Value};

/// Maximum bits of a number: arithmetic on longer ones would run too long without a check for cancellation.
pub(super) const BITS_MAX: u64 = 1 << 17;

/// Number of divisions between two checks for cancellation; divisions of long numbers take some milliseconds
/// in between.
const DIVISIONS_PER_CHECK: u32 = 1 << 10;

const STATICS: &[(&str, usize)] = &[("valueOf", 1)];
const CONSTANTS: &[&str] = &["ZERO", "ONE", "TWO", "TEN"];

pub(super) const CLASS: Class = Class {
    name: "BigInteger",
    constants: CONSTANTS,
    statics: STATICS,
    call: static_call,
    construct: Some(construct),
};

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
    let refused = || match text.is_empty() {
        true => ScriptError::new(at, "number_format_exception", "Zero length BigInteger"),
        false => ScriptError::number_format(at, text),
    };
    if !(2..=36).contains(&radix) {
        return Err(ScriptError::new(at, "number_format_exception", "Radix out of range"));
    }
    check_digits(text.len(), at)?;
    let number = BigInt::parse_bytes(text.as_bytes(), radix).filter(|_| !text.contains('_'));
    value(number.ok_or_else(refused)?, at).map(Some)
}

/// Refuses text with so many digits that the number would have too many bits.
pub(super) fn check_digits(count: usize, at: u32) -> Outcome<()> {
    if count as u64 * 3 > BITS_MAX {
        return Err(too_large(at));
    }
    Ok(())
}

pub(super) fn too_large(at: u32) -> ScriptError {
    arithmetic(at, "BigInteger would overflow supported range")
}

/// Converts the number to a value, unless it is too large.
pub(super) fn value(number: BigInt, at: u32) -> Outcome<Value> {
    if number.bits() > BITS_MAX {
        return Err(too_large(at));
    }
    Ok(Value::Object(Rc::new(BigInteger(number))))
}

/// Returns the number's lowest 64 bits, as Java's `longValue` does.
pub(super) fn long_of(number: &BigInt) -> i64 {
    let lowest = number.magnitude().iter_u64_digits().next().unwrap_or(0);
    let lowest = lowest as i64;
    if number.sign() == Sign::Minus { lowest.wrapping_neg() } else { lowest }
}

/// Returns the double nearest to it.
pub(super) fn double_of(number: &BigInt) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}

/// Returns the bytes of a number's digits.
pub(super) fn bytes_of(number: &BigInt) -> usize {
    (number.bits() / 8) as usize
}

/// Returns the time of arithmetic on the number, which is quadratic in its digits.
pub(super) fn steps_of(number: &BigInt) -> usize {
    let words = (number.bits() / 64) as usize;
    1 + words * words / 8
}

impl JavaObject for BigInteger {
    fn class(&self) -> &'static str {
        "java.math.BigInteger"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        out.push_str(&self.0.to_string());
    }

    fn bytes(&self) -> usize {
        size_of_val(self) + bytes_of(&self.0)
    }

    fn steps(&self) -> usize {
        steps_of(&self.0)
    }

    fn hash(&self) -> i32 {
        let words = self.0.magnitude().to_u32_digits();
        let hash =
            words.iter().rev().fold(0i32, |hash, word| hash.wrapping_mul(31).wrapping_add(*word as i32));
        if self.0.sign() == Sign::Minus { hash.wrapping_neg() } else { hash }
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<BigInteger>().is_some_and(|other| other.0 == self.0)
    }

    fn compare(&self, other: &dyn JavaObject) -> Option<Ordering> {
        Some(self.0.cmp(&other.as_any().downcast_ref::<BigInteger>()?.0))
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        if let [other] = arguments
            && let Some(BigInteger(other)) = other.object()
        {
            return self.with(name, other, at);
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
            ("testBit", [place]) => match u64::try_from(place.i64()) {
                Ok(place) => Value::Bool(own.bit(place)),
                Err(_) => return Err(arithmetic(at, "Negative bit address")),
            },
            ("sqrt", []) if own.sign() == Sign::Minus => {
                return Err(arithmetic(at, "Negative BigInteger"));
            }
            ("sqrt", []) => value(own.sqrt(), at)?,
            ("pow", [exponent]) => power(own, exponent, at)?,
            ("shiftLeft" | "shiftRight", [count]) => {
                let goes_left = (name == "shiftLeft") == (count.i64() >= 0);
                value(shifted(own, goes_left, count.i64().unsigned_abs(), at)?, at)?
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

pub(super) fn arithmetic(at: u32, reason: &str) -> ScriptError {
    ScriptError::new(at, "arithmetic_exception", reason)
}

fn out_of_range(kind: &str, at: u32) -> ScriptError {
    arithmetic(at, &format!("BigInteger out of {kind} range"))
}

/// Returns the number with its bits shifted; a shift to the right fills the free bits with the sign.
fn shifted(number: &BigInt, goes_left: bool, count: u64, at: u32) -> Outcome<BigInt> {
    match goes_left {
        true if number.sign() == Sign::NoSign => Ok(BigInt::ZERO),
        true if count > BITS_MAX => Err(too_large(at)),
        true => Ok(number << count),
        false if count > number.bits() => Ok(BigInt::from(if number.sign() == Sign::Minus { -1 } else { 0 })),
        false => Ok(number >> count),
    }
}

fn power(base: &BigInt, exponent: &Value, at: u32) -> Outcome<Value> {
    let Ok(exponent) = u32::try_from(exponent.i64()) else {
        return Err(arithmetic(at, "Negative exponent"));
    };
    value(power_of(base, exponent, at)?, at)
}

/// # Errors
/// The power is too large.
pub(super) fn power_of(base: &BigInt, exponent: u32, at: u32) -> Outcome<BigInt> {
    // 0, 1 and -1 have one bit at most, whatever the exponent.
    let is_small = base.bits() <= 1;
    if !is_small && (base.bits() - 1).saturating_mul(u64::from(exponent)) > BITS_MAX {
        return Err(too_large(at));
    }
    Ok(base.pow(exponent))
}

impl BigInteger {
    /// Calls a method that takes another number.
    fn with(&self, name: &str, other: &BigInt, at: u32) -> Outcome<Option<Value>> {
        let own = &self.0;
        let is_zero = other.sign() == Sign::NoSign;
        let found = match name {
            "add" => own + other,
            "subtract" => own - other,
            "multiply" if own.bits() + other.bits() > BITS_MAX => return Err(too_large(at)),
            "multiply" => own * other,
            "divide" | "remainder" if is_zero => {
                return Err(arithmetic(at, "BigInteger divide by zero"));
            }
            "divide" => own / other,
            "remainder" => own % other,
            "mod" if other.sign() != Sign::Plus => {
                return Err(arithmetic(at, "BigInteger: modulus not positive"));
            }
            "mod" => ((own % other) + other) % other,
            "gcd" => greatest_divisor(own, other)?,
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

fn greatest_divisor(one: &BigInt, other: &BigInt) -> Outcome<BigInt> {
    let (mut one, mut other) = (one.magnitude().clone(), other.magnitude().clone());
    let mut steps = 0u32;
    while other.bits() > 0 {
        one %= &other;
        std::mem::swap(&mut one, &mut other);
        steps += 1;
        if steps.is_multiple_of(DIVISIONS_PER_CHECK) {
            work::check_beyond_deadline().map_err(RequestError::from)?;
        }
    }
    Ok(one.into())
}
