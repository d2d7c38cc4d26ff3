//! Static members of the classes of numbers: their bits, their unsigned forms, and their limits.
//!
//! Source: Painless' allow list of `java.lang`.

use crate::error::{Outcome, ScriptError};
use crate::types::{Literal, Type};
use crate::values::Value;

/// Returns a constant of a class of numbers, characters or booleans.
pub(crate) fn constant(class: &str, name: &str) -> Option<Literal> {
    Some(match (class, name) {
        ("Boolean", "TRUE") => Literal::Bool(true),
        ("Boolean", "FALSE") => Literal::Bool(false),
        ("Byte", "MIN_VALUE") => Literal::Int(i8::MIN.into()),
        ("Byte", "MAX_VALUE") => Literal::Int(i8::MAX.into()),
        ("Short", "MIN_VALUE") => Literal::Int(i16::MIN.into()),
        ("Short", "MAX_VALUE") => Literal::Int(i16::MAX.into()),
        ("Byte", "BYTES") => Literal::Int(1),
        ("Short" | "Character", "BYTES") => Literal::Int(2),
        ("Integer" | "Float", "BYTES") => Literal::Int(4),
        ("Long" | "Double", "BYTES") => Literal::Int(8),
        ("Byte", "SIZE") => Literal::Int(8),
        ("Short" | "Character", "SIZE") => Literal::Int(16),
        ("Integer" | "Float", "SIZE") => Literal::Int(32),
        ("Long" | "Double", "SIZE") => Literal::Int(64),
        ("Double", "MIN_NORMAL") => Literal::Double(f64::MIN_POSITIVE),
        ("Double", "MAX_EXPONENT") => Literal::Int(1023),
        ("Double", "MIN_EXPONENT") => Literal::Int(-1022),
        ("Float", "MIN_NORMAL") => Literal::Float(f32::MIN_POSITIVE),
        ("Float", "MIN_VALUE") => Literal::Float(f32::from_bits(1)),
        ("Float", "POSITIVE_INFINITY") => Literal::Float(f32::INFINITY),
        ("Float", "NEGATIVE_INFINITY") => Literal::Float(f32::NEG_INFINITY),
        ("Float", "NaN") => Literal::Float(f32::NAN),
        ("Character", "MIN_CODE_POINT") => Literal::Int(0),
        ("Character", "MAX_CODE_POINT") => Literal::Int(0x10_FFFF),
        ("Character", "MIN_SUPPLEMENTARY_CODE_POINT") => Literal::Int(0x1_0000),
        ("Character", "MIN_RADIX") => Literal::Int(2),
        ("Character", "MAX_RADIX") => Literal::Int(36),
        ("Float", "MAX_EXPONENT") => Literal::Int(127),
        ("Float", "MIN_EXPONENT") => Literal::Int(-126),
        _ => return None,
    })
}

/// Returns the type of a static method's result; `None` if there is no such method here.
pub(super) fn returns(class: &str, name: &str, count: usize) -> Option<Type> {
    let whole = match class {
        "Integer" => Type::Int,
        "Long" => Type::Long,
        _ => Type::Def,
    };
    Some(match (class, name, count) {
        ("Integer" | "Long", "highestOneBit" | "lowestOneBit" | "reverse" | "reverseBytes" | "decode", 1)
        | ("Integer" | "Long", "rotateLeft" | "rotateRight" | "divideUnsigned" | "remainderUnsigned", 2) => {
            whole
        }
        ("Integer" | "Long", "numberOfLeadingZeros" | "numberOfTrailingZeros" | "signum", 1)
        | ("Integer" | "Long", "compareUnsigned", 2) => Type::Int,
        ("Integer" | "Long", "toOctalString" | "toUnsignedString", 1) => Type::Str,
        ("Byte" | "Short", "parseByte" | "parseShort" | "valueOf", 1 | 2)
        | ("Byte" | "Short", "decode" | "hashCode" | "toUnsignedInt", 1)
        | ("Byte" | "Short", "compare", 2)
        | ("Short", "reverseBytes", 1) => Type::Int,
        ("Byte" | "Short", "toUnsignedLong", 1) => Type::Long,
        ("Byte" | "Short", "toString", 1) | ("Integer" | "Long", "toUnsignedString", 2) => Type::Str,
        ("Integer", "parseUnsignedInt", 2) => Type::Int,
        ("Long", "parseUnsignedLong", 2) => Type::Long,
        ("Integer", "parseUnsignedInt", 1) => Type::Int,
        ("Long", "parseUnsignedLong", 1) | ("Integer", "toUnsignedLong", 1) => Type::Long,
        ("Integer" | "Long" | "Double" | "Float" | "Boolean", "hashCode", 1) => Type::Int,
        ("Boolean", "logicalAnd" | "logicalOr" | "logicalXor", 2) => Type::Bool,
        ("Boolean" | "Float", "compare", 2) => Type::Int,
        ("Float", "max" | "min" | "sum", 2) => Type::Float,
        ("Float", "isNaN" | "isInfinite" | "isFinite", 1) => Type::Bool,
        ("Double", "doubleToLongBits" | "doubleToRawLongBits", 1) => Type::Long,
        ("Double", "longBitsToDouble", 1) => Type::Double,
        ("Float", "floatToIntBits" | "floatToRawIntBits", 1) => Type::Int,
        ("Float", "intBitsToFloat", 1) => Type::Float,
        ("Math", "nextUp" | "nextDown", 1) | ("Math", "nextAfter" | "scalb", 2) => Type::Double,
        _ => return None,
    })
}

