//! Methods of strings. Positions are UTF-16 units, as in Java.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

use crate::error::{Outcome, ScriptError, failed};
use crate::values::{Value, argument};

/// Calls a method of a string; `None` if there is no such method.
pub(crate) fn string_method(text: &str, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let units = || text.encode_utf16().collect::<Vec<u16>>();
    let cut = |start: usize, end: usize| {
        let units = units();
        if start > end || end > units.len() {
            return Err(ScriptError::new(
                at,
                "string_index_out_of_bounds_exception",
                format!("begin {start}, end {end}, length {}", units.len()),
            ));
        }
        Ok(Value::str(String::from_utf16_lossy(&units[start..end])))
    };
    let position = |found: Option<usize>| {
        Value::Int(found.map_or(-1, |bytes| text[..bytes].encode_utf16().count() as i32))
    };
    Ok(Some(match (name, arguments) {
        ("length", []) => Value::Int(text.encode_utf16().count() as i32),
        ("isEmpty", []) => Value::Bool(text.is_empty()),
        ("toUpperCase", []) => Value::str(text.to_uppercase()),
        ("toLowerCase", []) => Value::str(text.to_lowercase()),
        // Java's `trim` removes all characters up to the space.
        ("trim", []) => Value::str(text.trim_matches(|unit: char| unit <= ' ')),
        ("encodeBase64", []) => Value::str(STANDARD.encode(text)),
        ("decodeBase64", []) => {
            let bytes = STANDARD.decode(text).or_else(|_| STANDARD_NO_PAD.decode(text));
            let bytes = bytes.map_err(|_| ScriptError::argument(at, no_base64(text)))?;
            Value::str(String::from_utf8_lossy(&bytes))
        }
        ("concat", [other]) => Value::str(text.to_owned() + &other.text()),
        ("contains", [other]) => Value::Bool(text.contains(&other.text())),
        ("startsWith", [other]) => Value::Bool(text.starts_with(&other.text())),
        ("startsWith", [other, offset]) => {
            let units = units();
            let prefix: Vec<u16> = other.text().encode_utf16().collect();
            let offset = unit_index(offset, at)?;
            Value::Bool(units.get(offset..).is_some_and(|rest| rest.starts_with(&prefix)))
        }
        ("endsWith", [other]) => Value::Bool(text.ends_with(&other.text())),
        ("equalsIgnoreCase", [other]) => Value::Bool(text.to_lowercase() == other.text().to_lowercase()),
        ("compareTo", [Value::Str(other)]) => Value::Int(compare(text, other)),
        ("compareToIgnoreCase", [Value::Str(other)]) => {
            Value::Int(compare(&text.to_lowercase(), &other.to_lowercase()))
        }
        ("indexOf", [other]) => position(text.find(&other.text())),
        ("indexOf", [other, from]) => {
            let from = usize::try_from(from.i64()).unwrap_or(0);
            let bytes = text
                .char_indices()
                .map(|(bytes, _)| bytes)
                .find(|bytes| text[..*bytes].encode_utf16().count() >= from);
            let found = bytes.and_then(|bytes| text[bytes..].find(&other.text()).map(|found| bytes + found));
            position(found)
        }
        ("lastIndexOf", [other]) => position(text.rfind(&other.text())),
        ("lastIndexOf", [other, from]) => {
            let (units, wanted): (_, Vec<u16>) = (units(), other.text().encode_utf16().collect());
            // Where the last occurrence may begin. There is no occurrence before the string's start.
            let last = from.i64().min(units.len() as i64 - wanted.len() as i64);
            let mut starts = (0..usize::try_from(last.saturating_add(1)).unwrap_or(0)).rev();
            let found = starts.find(|&start| units[start..].starts_with(&wanted));
            Value::Int(found.map_or(-1, |start| start as i32))
        }
        ("replace", [from, to]) => {
            let (from, to) = (from.text(), to.text());
            let added = text.matches(from.as_str()).count().saturating_mul(to.len());
            if added.saturating_add(text.len()) > TEXT_MAX {
                return Err(ScriptError::limit(at, "The memory that a script may use has been used up."));
            }
            Value::str(text.replace(&from, &to))
        }
        ("substring", [start]) => cut(unit_index(start, at)?, text.encode_utf16().count())?,
        ("substring", [start, end]) => cut(unit_index(start, at)?, unit_index(end, at)?)?,
        ("charAt", [index]) => {
            let index = unit_index(index, at)?;
            match units().get(index) {
                Some(unit) => Value::Char(*unit),
                None => {
                    return Err(ScriptError::new(
                        at,
                        "string_index_out_of_bounds_exception",
                        format!("Index {index} out of bounds for length {}", text.encode_utf16().count()),
                    ));
                }
            }
        }
        ("splitOnToken", [token]) => split(text, &token.text(), usize::MAX),
        ("splitOnToken", [token, limit]) => {
            let limit = limit.i64();
            split(text, &token.text(), if limit <= 0 { usize::MAX } else { limit as usize })
        }
        _ => return super::calendar::method(text, name, arguments, at),
    }))
}

/// Why a text is no Base64, in Java's words.
fn no_base64(text: &str) -> String {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    match text.bytes().find(|byte| !is_digit(byte)) {
        Some(byte) => format!("Illegal base64 character {byte:x}"),
        None => "Input byte array has wrong 4-byte ending unit".to_owned(),
    }
}

/// Longest string that a script may make, in characters.
const TEXT_MAX: usize = 8 << 20;

fn split(text: &str, token: &str, limit: usize) -> Value {
    if token.is_empty() {
        return Value::list(vec![Value::str(text)]);
    }
    Value::list(text.splitn(limit, token).map(Value::str).collect())
}

/// `String#compareTo`: the difference of the first UTF-16 units that differ, or of the lengths.
fn compare(left: &str, right: &str) -> i32 {
    let pairs = left.encode_utf16().zip(right.encode_utf16());
    match pairs.into_iter().find(|(left, right)| left != right) {
        Some((left, right)) => i32::from(left) - i32::from(right),
        None => left.encode_utf16().count() as i32 - right.encode_utf16().count() as i32,
    }
}

/// Converts a length or index; refuses negative numbers.
fn unit_index(value: &Value, at: u32) -> Outcome<usize> {
    usize::try_from(value.i64())
        .map_err(|_| failed(argument(format!("index {} out of range", value.text())), at))
}
