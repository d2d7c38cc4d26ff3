//! `java.math.BigDecimal`: an unscaled whole number and how many of its digits stand after the point.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use limber_mapping::number::java_double;
use num_bigint::{BigInt, Sign};

use super::Class;
use super::big_integer::{self, BITS_MAX, BigInteger, arithmetic, check_digits, too_large};
use super::rounding::{MathContext, divided};
use crate::error::{Outcome, ScriptError};
use crate::values::{JavaObject, Value};

/// Maximum number of digits that a scale may add or remove.
const SCALE_MAX: i64 = (BITS_MAX / 4) as i64;

const STATICS: &[(&str, usize)] = &[("valueOf", 1), ("valueOf", 2)];
const CONSTANTS: &[&str] = &["ZERO", "ONE", "TEN"];

pub(super) const CLASS: Class = Class {
    name: "BigDecimal",
    constants: CONSTANTS,
    statics: STATICS,
    call: static_call,
    construct: Some(construct),
};

/// **Invariant**: at most [`BITS_MAX`] bits, and a scale of at most [`SCALE_MAX`] digits to either side, so
/// that differences and sums of scales are small numbers. [`BigDecimal::new`] is the only way to make one.
#[derive(Debug, Clone, PartialEq)]
struct BigDecimal {
    unscaled: BigInt,
    scale: i64,
}

/// Returns 10 to the power of `exponent`, or 1 if that is negative. Limits on scales keep the exponent small.
fn ten_to(exponent: i64) -> BigInt {
    BigInt::from(10).pow(exponent.clamp(0, 4 * SCALE_MAX) as u32)
}

fn value(number: BigDecimal) -> Value {
    Value::Object(Rc::new(number))
}

fn static_call(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let whole = |number: i64, scale: i64| BigDecimal::new(BigInt::from(number), i128::from(scale), at);
    let number = match (name, arguments) {
        ("ZERO", []) => whole(0, 0),
        ("ONE", []) => whole(1, 0),
        ("TEN", []) => whole(10, 0),
        ("valueOf", [Value::Double(number)]) => parse(&java_double(*number), at),
        ("valueOf", [Value::Float(number)]) => parse(&java_double(f64::from(*number)), at),
        ("valueOf", [number]) if number.is_number() => whole(number.i64(), 0),
        ("valueOf", [number, scale]) if number.is_number() => whole(number.i64(), scale.i64()),
        _ => return Ok(None),
    };
    number.map(value).map(Some)
}

