//! Methods of strings. Positions are UTF-16 units, as in Java.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use limber_codec::hex::hex;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::machine::Machine;
use super::store::ITEM_BYTES;
use crate::error::{Outcome, ScriptError};
use crate::values::Value;

/// Calls a method of a string; `None` if there is no such method.
pub(crate) fn string_method(
    machine: &mut impl Machine,
    text: &str,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("length", []) => Value::Int(length_of(text) as i32),
        ("isEmpty", []) => Value::Bool(text.is_empty()),
        // The locales that scripts can name have the same letters.
        ("toUpperCase", [] | [_]) => Value::str(text.to_uppercase()),
        ("toLowerCase", [] | [_]) => Value::str(text.to_lowercase()),
        // Java's `trim` removes all characters up to the space.
        ("trim", []) => Value::str(text.trim_matches(|unit: char| unit <= ' ')),
        ("encodeBase64", []) => Value::str(STANDARD.encode(text)),
        ("decodeBase64", []) => {
            let bytes = STANDARD.decode(text).or_else(|_| STANDARD_NO_PAD.decode(text));
            let bytes = bytes.map_err(|_| ScriptError::argument(at, no_base64(text)))?;
            Value::str(String::from_utf8_lossy(&bytes))
        }
        ("sha1", []) => Value::str(hex(&Sha1::digest(text))),
        ("sha256", []) => Value::str(hex(&Sha256::digest(text))),
        ("sha512", []) => Value::str(hex(&Sha512::digest(text))),
        ("concat", [other]) => Value::str(text.to_owned() + &other.text()),
        ("equalsIgnoreCase", [other]) => Value::Bool(text.to_lowercase() == other.text().to_lowercase()),
        ("compareTo", [Value::Str(other)]) => Value::Int(compare(text, other)),
        ("compareToIgnoreCase", [Value::Str(other)]) => {
            Value::Int(compare(&text.to_lowercase(), &other.to_lowercase()))
        }
        ("replace", [from, to]) => {
            let (from, to) = (from.text(), to.text());
            let added = text.matches(from.as_str()).count().saturating_mul(to.len());
            if added.saturating_add(text.len()) > TEXT_MAX {
                return Err(ScriptError::limit(at, "The memory that a script may use has been used up."));
            }
            Value::str(text.replace(&from, &to))
        }
        _ => {
            if let Some(found) = find(text, name, arguments, at)? {
                return Ok(Some(found));
            }
            if let Some(found) = parts(machine, text, name, arguments, at)? {
                return Ok(Some(found));
            }
            if let Some(found) = units(machine, text, name, arguments, at)? {
                return Ok(Some(found));
            }
            return super::calendar::method(text, name, arguments, at);
        }
    }))
}

/// Calls a method about the units and characters of a string; `None` if this is another method.
fn units(
    machine: &mut impl Machine,
    text: &str,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("contentEquals", [other]) => Value::Bool(text == other.text()),
        ("toCharArray" | "chars", []) => {
            machine.check_room(text.len().saturating_mul(ITEM_BYTES), at)?;
            let shown = |unit: u16| match name {
                "chars" => Value::Int(unit.into()),
                _ => Value::Char(unit),
            };
            Value::list(text.encode_utf16().map(shown).collect())
        }
        ("codePoints", []) => {
            machine.check_room(text.len().saturating_mul(ITEM_BYTES), at)?;
            Value::list(text.chars().map(|letter| Value::Int(letter as i32)).collect())
        }
        ("subSequence", [start, end]) => {
            return parts(machine, text, "substring", &[start.clone(), end.clone()], at);
        }
        ("regionMatches", [offset, other, from, length]) => {
            region_matches(text, false, [offset, other, from, length])
        }
        ("regionMatches", [ignores_case, offset, other, from, length]) => {
            let ignores_case = matches!(ignores_case, Value::Bool(true));
            region_matches(text, ignores_case, [offset, other, from, length])
        }
        _ => return code_points(text, name, arguments, at),
    }))
}

