//! Functions on texts besides their own methods: builders, characters, numbers in other bases.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use super::machine::Machine;
use crate::error::{Outcome, ScriptError};
use crate::types::Type;
use crate::values::{Builder, Value};

/// Returns the type that a static method of `Character` returns.
pub(super) fn character_returns(name: &str) -> Option<Type> {
    Some(match name {
        "isDigit"
        | "isLetter"
        | "isLetterOrDigit"
        | "isWhitespace"
        | "isUpperCase"
        | "isLowerCase"
        | "isAlphabetic"
        | "isSpaceChar"
        | "isISOControl"
        | "isBmpCodePoint"
        | "isSupplementaryCodePoint"
        | "isValidCodePoint"
        | "isSurrogate"
        | "isHighSurrogate" => Type::Bool,
        "toUpperCase" | "toLowerCase" | "valueOf" | "reverseBytes" | "highSurrogate" | "lowSurrogate" => {
            Type::Char
        }
        "getNumericValue" | "charCount" | "hashCode" => Type::Int,
        "toString" => Type::Str,
        "toChars" => Type::Def,
        _ => return None,
    })
}

/// Returns the type that a static method of `Character` with two arguments returns.
pub(super) fn pair_returns(name: &str) -> Option<Type> {
    Some(match name {
        "compare" | "digit" | "toCodePoint" => Type::Int,
        "forDigit" => Type::Char,
        "isSurrogatePair" => Type::Bool,
        _ => return None,
    })
}

