//! `Processors`: what some ingest processors do, for scripts; and `Json`. Source: Painless' allow list of the
//! ingest context.

use limber_text::byte_size;

use super::super::machine::Machine;
use super::super::store::put_entry;
use super::json::{self, parsed};
use crate::error::{Outcome, ScriptError};
use crate::types::Type;
use crate::values::Value;

/// Returns the type of a method's result; `None` if there is no such method.
pub(in super::super) fn returns(class: &str, name: &str, count: usize) -> Option<Type> {
    Some(match (class, name, count) {
        ("Processors", "lowercase" | "uppercase" | "urlDecode", 1) => Type::Str,
        ("Processors", "bytes", 1) => Type::Long,
        ("Processors", "json", 1 | 2) => Type::Def,
        ("Json", _, _) => return json::returns(name, count),
        _ => return None,
    })
}

/// Calls a method; `None` if there is no such method.
pub(in super::super) fn call(
    machine: &mut impl Machine,
    class: &str,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    match class {
        "Json" => return json::call(machine, name, arguments, at),
        "Processors" => {}
        _ => return Ok(None),
    }
    Ok(Some(match (name, arguments) {
        ("lowercase", [text]) => Value::str(text.text().to_lowercase()),
        ("uppercase", [text]) => Value::str(text.text().to_uppercase()),
        ("urlDecode", [text]) => Value::str(url_decoded(&text.text(), at)?),
        ("bytes", [text]) => {
            let text = text.text();
            match byte_size::parse(&text.to_lowercase()) {
                Ok(Some(bytes)) => Value::Long(bytes),
                _ => {
                    let reason = format!(
                        "failed to parse setting [Ingest Field] with value [{text}] as a size in bytes: unit is missing or unrecognized"
                    );
                    return Err(ScriptError::new(at, "parse_exception", reason));
                }
            }
        }
        ("json", [text]) => parsed(&text.text(), at)?,
        ("json", [Value::Map(map), name]) => {
            let text = map.borrow().get(name).map(Value::text).unwrap_or_default();
            if let Value::Map(members) = parsed(&text, at)? {
                let members = members.borrow().walk();
                for member in members {
                    machine.note_made(&member.1);
                    put_entry(machine, map, member, at)?;
                }
            }
            Value::Null
        }
        _ => return Ok(None),
    }))
}

/// Decodes `%20` and `+`.
fn url_decoded(text: &str, at: u32) -> Outcome<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
                let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                bytes.push(byte.ok_or_else(|| {
                    ScriptError::argument(at, "URLDecoder: Illegal hex characters in escape (%) pattern")
                })?);
                rest = &tail[2..];
            }
            other => bytes.push(*other),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