/// Calls a static method; `None` if there is no such method here.
pub(super) fn call(class: &str, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    Ok(match (class, arguments) {
        ("Integer", [number, rest @ ..]) => match integer(name, number, rest, at)? {
            None => hash(name, number, rest),
            found => found,
        },
        ("Long", [number, rest @ ..]) => match long(name, number, rest, at)? {
            None => hash(name, number, rest),
            found => found,
        },
        ("Boolean", [left, right]) => boolean(name, left, right),
        ("Double" | "Float" | "Boolean", [number, rest @ ..]) => match floating(class, name, number, rest) {
            None => hash(name, number, rest),
            found => found,
        },
        ("Byte" | "Short", [number, rest @ ..]) => small(class, name, number, rest, at)?,
        ("Math", [number, rest @ ..]) => neighbour(name, number.f64(), rest),
        _ => None,
    })
}

fn hash(name: &str, value: &Value, rest: &[Value]) -> Option<Value> {
    (name == "hashCode" && rest.is_empty()).then(|| Value::Int(value.hash()))
}

/// Reads a whole number as `decode` does: with a sign, and `0x`, `#` or `0` before its digits.
fn decoded(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = ["0x", "0X", "#"].into_iter().find_map(|prefix| digits.strip_prefix(prefix));
    let (digits, radix) = match hexadecimal {
        Some(digits) => (digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        None => (digits, 10),
    };
    match digits.starts_with(['+', '-']) {
        true => None,
        false => i64::from_str_radix(&format!("{sign}{digits}"), radix).ok(),
    }
}

fn divided_by_zero(at: u32) -> ScriptError {
    ScriptError::new(at, "arithmetic_exception", "/ by zero")
}

fn integer(name: &str, number: &Value, rest: &[Value], at: u32) -> Outcome<Option<Value>> {
    let text = || number.text();
    let own = number.i64() as i32;
    let bits = own as u32;
    Ok(Some(match (name, rest) {
        ("highestOneBit", []) if bits == 0 => Value::Int(0),
        ("highestOneBit", []) => Value::Int((1u32 << (31 - bits.leading_zeros())) as i32),
        ("lowestOneBit", []) => Value::Int(own & own.wrapping_neg()),
        ("reverse", []) => Value::Int(own.reverse_bits()),
        ("reverseBytes", []) => Value::Int(own.swap_bytes()),
        ("numberOfLeadingZeros", []) => Value::Int(bits.leading_zeros() as i32),
        ("numberOfTrailingZeros", []) => Value::Int(bits.trailing_zeros() as i32),
        ("signum", []) => Value::Int(own.signum()),
        ("toOctalString", []) => Value::str(format!("{bits:o}")),
        ("toUnsignedString", []) => Value::str(bits.to_string()),
        ("toUnsignedLong", []) => Value::Long(bits.into()),
        ("decode", []) => {
            let text = text();
            let number = decoded(&text).and_then(|number| i32::try_from(number).ok());
            Value::Int(number.ok_or_else(|| ScriptError::number_format(at, &text))?)
        }
        ("parseUnsignedInt", []) => {
            let text = text();
            Value::Int(text.parse::<u32>().map_err(|_| ScriptError::number_format(at, &text))? as i32)
        }
        ("parseUnsignedInt", [radix]) => {
            let text = text();
            let number = u32::try_from(unsigned(&text, radix, at)?);
            Value::Int(number.map_err(|_| ScriptError::number_format(at, &text))? as i32)
        }
        ("toUnsignedString", [radix]) => unsigned_text(bits.into(), radix),
        ("rotateLeft", [count]) => Value::Int(own.rotate_left(count.i64() as u32 & 31)),
        ("rotateRight", [count]) => Value::Int(own.rotate_right(count.i64() as u32 & 31)),
        ("compareUnsigned", [other]) => Value::Int(bits.cmp(&(other.i64() as u32)) as i32),
        ("divideUnsigned", [other]) => {
            let quotient = bits.checked_div(other.i64() as u32);
            Value::Int(quotient.ok_or_else(|| divided_by_zero(at))? as i32)
        }
        ("remainderUnsigned", [other]) => {
            let remainder = bits.checked_rem(other.i64() as u32);
            Value::Int(remainder.ok_or_else(|| divided_by_zero(at))? as i32)
        }
        _ => return Ok(None),
    }))
}

fn long(name: &str, number: &Value, rest: &[Value], at: u32) -> Outcome<Option<Value>> {
    let text = || number.text();
    let own = number.i64();
    let bits = own as u64;
    Ok(Some(match (name, rest) {
        ("highestOneBit", []) if bits == 0 => Value::Long(0),
        ("highestOneBit", []) => Value::Long((1u64 << (63 - bits.leading_zeros())) as i64),
        ("lowestOneBit", []) => Value::Long(own & own.wrapping_neg()),
        ("reverse", []) => Value::Long(own.reverse_bits()),
        ("reverseBytes", []) => Value::Long(own.swap_bytes()),
        ("numberOfLeadingZeros", []) => Value::Int(bits.leading_zeros() as i32),
        ("numberOfTrailingZeros", []) => Value::Int(bits.trailing_zeros() as i32),
        ("signum", []) => Value::Int(own.signum() as i32),
        ("toOctalString", []) => Value::str(format!("{bits:o}")),
        ("toUnsignedString", []) => Value::str(bits.to_string()),
        ("decode", []) => {
            let text = text();
            Value::Long(decoded(&text).ok_or_else(|| ScriptError::number_format(at, &text))?)
        }
        ("parseUnsignedLong", []) => {
            let text = text();
            Value::Long(text.parse::<u64>().map_err(|_| ScriptError::number_format(at, &text))? as i64)
        }
        ("parseUnsignedLong", [radix]) => Value::Long(unsigned(&text(), radix, at)? as i64),
        ("toUnsignedString", [radix]) => unsigned_text(bits, radix),
        ("rotateLeft", [count]) => Value::Long(own.rotate_left(count.i64() as u32 & 63)),
        ("rotateRight", [count]) => Value::Long(own.rotate_right(count.i64() as u32 & 63)),
        ("compareUnsigned", [other]) => Value::Int(bits.cmp(&(other.i64() as u64)) as i32),
        ("divideUnsigned", [other]) => {
            let quotient = bits.checked_div(other.i64() as u64);
            Value::Long(quotient.ok_or_else(|| divided_by_zero(at))? as i64)
        }
        ("remainderUnsigned", [other]) => {
            let remainder = bits.checked_rem(other.i64() as u64);
            Value::Long(remainder.ok_or_else(|| divided_by_zero(at))? as i64)
        }
        _ => return Ok(None),
    }))
}

/// Calls a static method of `Byte` or `Short`.
fn small(class: &str, name: &str, number: &Value, rest: &[Value], at: u32) -> Outcome<Option<Value>> {
    let is_byte = class == "Byte";
    let mask = if is_byte { 0xFF } else { 0xFFFF };
    let (least, most) = match is_byte {
        true => (i64::from(i8::MIN), i64::from(i8::MAX)),
        false => (i64::from(i16::MIN), i64::from(i16::MAX)),
    };
    let text = number.text();
    let fitting = |number: Option<i64>| {
        let number = number.filter(|number| (least..=most).contains(number));
        number.map(|number| Value::Int(number as i32)).ok_or_else(|| ScriptError::number_format(at, &text))
    };
    Ok(Some(match (name, rest) {
        ("valueOf", []) if number.is_number() => number.clone(),
        ("parseByte" | "parseShort" | "valueOf", []) => fitting(text.parse().ok())?,
        ("parseByte" | "parseShort" | "valueOf", [radix]) => {
            let radix = u32::try_from(radix.i64()).ok().filter(|radix| (2..=36).contains(radix));
            fitting(radix.and_then(|radix| i64::from_str_radix(&text, radix).ok()))?
        }
        ("decode", []) => fitting(decoded(&text))?,
        ("hashCode", []) => Value::Int(number.i64() as i32),
        ("toUnsignedInt", []) => Value::Int((number.i64() & mask) as i32),
        ("toUnsignedLong", []) => Value::Long(number.i64() & mask),
        ("reverseBytes", []) => Value::Int((number.i64() as i16).swap_bytes().into()),
        ("toString", []) => Value::str(text),
        ("compare", [other]) => {
            Value::Int(number.i64().saturating_sub(other.i64()).clamp(-mask, mask) as i32)
        }
        _ => return Ok(None),
    }))
}

/// Reads a whole number without a sign in another base.
fn unsigned(text: &str, radix: &Value, at: u32) -> Outcome<u64> {
    let radix = u32::try_from(radix.i64()).ok().filter(|radix| (2..=36).contains(radix));
    let number = radix.and_then(|radix| u64::from_str_radix(text, radix).ok());
    number.ok_or_else(|| ScriptError::number_format(at, text))
}

/// Writes a whole number without a sign in another base; 10 takes the place of one that does not exist.
fn unsigned_text(mut number: u64, radix: &Value) -> Value {
    let radix = u32::try_from(radix.i64()).ok().filter(|radix| (2..=36).contains(radix)).unwrap_or(10);
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((number % u64::from(radix)) as u32, radix).unwrap_or('0'));
        number /= u64::from(radix);
        if number == 0 {
            return Value::str(digits.iter().rev().collect::<String>());
        }
    }
}

