//! `java.math.BigDecimal`: an unscaled whole number and how many of its digits stand after the point.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use limber_mapping::number::java_double;
use num_bigint::{BigInt, Sign};

use super::Class;
use super::big_integer::{self, BITS_MAX, BigInteger, check_digits, too_large};
use super::rounding::divided;
use crate::error::{Outcome, ScriptError};
use crate::values::{JavaObject, Value};

/// Digits that a scale may add or take away.
const SCALE_MAX: i64 = (BITS_MAX / 4) as i64;

const STATICS: &[(&str, usize)] = &[("valueOf", 1), ("valueOf", 2), ("ZERO", 0), ("ONE", 0), ("TEN", 0)];

pub(super) const CLASS: Class =
    Class { name: "BigDecimal", statics: STATICS, call: static_call, construct: Some(construct) };

#[derive(Debug, Clone, PartialEq)]
struct BigDecimal {
    unscaled: BigInt,
    scale: i64,
}

fn arithmetic(at: u32, reason: &str) -> ScriptError {
    ScriptError::new(at, "arithmetic_exception", reason)
}

fn ten_to(exponent: i64) -> BigInt {
    BigInt::from(10).pow(exponent.max(0) as u32)
}

fn value(number: BigDecimal, at: u32) -> Outcome<Value> {
    if number.unscaled.bits() > BITS_MAX || number.scale.abs() > SCALE_MAX {
        return Err(too_large(at));
    }
    Ok(Value::Object(Rc::new(number)))
}

fn static_call(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let whole = |number: i64, scale| BigDecimal { unscaled: BigInt::from(number), scale };
    let number = match (name, arguments) {
        ("ZERO", []) => whole(0, 0),
        ("ONE", []) => whole(1, 0),
        ("TEN", []) => whole(10, 0),
        ("valueOf", [Value::Double(number)]) => parse(&java_double(*number), at)?,
        ("valueOf", [Value::Float(number)]) => parse(&java_double(f64::from(*number)), at)?,
        ("valueOf", [number]) if number.is_number() => whole(number.i64(), 0),
        ("valueOf", [number, scale]) if number.is_number() => whole(number.i64(), scale.i64()),
        _ => return Ok(None),
    };
    value(number, at).map(Some)
}

fn construct(_: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let number = match arguments {
        [Value::Str(text)] => parse(text, at)?,
        [Value::Double(number)] => exact(*number, at)?,
        [Value::Float(number)] => exact(f64::from(*number), at)?,
        [number] if number.is_number() => BigDecimal { unscaled: BigInt::from(number.i64()), scale: 0 },
        [Value::Object(object)] => match object.as_any().downcast_ref::<BigInteger>() {
            Some(whole) => BigDecimal { unscaled: whole.0.clone(), scale: 0 },
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    value(number, at).map(Some)
}

/// `12.5e3` and the like.
fn parse(text: &str, at: u32) -> Outcome<BigDecimal> {
    let refused = || {
        let reason = match text.is_empty() {
            true => "Index 0 out of bounds for length 0".to_owned(),
            false => format!("Character array is missing \"exponent\" mark 'e' or 'E' in [{text}]."),
        };
        ScriptError::new(at, "number_format_exception", reason)
    };
    check_digits(text.len(), at)?;
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i64>().map_err(|_| refused())?),
        None => (text, 0),
    };
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let is_sound = after.bytes().all(|byte| byte.is_ascii_digit()) && !digits.contains('_');
    let joined = format!("{before}{after}");
    let unscaled = joined.parse::<BigInt>().ok().filter(|_| is_sound).ok_or_else(refused)?;
    let scale = after.len() as i64 - exponent;
    if scale.abs() > SCALE_MAX {
        return Err(too_large(at));
    }
    Ok(BigDecimal { unscaled, scale })
}

/// All digits that a double has in its binary form.
fn exact(number: f64, at: u32) -> Outcome<BigDecimal> {
    if !number.is_finite() {
        return Err(ScriptError::new(at, "number_format_exception", "Infinite or NaN"));
    }
    parse(format!("{number:.1074}").trim_end_matches('0').trim_end_matches('.'), at)
}

impl BigDecimal {
    /// Returns both numbers at the larger of their scales.
    fn aligned(&self, other: &BigDecimal) -> (BigInt, BigInt, i64) {
        let scale = self.scale.max(other.scale);
        let grown = |number: &BigDecimal| &number.unscaled * ten_to(scale - number.scale);
        (grown(self), grown(other), scale)
    }

    fn order(&self, other: &BigDecimal) -> Ordering {
        let (own, other, _) = self.aligned(other);
        own.cmp(&other)
    }

    /// Digits of the unscaled number; 1 for zero.
    fn precision(&self) -> i64 {
        self.unscaled.magnitude().to_string().len() as i64
    }

