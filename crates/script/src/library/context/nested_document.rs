//! `field('a').doc()`: an object of the document whose fields a script reads and changes.
//!
//! Source: Elasticsearch's `NestedDocument`.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use super::write_field::{
    CONTAINER_BYTES, Members, WriteField, illegal_state, new_list, new_map, out_of_bounds,
};
use crate::error::{Outcome, ScriptError};
use crate::library::Machine;
use crate::library::store::ITEM_BYTES;
use crate::values::{JavaObject, Value};

#[derive(Debug)]
struct NestedDocument {
    members: Members,
    /// The field that has it, as a script holds it.
    parent: Value,
}

/// Returns an object of the document as a script holds it.
fn shared(members: Members, parent: &Value) -> Value {
    Value::Object(Rc::new(NestedDocument { members, parent: parent.clone() }))
}

/// Whether a value is an object of the document.
pub(super) fn is_one(value: &Value) -> bool {
    value.object::<NestedDocument>().is_some()
}

/// Calls a method; `None` if the target is no such object, or if there is no such method.
pub(super) fn method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let Some(document) = target.object::<NestedDocument>() else { return Ok(None) };
    let members = &document.members;
    let parent = document.parent.object::<WriteField>();
    Ok(Some(match (name, arguments) {
        ("field", [Value::Str(path)]) => WriteField::new(members.clone(), path.clone()).shared(),
        ("fields", [_]) => {
            return Err(ScriptError::new(at, "unsupported_operation_exception", "unimplemented"));
        }
        ("isEmpty", []) => Value::Bool(members.borrow().is_empty()),
        ("size", []) => Value::Int(members.borrow().len() as i32),
        ("exists", []) => Value::Bool(parent.is_some_and(|parent| parent.value().is_some())),
        ("remove", []) => {
            if let Some(parent) = parent {
                parent.remove_map(machine, members, at)?;
            }
            Value::Null
        }
        _ => return Ok(None),
    }))
}

/// Adds an empty object to a field, and returns it.
pub(super) fn appended(
    machine: &mut impl Machine,
    target: &Value,
    field: &WriteField,
    at: u32,
) -> Outcome<Value> {
    Ok(shared(added(machine, field, at)?, target))
}

/// Returns the object with an index among those of a field. Objects are added until there is one.
pub(super) fn at_index(
    machine: &mut impl Machine,
    target: &Value,
    field: &WriteField,
    index: i64,
    at: u32,
) -> Outcome<Value> {
    Ok(shared(document_at(machine, field, index, at)?, target))
}

/// Adds an empty map at the path.
fn added(machine: &mut impl Machine, field: &WriteField, at: u32) -> Outcome<Members> {
    let documents = field.documents(machine, at)?;
    let map = new_map(machine, at)?;
    match documents {
        None => field.set(machine, Value::Map(map.clone()), at)?,
        Some(list) => add(machine, &list, &map, at)?,
    }
    Ok(map)
}

fn add(machine: &mut impl Machine, list: &Value, map: &Members, at: u32) -> Outcome<()> {
    machine.grow(ITEM_BYTES, at)?;
    machine.check_frozen(list, at)?;
    if let Value::List(items) = list {
        items.borrow_mut().push(Value::Map(map.clone()));
    }
    Ok(())
}

/// Returns the map with an index at the path. Maps are added until there is one.
fn document_at(machine: &mut impl Machine, field: &WriteField, index: i64, at: u32) -> Outcome<Members> {
    let documents = match field.documents(machine, at)? {
        None if index == 0 => return added(machine, field, at),
        None => {
            let list = new_list(machine, Vec::new(), at)?;
            field.set(machine, list.clone(), at)?;
            list
        }
        Some(list) => list,
    };
    let Value::List(items) = &documents else { return added(machine, field, at) };
    let length = items.borrow().len();
    let place = usize::try_from(index).map_err(|_| out_of_bounds(index, length, at))?;
    for _ in length..=place {
        machine.spend(1, at)?;
        let map = new_map(machine, at)?;
        add(machine, &documents, &map, at)?;
    }
    let found = items.borrow().get(place).cloned();
    match found {
        Some(Value::Map(map)) => Ok(map),
        other => {
            let class = other.as_ref().map_or("null", Value::class);
            let reason = format!("class {class} cannot be cast to class java.util.Map");
            Err(ScriptError::cast(at, reason))
        }
    }
}

/// Returns all maps at the path.
pub(super) fn all(machine: &mut impl Machine, target: &Value, field: &WriteField, at: u32) -> Outcome<Value> {
    let mut documents = Vec::new();
    for (number, value) in field.values(machine, at)?.into_iter().enumerate() {
        machine.grow(CONTAINER_BYTES, at)?;
        match &value {
            Value::Map(map) => documents.push(shared(map.clone(), target)),
            other if matches!(field.value(), Some(Value::List(_))) => {
                let (text, class, path) = (other.text(), other.class(), field.path());
                let place = format!("at [{path}] and index [{number}] for docs() iterator");
                let reason = format!("Unexpected value [{text}] of type [{class}] {place}");
                return Err(illegal_state(at, reason));
            }
            other => {
                let (text, class, path) = (other.text(), other.class(), field.path());
                let reason = format!("Unexpected value [{text}] of type [{class}] at [{path}] for docs()");
                return Err(illegal_state(at, reason));
            }
        }
    }
    Ok(Value::list(documents))
}

impl JavaObject for NestedDocument {
    fn class(&self) -> &'static str {
        "org.elasticsearch.script.field.NestedDocument"
    }

    fn write_text(&self, out: &mut String, depth: u32) {
        Value::Map(self.members.clone()).write_text(out, depth.saturating_sub(1));
    }

    fn hash(&self) -> i32 {
        0
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<NestedDocument>().is_some_and(|other| std::ptr::eq(self, other))
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, _: &str, _: &[Value], _: u32) -> Outcome<Option<Value>> {
        Ok(None)
    }

    fn is_mutable(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