/// Calls a method about the code points of a string; `None` if this is another method.
fn code_points(text: &str, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let outside = |index: usize| {
        let reason = format!("Index {index} out of bounds for length {}", length_of(text));
        ScriptError::new(at, "string_index_out_of_bounds_exception", reason)
    };
    Ok(Some(match (name, arguments) {
        ("codePointAt" | "codePointBefore", [index]) => {
            let index = unit_index(index, at)?;
            let first = match name {
                "codePointAt" => Some(index),
                _ => index.checked_sub(1),
            };
            let first = first.ok_or_else(|| outside(index))?;
            let units: Vec<u16> = text.encode_utf16().skip(first.saturating_sub(1)).take(3).collect();
            let own = units.get(usize::from(first > 0)).copied().ok_or_else(|| outside(index))?;
            // A pair of surrogates is one character.
            let pair = match name {
                "codePointAt" => units.get(usize::from(first > 0)..).unwrap_or_default(),
                _ => &units[..=usize::from(first > 0)],
            };
            let mut letters = char::decode_utf16(pair.iter().copied());
            match letters.next() {
                Some(Ok(letter)) if pair.len() > 1 && letter.len_utf16() == 2 => Value::Int(letter as i32),
                _ => Value::Int(own.into()),
            }
        }
        ("codePointCount", [start, end]) => {
            let (start, end) = (unit_index(start, at)?, unit_index(end, at)?);
            if start > end || end > length_of(text) {
                return Err(outside(end));
            }
            let units = text.encode_utf16().skip(start).take(end - start);
            Value::Int(char::decode_utf16(units).count() as i32)
        }
        ("offsetByCodePoints", [start, count]) => {
            let start = unit_index(start, at)?;
            let count = unit_index(count, at)?;
            let rest: Vec<u16> = text.encode_utf16().skip(start).collect();
            let letters: Vec<usize> = char::decode_utf16(rest.iter().copied())
                .map(|letter| letter.map_or(1, char::len_utf16))
                .collect();
            match letters.get(..count) {
                Some(passed) if start <= length_of(text) => {
                    Value::Int((start + passed.iter().sum::<usize>()) as i32)
                }
                _ => return Err(outside(start)),
            }
        }
        _ => return Ok(None),
    }))
}

/// `String#regionMatches`: false if a region is not inside of its string.
fn region_matches(text: &str, ignores_case: bool, [offset, other, from, length]: [&Value; 4]) -> Value {
    let other = other.text();
    let region = |text: &str, start: i64| {
        let start = usize::try_from(start).ok()?;
        // A negative length is an empty region.
        let length = usize::try_from(length.i64()).unwrap_or(0);
        let end = start.checked_add(length).filter(|end| *end <= length_of(text))?;
        Some(part(text, start, end).into_owned())
    };
    let (Some(own), Some(other)) = (region(text, offset.i64()), region(&other, from.i64())) else {
        return Value::Bool(false);
    };
    Value::Bool(match ignores_case {
        true => own.to_lowercase() == other.to_lowercase(),
        false => own == other,
    })
}

/// Calls a method that searches for another string; `None` if this is another method.
fn find(text: &str, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let position =
        |found: Option<usize>| Value::Int(found.map_or(-1, |bytes| length_of(&text[..bytes]) as i32));
    Ok(Some(match (name, arguments) {
        ("contains", [other]) => Value::Bool(text.contains(&other.text())),
        ("startsWith", [other]) => Value::Bool(text.starts_with(&other.text())),
        ("startsWith", [other, offset]) => {
            let offset = unit_index(offset, at)?;
            let prefix = other.text();
            let mut rest = text.encode_utf16();
            let is_inside = offset == 0 || rest.nth(offset - 1).is_some();
            Value::Bool(is_inside && prefix.encode_utf16().all(|unit| rest.next() == Some(unit)))
        }
        ("endsWith", [other]) => Value::Bool(text.ends_with(&other.text())),
        ("indexOf", [other]) => position(text.find(&other.text())),
        ("indexOf", [other, from]) => {
            let from = usize::try_from(from.i64()).unwrap_or(0);
            let start = text.len() - after_units(text, from).len();
            position(text[start..].find(&other.text()).map(|found| start + found))
        }
        ("lastIndexOf", [other]) => position(text.rfind(&other.text())),
        ("lastIndexOf", [other, from]) => {
            let wanted = other.text();
            // An occurrence begins at `last` or earlier; a negative `last` excludes all of them.
            let ends_at = usize::try_from(from.i64()).ok().map(|last| {
                let begins_at = text.len() - after_units(text, last).len();
                floor_boundary(text, begins_at.saturating_add(wanted.len()))
            });
            position(ends_at.and_then(|end| text[..end].rfind(&wanted)))
        }
        _ => return Ok(None),
    }))
}

