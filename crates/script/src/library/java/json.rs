//! `Json`: reads and writes JSON. Source: Painless' `org.elasticsearch.painless.api.Json`.

use serde_json::Value as Tree;

use super::super::machine::Machine;
use crate::error::{Outcome, ScriptError, failed};
use crate::types::Type;
use crate::values::Value;

/// How deeply a value may be nested that is written.
const DEPTH_MAX: usize = 250;
/// Bytes that are written between two checks of the room.
const CHECK_EVERY_BYTES: usize = 64 << 10;

/// Returns the type of a method's result; `None` if there is no such method.
pub(super) fn returns(name: &str, count: usize) -> Option<Type> {
    match (name, count) {
        ("load", 1) => Some(Type::Def),
        ("dump", 1 | 2) => Some(Type::Str),
        _ => None,
    }
}

/// Calls a method; `None` if there is no such method.
pub(super) fn call(
    machine: &mut impl Machine,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("load", [text]) => parsed(&text.text(), at)?,
        ("dump", [value]) => dumped(machine, value, false, at)?,
        ("dump", [value, Value::Bool(is_pretty)]) => dumped(machine, value, *is_pretty, at)?,
        _ => return Ok(None),
    }))
}

/// Reads a JSON text.
pub(super) fn parsed(text: &str, at: u32) -> Outcome<Value> {
    limber_mapping::claim_parsed(text.as_bytes()).map_err(limber_mapping::RequestError::from)?;
    let json: Tree = serde_json::from_str(text)
        .map_err(|error| ScriptError::argument(at, format!("failed to parse JSON: {error}")))?;
    Ok(Value::from_json(&json))
}

fn dumped(machine: &mut impl Machine, value: &Value, is_pretty: bool, at: u32) -> Outcome<Value> {
    let mut writer = Writer { machine, out: String::new(), checked_bytes: 0, is_pretty, at };
    writer.value(value, 0)?;
    Ok(Value::str(writer.out))
}

struct Writer<'m, M> {
    machine: &'m mut M,
    out: String,
    /// Length of the text when the room was last checked.
    checked_bytes: usize,
    /// Whether each member has a line of its own.
    is_pretty: bool,
    at: u32,
}

impl<M: Machine> Writer<'_, M> {
    fn value(&mut self, value: &Value, depth: usize) -> Outcome<()> {
        self.machine.spend(1, self.at)?;
        if depth > DEPTH_MAX {
            return Err(ScriptError::argument(self.at, "Iterable object is self-referencing itself"));
        }
        let (members, brackets): (Vec<(Option<String>, Value)>, &str) = match value {
            Value::List(items) => {
                let items = items.borrow();
                (items.iter().map(|item| (None, item.clone())).collect(), "[]")
            }
            Value::Set(set) => {
                let items = set.borrow().walk();
                (items.into_iter().map(|(item, _)| (None, item)).collect(), "[]")
            }
            Value::Map(map) => {
                let entries = map.borrow().walk();
                (entries.into_iter().map(|(key, value)| (Some(key.text()), value)).collect(), "{}")
            }
            Value::Params => {
                let params = self.machine.params().clone();
                return self.value(&params, depth + 1);
            }
            Value::Str(text) => return self.text(text),
            scalar => {
                let scalar = scalar.to_json(1).map_err(|failure| failed(failure, self.at))?;
                return self.push(&scalar.to_string());
            }
        };
        self.push(&brackets[..1])?;
        for (nth, (name, member)) in members.iter().enumerate() {
            if nth > 0 {
                self.push(",")?;
            }
            self.line(depth + 1)?;
            if let Some(name) = name {
                self.text(name)?;
                self.push(if self.is_pretty { " : " } else { ":" })?;
            }
            self.value(member, depth + 1)?;
        }
        match members.is_empty() {
            false => self.line(depth)?,
            true if self.is_pretty => self.push(" ")?,
            true => {}
        }
        self.push(&brackets[1..])
    }

    /// Begins a line.
    fn line(&mut self, depth: usize) -> Outcome<()> {
        if !self.is_pretty {
            return Ok(());
        }
        self.push("\n")?;
        (0..depth).try_for_each(|_| self.push("  "))
    }

    fn text(&mut self, text: &str) -> Outcome<()> {
        self.push(&Tree::from(text).to_string())
    }

    fn push(&mut self, text: &str) -> Outcome<()> {
        let length = self.out.len() + text.len();
        if length - self.checked_bytes >= CHECK_EVERY_BYTES {
            self.machine.check_room(length, self.at)?;
            self.checked_bytes = length;
        }
        self.out.push_str(text);
        Ok(())
    }
}