/// Calls a static method of characters, or of numbers in other bases; `None` if there is no such method here.
pub(super) fn static_call(class: &str, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    Ok(Some(match (class, name, arguments) {
        ("Character", name, [unit]) if name != "toString" => {
            return Ok(character(name, unit).or_else(|| code_point(name, unit)));
        }
        ("Character", name, [first, second]) => return Ok(of_pair(name, first, second)),
        ("Integer" | "Long", "parseInt" | "parseLong" | "valueOf", [text, radix]) => {
            let text = text.text();
            let refused = || ScriptError::number_format(at, &text);
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

/// Joins the items, printed as strings, with a separator.
pub(super) fn join_texts(
    machine: &mut impl Machine,
    items: &[Value],
    separator: &str,
    at: u32,
) -> Outcome<Value> {
    let mut joined = String::new();
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            joined.push_str(separator);
        }
        joined.push_str(&item.text());
        machine.check_room(joined.len(), at)?;
        machine.spend(separator.len() / 8 + 1, at)?;
    }
    Ok(Value::str(joined))
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

/// Calls a static method of `Character` about a number that stands for a character, or about one unit of it.
fn code_point(name: &str, code: &Value) -> Option<Value> {
    let number = match code {
        Value::Str(text) => i64::from(text.encode_utf16().next()?),
        other => other.i64(),
    };
    let (unit, is_wide) = (number as u16, (0x1_0000..=0x10_FFFF).contains(&number));
    let letter = u32::try_from(number).ok().and_then(char::from_u32);
    Some(match name {
        "isSpaceChar" => {
            Value::Bool(letter.is_some_and(|letter| letter.is_whitespace() && !letter.is_control()))
        }
        "isISOControl" => Value::Bool(letter.is_some_and(char::is_control)),
        "isBmpCodePoint" => Value::Bool((0..0x1_0000).contains(&number)),
        "isSupplementaryCodePoint" => Value::Bool(is_wide),
        "isValidCodePoint" => Value::Bool((0..=0x10_FFFF).contains(&number)),
        "isSurrogate" => Value::Bool((0xD800..0xE000).contains(&number)),
        "isHighSurrogate" => Value::Bool((0xD800..0xDC00).contains(&number)),
        "charCount" => Value::Int(if number >= 0x1_0000 { 2 } else { 1 }),
        "hashCode" => Value::Int(unit.into()),
        "valueOf" => Value::Char(unit),
        "reverseBytes" => Value::Char(unit.swap_bytes()),
        "highSurrogate" => Value::Char(((number >> 10) as u16).wrapping_add(0xD7C0)),
        "lowSurrogate" => Value::Char((number & 0x3FF) as u16 + 0xDC00),
        "toChars" => {
            let units = letter?.encode_utf16(&mut [0; 2]).iter().map(|unit| Value::Char(*unit)).collect();
            Value::list(units)
        }
        _ => return None,
    })
}

/// Calls a static method of `Character` with two arguments.
fn of_pair(name: &str, first: &Value, second: &Value) -> Option<Value> {
    let unit = |value: &Value| match value {
        Value::Str(text) => text.encode_utf16().next().map_or(0, i64::from),
        other => other.i64(),
    };
    let (left, right) = (unit(first), unit(second));
    let (high, low) = ((0xD800..0xDC00).contains(&left), (0xDC00..0xE000).contains(&right));
    Some(match name {
        "compare" => Value::Int(i32::from(left as u16) - i32::from(right as u16)),
        "isSurrogatePair" => Value::Bool(high && low),
        "toCodePoint" => Value::Int(((left as i32 & 0x3FF) << 10) + (right as i32 & 0x3FF) + 0x1_0000),
        "digit" => {
            let letter = u32::try_from(left).ok().and_then(char::from_u32);
            let digit = letter.zip(radix_of(second)).and_then(|(letter, radix)| letter.to_digit(radix));
            Value::Int(digit.map_or(-1, |digit| digit as i32))
        }
        "forDigit" => {
            let digit = u32::try_from(left).ok().zip(radix_of(second));
            let digit = digit.and_then(|(digit, radix)| char::from_digit(digit, radix));
            Value::Char(digit.map_or(0, |digit| digit as u16))
        }
        _ => return None,
    })
}

/// Methods of a `StringBuilder` that are those of its text.
const READS_OF_BUILDERS: &[&str] = &[
    "chars",
    "codePointAt",
    "codePointBefore",
    "codePointCount",
    "codePoints",
    "indexOf",
    "lastIndexOf",
    "offsetByCodePoints",
    "subSequence",
    "substring",
];

/// Calls a method of a `StringBuilder`; `None` if there is no such method.
pub(super) fn builder_method(
    machine: &mut impl Machine,
    target: &Value,
    builder: &Rc<RefCell<Builder>>,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    if READS_OF_BUILDERS.contains(&name) {
        let text = builder.borrow().text();
        return super::strings::string_method(machine, &text, name, arguments, at);
    }
    // A script may add a builder to itself.
    let more = added_text(machine, name, arguments, at)?;
    machine.grow(2 * more.len(), at)?;
    let mut builder = builder.borrow_mut();
    let units = builder.units_mut();
    match (name, arguments) {
        ("length", []) => return Ok(Some(Value::Int(units.len() as i32))),
        ("isEmpty", []) => return Ok(Some(Value::Bool(units.is_empty()))),
        ("charAt", [index]) => {
            let found = usize::try_from(index.i64()).ok().and_then(|index| units.get(index));
            return found.map(|unit| Some(Value::Char(*unit))).ok_or_else(|| {
                let reason = format!("index {},length {}", index.i64(), units.len());
                ScriptError::new(at, "string_index_out_of_bounds_exception", reason)
            });
        }
        ("append", [_] | [_, _, _]) | ("appendCodePoint", [_]) => builder.push(&more),
        ("setCharAt", [index, unit]) => {
            let index = place(index, units.len().saturating_sub(1), at)?;
            if let (Some(slot), Value::Char(unit)) = (units.get_mut(index), unit) {
                *slot = *unit;
            }
            return Ok(Some(Value::Null));
        }
        ("insert", [index, _]) => {
            let index = place(index, units.len(), at)?;
            units.splice(index..index, more.encode_utf16());
        }
        ("replace", [start, end, _]) => {
            let range = range(start, end, units.len(), at)?;
            units.splice(range, more.encode_utf16());
        }
        ("setLength", [length]) => {
            let longest = units.len();
            units.truncate(place(length, longest, at)?);
            return Ok(Some(Value::Null));
        }
        ("deleteCharAt", [index]) => {
            let index = place(index, units.len().saturating_sub(1), at)?;
            if index < units.len() {
                units.remove(index);
            }
        }
        ("delete", [start, end]) => drop(units.drain(range(start, end, units.len(), at)?)),
        ("reverse", []) => {
            // Pairs of surrogates keep their order, as in Java.
            let reversed: String = builder.text().chars().rev().collect();
            *builder = Builder::of(&reversed);
        }
        _ => return Ok(None),
    }
    Ok(Some(target.clone()))
}

/// Returns the text that a method adds to a builder.
fn added_text(machine: &mut impl Machine, name: &str, arguments: &[Value], at: u32) -> Outcome<String> {
    Ok(match (name, arguments) {
        ("append", [more]) | ("insert" | "replace", [.., more]) => more.text(),
        ("append", [more, start, end]) => {
            let part = [start.clone(), end.clone()];
            let part = super::strings::string_method(machine, &more.text(), "substring", &part, at)?;
            part.map_or_else(String::new, |part| part.text())
        }
        ("appendCodePoint", [code]) => {
            let letter = u32::try_from(code.i64()).ok().and_then(char::from_u32);
            let reason = || format!("Not a valid Unicode code point: 0x{:X}", code.i64());
            letter.ok_or_else(|| ScriptError::argument(at, reason()))?.to_string()
        }
        _ => String::new(),
    })
}

/// Returns a position in a builder that is at most `most`.
fn place(value: &Value, most: usize, at: u32) -> Outcome<usize> {
    usize::try_from(value.i64()).ok().filter(|place| *place <= most).ok_or_else(|| {
        let reason = format!("index {},length {most}", value.i64());
        ScriptError::new(at, "string_index_out_of_bounds_exception", reason)
    })
}

/// Returns the positions from `start` to `end` in a builder of this length; an end after it counts as its
/// end.
fn range(start: &Value, end: &Value, length: usize, at: u32) -> Outcome<Range<usize>> {
    let start = place(start, length, at)?;
    let last = usize::try_from(end.i64()).ok().map(|end| end.min(length)).filter(|end| *end >= start);
    last.map(|end| start..end).ok_or_else(|| {
        let reason = format!("start {start}, end {}, length {length}", end.i64());
        ScriptError::new(at, "string_index_out_of_bounds_exception", reason)
    })
}