/// Calls a method that returns a part of a string, or its parts; `None` if this is another method.
fn parts(
    machine: &mut impl Machine,
    text: &str,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let cut = |start: usize, end: usize| {
        let length = length_of(text);
        if start > end || end > length {
            let reason = format!("begin {start}, end {end}, length {length}");
            return Err(ScriptError::new(at, "string_index_out_of_bounds_exception", reason));
        }
        Ok(Value::str(part(text, start, end)))
    };
    Ok(Some(match (name, arguments) {
        ("substring", [start]) => cut(unit_index(start, at)?, length_of(text))?,
        ("substring", [start, end]) => cut(unit_index(start, at)?, unit_index(end, at)?)?,
        ("charAt", [index]) => {
            let index = unit_index(index, at)?;
            let unit = match text.as_bytes().get(..=index) {
                Some(ascii) if ascii.is_ascii() => Some(u16::from(ascii[index])),
                _ => text.encode_utf16().nth(index),
            };
            match unit {
                Some(unit) => Value::Char(unit),
                None => {
                    let reason = format!("Index {index} out of bounds for length {}", length_of(text));
                    return Err(ScriptError::new(at, "string_index_out_of_bounds_exception", reason));
                }
            }
        }
        ("splitOnToken", [token]) => split(machine, text, &token.text(), usize::MAX, at)?,
        ("splitOnToken", [token, limit]) => {
            let limit = limit.i64();
            let limit = usize::try_from(limit).ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX);
            split(machine, text, &token.text(), limit, at)?
        }
        _ => return Ok(None),
    }))
}

/// Returns Java's message that says why a text is not Base64.
fn no_base64(text: &str) -> String {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    match text.bytes().find(|byte| !is_digit(byte)) {
        Some(byte) => format!("Illegal base64 character {byte:x}"),
        None => "Input byte array has wrong 4-byte ending unit".to_owned(),
    }
}

/// Longest string that a script may make, in characters.
const TEXT_MAX: usize = 8 << 20;

/// Minimum bytes of a part of a split text.
const PART_BYTES: usize = 32;

fn split(machine: &mut impl Machine, text: &str, token: &str, limit: usize, at: u32) -> Outcome<Value> {
    if token.is_empty() {
        return Ok(Value::list(vec![Value::str(text)]));
    }
    let count = text.splitn(limit, token).count();
    machine.check_room(count * PART_BYTES, at)?;
    Ok(Value::list(text.splitn(limit, token).map(Value::str).collect()))
}

/// Returns the length of a text in UTF-16 units.
fn length_of(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// Returns the part of a text between two positions in UTF-16 units. Half of a surrogate pair becomes U+FFFD.
fn part(text: &str, start: usize, end: usize) -> Cow<'_, str> {
    match text.as_bytes().get(..end) {
        Some(ascii) if ascii.is_ascii() => Cow::Borrowed(&text[start..end]),
        _ => {
            let units: Vec<u16> = text.encode_utf16().skip(start).take(end - start).collect();
            Cow::Owned(String::from_utf16_lossy(&units))
        }
    }
}

/// Returns the text from the first character that has at least `units` UTF-16 units before it.
fn after_units(text: &str, units: usize) -> &str {
    let mut count = 0;
    let start = text.char_indices().find(|(_, character)| {
        let is_there = count >= units;
        count += character.len_utf16();
        is_there
    });
    start.map_or("", |(bytes, _)| &text[bytes..])
}

/// Returns the last character boundary at or before `bytes`.
fn floor_boundary(text: &str, bytes: usize) -> usize {
    (0..=bytes.min(text.len())).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0)
}

/// `String#compareTo`: the difference of the first UTF-16 units that differ, or of the lengths.
fn compare(left: &str, right: &str) -> i32 {
    let pairs = left.encode_utf16().zip(right.encode_utf16());
    match pairs.into_iter().find(|(left, right)| left != right) {
        Some((left, right)) => i32::from(left) - i32::from(right),
        None => length_of(left) as i32 - length_of(right) as i32,
    }
}

/// Converts a length or index; refuses negative numbers.
fn unit_index(value: &Value, at: u32) -> Outcome<usize> {
    usize::try_from(value.i64()).map_err(|_| {
        let reason = format!("Index {} out of bounds", value.text());
        ScriptError::new(at, "string_index_out_of_bounds_exception", reason)
    })
}