fn construct(_: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let number = match arguments {
        [Value::Str(text)] => parse(text, at),
        [Value::Str(text), context] => match context.object() {
            Some(context) => parse(text, at)?.rounded(context, at),
            None => return Ok(None),
        },
        [Value::Double(number)] => exact(*number, at),
        [Value::Float(number)] => exact(f64::from(*number), at),
        [number] if number.is_number() => BigDecimal::new(BigInt::from(number.i64()), 0, at),
        [number, scale @ ..] if scale.len() <= 1 => match number.object() {
            Some(BigInteger(whole)) => {
                let scale = scale.first().map_or(0, Value::i64);
                BigDecimal::new(whole.clone(), i128::from(scale), at)
            }
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    number.map(value).map(Some)
}

/// Parses a number such as `12.5e3`.
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
    BigDecimal::new(unscaled, after.len() as i128 - i128::from(exponent), at)
}

/// Returns the exact value of a double, with all its digits.
fn exact(number: f64, at: u32) -> Outcome<BigDecimal> {
    if !number.is_finite() {
        return Err(ScriptError::new(at, "number_format_exception", "Infinite or NaN"));
    }
    parse(format!("{number:.1074}").trim_end_matches('0').trim_end_matches('.'), at)
}

impl BigDecimal {
    /// # Errors
    /// The number has too many digits, or would have with its scale.
    fn new(unscaled: BigInt, scale: i128, at: u32) -> Outcome<BigDecimal> {
        let known = i64::try_from(scale).ok().filter(|scale| (-SCALE_MAX..=SCALE_MAX).contains(scale));
        match known {
            Some(scale) if unscaled.bits() <= BITS_MAX => Ok(BigDecimal { unscaled, scale }),
            _ => Err(too_large(at)),
        }
    }

    fn wide_scale(&self) -> i128 {
        i128::from(self.scale)
    }

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
        // Refuses a scale that is too large before anything is computed with it.
        let scale = BigDecimal::new(BigInt::ZERO, i128::from(scale), at)?.scale;
        let unscaled = match scale >= self.scale {
            true => &self.unscaled * ten_to(scale - self.scale),
            false => divided(&self.unscaled, &ten_to(self.scale - scale), mode)
                .ok_or_else(|| arithmetic(at, "Rounding necessary"))?,
        };
        BigDecimal::new(unscaled, i128::from(scale), at)
    }

    fn divided_by(&self, other: &BigDecimal, scale: i64, mode: &str, at: u32) -> Outcome<BigDecimal> {
        if other.unscaled.sign() == Sign::NoSign {
            return Err(arithmetic(at, "/ by zero"));
        }
        let scale = BigDecimal::new(BigInt::ZERO, i128::from(scale), at)?.scale;
        let shift = scale + other.scale - self.scale;
        let dividend = &self.unscaled * ten_to(shift);
        let divisor = &other.unscaled * ten_to(-shift);
        let unscaled =
            divided(&dividend, &divisor, mode).ok_or_else(|| arithmetic(at, "Rounding necessary"))?;
        BigDecimal::new(unscaled, i128::from(scale), at)
    }

    /// Returns the exact quotient with as few digits as possible, but at least as many as the scales require.
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
            Ok(exact) => exact.stripped(preferred, at),
            Err(_) if scale <= SCALE_MAX => {
                let reason = "Non-terminating decimal expansion; no exact representable decimal result.";
                Err(arithmetic(at, reason))
            }
            Err(error) => Err(error),
        }
    }

    /// Removes trailing zeros, down to the scale `least`.
    fn stripped(&self, least: i64, at: u32) -> Outcome<BigDecimal> {
        if self.unscaled.sign() == Sign::NoSign {
            return BigDecimal::new(BigInt::ZERO, i128::from(least), at);
        }
        let digits = self.unscaled.magnitude().to_string();
        let zeros = (digits.len() - digits.trim_end_matches('0').len()) as i64;
        let removed = zeros.min(self.scale - least).max(0);
        BigDecimal::new(&self.unscaled / ten_to(removed), i128::from(self.scale - removed), at)
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

    /// Returns the number as text, with an exponent where Java shows one.
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

    /// Calls a method that takes another number.
    fn with(&self, name: &str, other: &BigDecimal, rest: &[Value], at: u32) -> Outcome<Option<Value>> {
        let found = match (name, rest) {
            ("add" | "subtract", []) => {
                let (own, other, scale) = self.aligned(other);
                let unscaled = if name == "add" { own + other } else { own - other };
                BigDecimal::new(unscaled, i128::from(scale), at)
            }
            ("multiply", []) => {
                let scale = self.wide_scale() + other.wide_scale();
                BigDecimal::new(&self.unscaled * &other.unscaled, scale, at)
            }
            ("divide", []) => self.quotient(other, at),
            ("divide", [Value::Str(mode)]) => self.divided_by(other, self.scale, mode, at),
            ("divide", [scale, Value::Str(mode)]) => self.divided_by(other, scale.i64(), mode, at),
            ("divideToIntegralValue" | "remainder", []) => {
                if other.unscaled.sign() == Sign::NoSign {
                    return Err(arithmetic(at, "Division by zero"));
                }
                let whole = self.divided_by(other, 0, "DOWN", at)?;
                if name == "remainder" {
                    let product = &whole.unscaled * &other.unscaled;
                    let taken = BigDecimal::new(product, other.wide_scale(), at)?;
                    let (own, taken, scale) = self.aligned(&taken);
                    BigDecimal::new(own - taken, i128::from(scale), at)
                } else {
                    let preferred = self.scale - other.scale;
                    match preferred >= 0 {
                        true => whole.rescaled(preferred, "DOWN", at),
                        false => whole.stripped(preferred, at),
                    }
                }
            }
            ("max", []) => Ok(if self.order(other).is_ge() { self } else { other }.clone()),
            ("min", []) => Ok(if self.order(other).is_le() { self } else { other }.clone()),
            _ => return Ok(None),
        };
        found.map(value).map(Some)
    }

    /// Returns the number with at most as many digits as a context allows.
    fn rounded(&self, context: &MathContext, at: u32) -> Outcome<BigDecimal> {
        let surplus = self.precision() - context.precision;
        if context.precision == 0 || surplus <= 0 {
            return Ok(self.clone());
        }
        let rounded = self.rescaled(self.scale - surplus, &context.mode, at)?;
        // 9.99 becomes 10.0.
        match rounded.precision() > context.precision {
            true => rounded.rescaled(rounded.scale - 1, "UNNECESSARY", at),
            false => Ok(rounded),
        }
    }

    /// Returns the quotient with as many digits as a context allows, or with fewer if it is exact.
    fn divided_in(&self, other: &BigDecimal, context: &MathContext, at: u32) -> Outcome<BigDecimal> {
        let preferred = self.scale - other.scale;
        let is_zero = |number: &BigDecimal| number.unscaled.sign() == Sign::NoSign;
        if context.precision == 0 || is_zero(other) {
            return self.quotient(other, at);
        }
        if is_zero(self) {
            return BigDecimal::new(BigInt::ZERO, i128::from(preferred), at);
        }
        // The quotient has this number of digits before its point, or one more.
        let whole = self.precision() - self.scale - (other.precision() - other.scale);
        let mut scale = context.precision - whole;
        if self.divided_by(other, scale, "DOWN", at)?.precision() > context.precision {
            scale -= 1;
        }
        if let Ok(exact) = self.divided_by(other, scale, "UNNECESSARY", at) {
            return exact.stripped(preferred, at);
        }
        self.divided_by(other, scale, &context.mode, at)?.rounded(context, at)
    }

    /// Calls a method whose result is rounded as a context says; `None` if there is no such method.
    fn in_context(
        &self,
        name: &str,
        arguments: &[Value],
        context: &MathContext,
        at: u32,
    ) -> Outcome<Option<Value>> {
        let exact = match (name, arguments) {
            ("divide", [other]) => {
                let Some(other) = other.object() else { return Ok(None) };
                return self.divided_in(other, context, at).map(value).map(Some);
            }
            ("round", []) => return self.rounded(context, at).map(value).map(Some),
            ("add" | "subtract" | "multiply", [_]) | ("abs" | "negate" | "plus", []) => {
                self.call(name, arguments, at)?
            }
            _ => None,
        };
        match exact.as_ref().and_then(Value::object::<BigDecimal>) {
            Some(exact) => exact.rounded(context, at).map(value).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the same digits with another scale; a negative scale becomes 0.
    fn moved(&self, scale: i128, at: u32) -> Outcome<BigDecimal> {
        let number = BigDecimal::new(self.unscaled.clone(), scale, at)?;
        if number.scale < 0 { number.rescaled(0, "UNNECESSARY", at) } else { Ok(number) }
    }
}

impl JavaObject for BigDecimal {
    fn class(&self) -> &'static str {
        "java.math.BigDecimal"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        out.push_str(&self.canonical());
    }

    fn bytes(&self) -> usize {
        size_of_val(self) + big_integer::bytes_of(&self.unscaled)
    }

    fn steps(&self) -> usize {
        // Arithmetic may add as many digits as the scale says.
        big_integer::steps_of(&self.unscaled) + self.scale.unsigned_abs() as usize
    }

    fn hash(&self) -> i32 {
        let unscaled = BigInteger(self.unscaled.clone()).hash();
        unscaled.wrapping_mul(31).wrapping_add(self.scale as i32)
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<BigDecimal>() == Some(self)
    }

    fn compare(&self, other: &dyn JavaObject) -> Option<Ordering> {
        Some(self.order(other.as_any().downcast_ref::<BigDecimal>()?))
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        if let [before @ .., context] = arguments
            && let Some(context) = context.object()
        {
            return self.in_context(name, before, context, at);
        }
        if let [other, rest @ ..] = arguments
            && let Some(other) = other.object()
        {
            return self.with(name, other, rest, at);
        }
        let same_scale = |unscaled: BigInt| BigDecimal::new(unscaled, self.wide_scale(), at).map(value);
        let rescaled = |scale: &Value, mode: &str| self.rescaled(scale.i64(), mode, at).map(value);
        Ok(Some(match (name, arguments) {
            ("negate", []) => same_scale(-&self.unscaled)?,
            ("abs", []) => same_scale(self.unscaled.magnitude().clone().into())?,
            ("plus", []) => same_scale(self.unscaled.clone())?,
            ("signum", []) => Value::Int(self.unscaled.cmp(&BigInt::ZERO) as i32),
            ("scale", []) => Value::Int(self.scale as i32),
            ("precision", []) => Value::Int(self.precision() as i32),
            ("unscaledValue", []) => big_integer::value(self.unscaled.clone(), at)?,
            ("setScale", [scale]) => rescaled(scale, "UNNECESSARY")?,
            ("setScale", [scale, Value::Str(mode)]) => rescaled(scale, mode)?,
            ("stripTrailingZeros", []) if self.unscaled.sign() == Sign::NoSign => {
                value(BigDecimal::new(BigInt::ZERO, 0, at)?)
            }
            ("stripTrailingZeros", []) => value(self.stripped(-SCALE_MAX, at)?),
            ("movePointLeft", [by]) => value(self.moved(self.wide_scale() + i128::from(by.i64()), at)?),
            ("movePointRight", [by]) => value(self.moved(self.wide_scale() - i128::from(by.i64()), at)?),
            ("scaleByPowerOfTen", [by]) => {
                let scale = self.wide_scale() - i128::from(by.i64());
                value(BigDecimal::new(self.unscaled.clone(), scale, at)?)
            }
            ("pow", [exponent]) => {
                let exponent = u32::try_from(exponent.i64()).ok().filter(|exponent| *exponent <= 999_999_999);
                let exponent = exponent.ok_or_else(|| arithmetic(at, "Invalid operation"))?;
                let scale = self.wide_scale() * i128::from(exponent);
                // Refuses too large a scale and too many digits before the power is computed.
                BigDecimal::new(BigInt::ZERO, scale, at)?;
                value(BigDecimal::new(big_integer::power_of(&self.unscaled, exponent, at)?, scale, at)?)
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