    fn rescaled(&self, scale: i64, mode: &str, at: u32) -> Outcome<BigDecimal> {
        if scale.abs() > SCALE_MAX {
            return Err(too_large(at));
        }
        let unscaled = match scale >= self.scale {
            true => &self.unscaled * ten_to(scale - self.scale),
            false => divided(&self.unscaled, &ten_to(self.scale - scale), mode)
                .ok_or_else(|| arithmetic(at, "Rounding necessary"))?,
        };
        Ok(BigDecimal { unscaled, scale })
    }

    fn divided_by(&self, other: &BigDecimal, scale: i64, mode: &str, at: u32) -> Outcome<BigDecimal> {
        if other.unscaled.sign() == Sign::NoSign {
            return Err(arithmetic(at, "/ by zero"));
        }
        let shift = scale + other.scale - self.scale;
        if shift.abs() > 2 * SCALE_MAX {
            return Err(too_large(at));
        }
        let dividend = &self.unscaled * ten_to(shift);
        let divisor = &other.unscaled * ten_to(-shift);
        let unscaled =
            divided(&dividend, &divisor, mode).ok_or_else(|| arithmetic(at, "Rounding necessary"))?;
        Ok(BigDecimal { unscaled, scale })
    }

    /// The exact quotient, with as few digits as it has but not less than the scales ask for.
    fn quotient(&self, other: &BigDecimal, at: u32) -> Outcome<BigDecimal> {
        let preferred = self.scale - other.scale;
        if other.unscaled.sign() == Sign::NoSign {
            let is_undefined = self.unscaled.sign() == Sign::NoSign;
            return Err(arithmetic(at, if is_undefined { "Division undefined" } else { "Division by zero" }));
        }
        // A decimal that ends has no more digits than this: Java's bound.
        let most = self.precision() + (10 * other.precision() + 2) / 3;
        let scale = preferred.max(0) + most;
        match self.divided_by(other, scale, "UNNECESSARY", at) {
            Ok(exact) => Ok(exact.stripped(preferred)),
            Err(_) if scale <= SCALE_MAX => {
                let reason = "Non-terminating decimal expansion; no exact representable decimal result.";
                Err(arithmetic(at, reason))
            }
            Err(error) => Err(error),
        }
    }

    /// Removes trailing zeros, down to the scale `least`.
    fn stripped(&self, least: i64) -> BigDecimal {
        let ten = BigInt::from(10);
        let mut number = self.clone();
        while number.scale > least && number.unscaled.sign() != Sign::NoSign {
            let shorter = &number.unscaled / &ten;
            if &shorter * &ten != number.unscaled {
                break;
            }
            number = BigDecimal { unscaled: shorter, scale: number.scale - 1 };
        }
        if number.unscaled.sign() == Sign::NoSign && number.scale > least.max(0) {
            number.scale = least.max(0);
        }
        number
    }

    fn plain(&self) -> String {
        let sign = if self.unscaled.sign() == Sign::Minus { "-" } else { "" };
        let digits = self.unscaled.magnitude().to_string();
        let Ok(after) = usize::try_from(self.scale) else {
            let zeros = if digits == "0" { 0 } else { self.scale.unsigned_abs() as usize };
            return format!("{sign}{digits}{}", "0".repeat(zeros));
        };
        if after == 0 {
            return format!("{sign}{digits}");
        }
        let padded = format!("{digits:0>width$}", width = after + 1);
        let (before, after) = padded.split_at(padded.len() - after);
        format!("{sign}{before}.{after}")
    }

    /// With an exponent where Java shows one.
    fn canonical(&self) -> String {
        let digits = self.unscaled.magnitude().to_string();
        let exponent = digits.len() as i64 - 1 - self.scale;
        if self.scale >= 0 && exponent >= -6 {
            return self.plain();
        }
        let sign = if self.unscaled.sign() == Sign::Minus { "-" } else { "" };
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{sign}{first}{point}{rest}E{exponent:+}")
    }

    fn whole(&self) -> BigInt {
        match self.scale <= 0 {
            true => &self.unscaled * ten_to(-self.scale),
            false => &self.unscaled / ten_to(self.scale),
        }
    }

    fn double(&self) -> f64 {
        format!("{}e{}", self.unscaled, -self.scale).parse().unwrap_or(f64::NAN)
    }

