//! What there is for texts beside their own methods: builders, characters, numbers in other digits.

use std::cell::RefCell;
use std::rc::Rc;

use super::machine::Machine;
use crate::error::{Outcome, ScriptError};
use crate::types::Type;
use crate::values::Value;

/// What a static method of `Character` gives.
pub(super) fn character_returns(name: &str) -> Option<Type> {
    Some(match name {
        "isDigit" | "isLetter" | "isLetterOrDigit" | "isWhitespace" | "isUpperCase" | "isLowerCase"
        | "isAlphabetic" => Type::Bool,
        "toUpperCase" | "toLowerCase" => Type::Char,
        "getNumericValue" => Type::Int,
        "toString" => Type::Str,
        _ => return None,
    })
}

/// Static methods of characters and of numbers in other digits; `None`: there is none such here.
pub(super) fn static_call(class: &str, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    Ok(Some(match (class, name, arguments) {
        ("Character", name, [unit]) if name != "toString" => return Ok(character(name, unit)),
        ("Integer" | "Long", "parseInt" | "parseLong" | "valueOf", [text, radix]) => {
            let text = text.text();
            let refused = || {
                let reason = format!("For input string: \"{text}\"");
                ScriptError::new(at, "number_format_exception", reason)
            };
            let radix = radix_of(radix).ok_or_else(refused)?;
            let number = i64::from_str_radix(&text, radix).map_err(|_| refused())?;
            match class {
                "Integer" => Value::Int(i32::try_from(number).map_err(|_| refused())?),
                _ => Value::Long(number),
            }
        }
        ("Integer" | "Long", "toString", [number, radix]) => {
            Value::str(digits(number.i64(), radix_of(radix).unwrap_or(10)))
        }
        _ => return Ok(None),
    }))
}

fn radix_of(value: &Value) -> Option<u32> {
    u32::try_from(value.i64()).ok().filter(|radix| (2..=36).contains(radix))
}

fn digits(number: i64, radix: u32) -> String {
    let mut left = number.unsigned_abs();
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((left % u64::from(radix)) as u32, radix).unwrap_or('0'));
        left /= u64::from(radix);
        if left == 0 {
            break;
        }
    }
    digits.extend((number < 0).then_some('-'));
    digits.iter().rev().collect()
}

fn character(name: &str, unit: &Value) -> Option<Value> {
    let unit = match unit {
        Value::Str(text) => text.encode_utf16().next()?,
        other => other.i64() as u16,
    };
    let letter = char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER);
    let changed = |mut letters: Box<dyn Iterator<Item = char>>| {
        let one = letters.next().filter(|_| letters.next().is_none());
        Value::Char(one.and_then(|one| u16::try_from(u32::from(one)).ok()).unwrap_or(unit))
    };
    Some(match name {
        "isDigit" => Value::Bool(letter.is_numeric() && letter.is_alphanumeric() && letter.is_ascii_digit()),
        "isLetter" | "isAlphabetic" => Value::Bool(letter.is_alphabetic()),
        "isLetterOrDigit" => Value::Bool(letter.is_alphanumeric()),
        "isWhitespace" => Value::Bool(letter.is_whitespace() && letter != '\u{a0}'),
        "isUpperCase" => Value::Bool(letter.is_uppercase()),
        "isLowerCase" => Value::Bool(letter.is_lowercase()),
        "toUpperCase" => changed(Box::new(letter.to_uppercase())),
        "toLowerCase" => changed(Box::new(letter.to_lowercase())),
        "getNumericValue" => Value::Int(letter.to_digit(36).map_or(-1, |digit| digit as i32)),
        _ => return None,
    })
}

/// Methods of a `StringBuilder`; `None`: there is no such method.
pub(super) fn builder_method(
    machine: &mut impl Machine,
    target: &Value,
    text: &Rc<RefCell<String>>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    if let ("reverse", []) = (name, arguments) {
        let reversed = text.borrow().chars().rev().collect();
        *text.borrow_mut() = reversed;
        return Ok(Some(target.clone()));
    }
    let units = || text.borrow().encode_utf16().collect::<Vec<u16>>();
    let put = |units: &[u16]| *text.borrow_mut() = String::from_utf16_lossy(units);
    let place = |value: &Value, most: usize| {
        usize::try_from(value.i64()).ok().filter(|place| *place <= most).ok_or_else(|| {
            let reason = format!("index {},length {most}", value.i64());
            ScriptError::new(at, "string_index_out_of_bounds_exception", reason)
        })
    };
    Ok(Some(match (name, arguments) {
        ("append", [more]) => {
            let more = more.text();
            machine.grow(more.len(), at)?;
            text.borrow_mut().push_str(&more);
            target.clone()
        }
        ("insert", [index, more]) => {
            let (mut all, more) = (units(), more.text());
            machine.grow(more.len(), at)?;
            let index = place(index, all.len())?;
            all.splice(index..index, more.encode_utf16());
            put(&all);
            target.clone()
        }
        ("setLength", [length]) => {
            let mut all = units();
            let length = place(length, all.len())?;
            all.truncate(length);
            put(&all);
            Value::Null
        }
        ("deleteCharAt", [index]) => {
            let mut all = units();
            let index = place(index, all.len().saturating_sub(1))?;
            if index < all.len() {
                all.remove(index);
            }
            put(&all);
            target.clone()
        }
        ("delete", [start, end]) => {
            let mut all = units();
            let start = place(start, all.len())?;
            let end = usize::try_from(end.i64()).unwrap_or(0).clamp(start, all.len());
            all.drain(start..end);
            put(&all);
            target.clone()
        }
        ("charAt" | "indexOf" | "lastIndexOf" | "substring" | "isEmpty" | "length", _) => {
            let text = text.borrow().clone();
            return super::strings::string_method(&text, name, arguments, at);
        }
        _ => return Ok(None),
    }))
}