fn boolean(name: &str, left: &Value, right: &Value) -> Option<Value> {
    let (Value::Bool(left), Value::Bool(right)) = (left, right) else { return None };
    Some(match name {
        "logicalAnd" => Value::Bool(left & right),
        "logicalOr" => Value::Bool(left | right),
        "logicalXor" => Value::Bool(left ^ right),
        "compare" => Value::Int(left.cmp(right) as i32),
        _ => return None,
    })
}

fn floating(class: &str, name: &str, number: &Value, rest: &[Value]) -> Option<Value> {
    let float = number.f64() as f32;
    Some(match (class, name, rest) {
        ("Float", "isNaN", []) => Value::Bool(float.is_nan()),
        ("Float", "isInfinite", []) => Value::Bool(float.is_infinite()),
        ("Float", "isFinite", []) => Value::Bool(float.is_finite()),
        ("Float", "floatToIntBits" | "floatToRawIntBits", []) => Value::Int(float.to_bits() as i32),
        ("Float", "intBitsToFloat", []) => Value::Float(f32::from_bits(number.i64() as i32 as u32)),
        ("Float", "max", [other]) => Value::Float(float.max(other.f64() as f32)),
        ("Float", "min", [other]) => Value::Float(float.min(other.f64() as f32)),
        ("Float", "sum", [other]) => Value::Float(float + other.f64() as f32),
        ("Double", "doubleToLongBits" | "doubleToRawLongBits", []) => {
            Value::Long(number.f64().to_bits() as i64)
        }
        ("Double", "longBitsToDouble", []) => Value::Double(f64::from_bits(number.i64() as u64)),
        _ => return None,
    })
}

/// Calls a method of `Math` for the numbers next to another one, or for powers of two.
fn neighbour(name: &str, number: f64, rest: &[Value]) -> Option<Value> {
    Some(Value::Double(match (name, rest) {
        ("nextUp", []) => number.next_up(),
        ("nextDown", []) => number.next_down(),
        ("nextAfter", [other]) => {
            let other = other.f64();
            match number.partial_cmp(&other) {
                Some(std::cmp::Ordering::Less) => number.next_up(),
                Some(std::cmp::Ordering::Greater) => number.next_down(),
                Some(std::cmp::Ordering::Equal) => other,
                None => f64::NAN,
            }
        }
        // Beyond these powers every number is zero or infinite.
        ("scalb", [power]) => number * 2f64.powi(power.i64().clamp(-1074, 1023) as i32),
        _ => return None,
    }))
}
