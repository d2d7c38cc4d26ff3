//! `Processors`: what some ingest processors do, for scripts; and `Json`. Source: Painless' allow list of the
//! ingest context.

use limber_text::{byte_size, url};

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
        ("urlDecode", [text]) => {
            let decoded = url::form_decoded(&text.text());
            Value::str(decoded.map_err(|error| ScriptError::argument(at, error.to_string()))?)
        }
        ("bytes", [text]) => {
            let bytes = byte_size::of_ingest_field(&text.text());
            Value::Long(bytes.map_err(|reason| ScriptError::new(at, "parse_exception", reason))?)
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