    /// Methods of another number.
    fn with(&self, name: &str, other: &BigDecimal, rest: &[Value], at: u32) -> Outcome<Option<Value>> {
        let found = match (name, rest) {
            ("add" | "subtract", []) => {
                let (own, other, scale) = self.aligned(other);
                let unscaled = if name == "add" { own + other } else { own - other };
                BigDecimal { unscaled, scale }
            }
            ("multiply", []) if self.unscaled.bits() + other.unscaled.bits() > BITS_MAX => {
                return Err(too_large(at));
            }
            ("multiply", []) => {
                let unscaled = &self.unscaled * &other.unscaled;
                BigDecimal { unscaled, scale: self.scale + other.scale }
            }
            ("divide", []) => self.quotient(other, at)?,
            ("divide", [Value::Str(mode)]) => self.divided_by(other, self.scale, mode, at)?,
            ("divide", [scale, Value::Str(mode)]) => self.divided_by(other, scale.i64(), mode, at)?,
            ("divideToIntegralValue", []) | ("remainder", []) => {
                let preferred = self.scale - other.scale;
                let whole = self.divided_by(other, 0, "DOWN", at)?;
                if name == "remainder" {
                    let (own, taken, scale) = self.aligned(&BigDecimal {
                        unscaled: &whole.unscaled * &other.unscaled,
                        scale: other.scale,
                    });
                    BigDecimal { unscaled: own - taken, scale }
                } else {
                    whole.rescaled(preferred.max(0), "DOWN", at)?
                }
            }
            ("max", []) => if self.order(other).is_ge() { self } else { other }.clone(),
            ("min", []) => if self.order(other).is_le() { self } else { other }.clone(),
            _ => return Ok(None),
        };
        value(found, at).map(Some)
    }
}

impl JavaObject for BigDecimal {
    fn class(&self) -> &'static str {
        "java.math.BigDecimal"
    }

    fn text(&self) -> String {
        self.canonical()
    }

    fn hash(&self) -> i32 {
        let unscaled = BigInteger(self.unscaled.clone()).hash();
        unscaled.wrapping_mul(31).wrapping_add(self.scale as i32)
    }

    fn equals(&self, other: &dyn JavaObject) -> bool {
        other.as_any().downcast_ref::<BigDecimal>() == Some(self)
    }

    fn compare(&self, other: &dyn JavaObject) -> Option<Ordering> {
        Some(self.order(other.as_any().downcast_ref::<BigDecimal>()?))
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        if let [Value::Object(other), rest @ ..] = arguments
            && let Some(other) = other.as_any().downcast_ref::<BigDecimal>()
        {
            return self.with(name, other, rest, at);
        }
        let made = |number| value(number, at);
        let moved = |by: i64| {
            let number = BigDecimal { unscaled: self.unscaled.clone(), scale: self.scale + by };
            if number.scale < 0 { number.rescaled(0, "UNNECESSARY", at) } else { Ok(number) }
        };
        Ok(Some(match (name, arguments) {
            ("negate", []) => made(BigDecimal { unscaled: -&self.unscaled, scale: self.scale })?,
            ("abs", []) => {
                let unscaled = BigInt::from(self.unscaled.magnitude().clone());
                made(BigDecimal { unscaled, scale: self.scale })?
            }
            ("plus", []) => made(self.clone())?,
            ("signum", []) => Value::Int(self.unscaled.cmp(&BigInt::ZERO) as i32),
            ("scale", []) => Value::Int(self.scale as i32),
            ("precision", []) => Value::Int(self.precision() as i32),
            ("unscaledValue", []) => big_integer::value(self.unscaled.clone(), at)?,
            ("setScale", [scale]) => made(self.rescaled(scale.i64(), "UNNECESSARY", at)?)?,
            ("setScale", [scale, Value::Str(mode)]) => made(self.rescaled(scale.i64(), mode, at)?)?,
            ("stripTrailingZeros", []) => made(self.stripped(-SCALE_MAX))?,
            ("movePointLeft", [by]) => made(moved(by.i64())?)?,
            ("movePointRight", [by]) => made(moved(-by.i64())?)?,
            ("scaleByPowerOfTen", [by]) => {
                made(BigDecimal { unscaled: self.unscaled.clone(), scale: self.scale - by.i64() })?
            }
            ("pow", [exponent]) => {
                let exponent = u32::try_from(exponent.i64()).ok().filter(|exponent| *exponent < 1_000_000);
                let exponent = exponent.ok_or_else(|| arithmetic(at, "Invalid operation"))?;
                if self.unscaled.bits().saturating_mul(u64::from(exponent)) > BITS_MAX {
                    return Err(too_large(at));
                }
                let unscaled = self.unscaled.pow(exponent);
                made(BigDecimal { unscaled, scale: self.scale * i64::from(exponent) })?
            }
            ("toPlainString", []) => Value::str(self.plain()),
            ("toEngineeringString", []) => Value::str(self.canonical()),
            ("toBigInteger", []) => big_integer::value(self.whole(), at)?,
            ("intValue", []) => Value::Int(big_integer::long_of(&self.whole()) as i32),
            ("longValue", []) => Value::Long(big_integer::long_of(&self.whole())),
            ("doubleValue", []) => Value::Double(self.double()),
            ("floatValue", []) => Value::Float(self.double() as f32),
            _ => return Ok(None),
        }))
    }

    fn number(&self) -> Option<f64> {
        Some(self.double())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
