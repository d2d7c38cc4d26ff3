//! Values that hold others: their items, their identity, their memory, and how they are freed.

use std::rc::Rc;
use std::sync::Arc;

use super::value::Value;

/// Estimated bytes of a list or map without its items, of an item, and of an entry.
const CONTAINER_BYTES: usize = 64;
const ITEM_BYTES: usize = 16;
const ENTRY_BYTES: usize = 32;
/// Estimated bytes of a date formatter.
const FORMATTER_BYTES: usize = 512;

/// Returns an identity that differs between any two lists, maps, sets or objects that hold values, even
/// equal ones; `None` for other values.
pub(crate) fn identity(value: &Value) -> Option<usize> {
    match value {
        Value::List(items) => Some(Rc::as_ptr(items) as *const () as usize),
        Value::Map(map) | Value::Set(map) => Some(Rc::as_ptr(map) as *const () as usize),
        Value::Object(object) if !object.held().is_empty() => Some(Rc::as_ptr(object) as *const () as usize),
        _ => None,
    }
}

/// Whether others can be put into the value, so that it may contain itself.
pub(crate) fn is_container(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Map(_) | Value::Set(_))
}

/// Whether a value belongs to one script: it is the number of a part of that script, which means something
/// else in another script.
pub(crate) fn is_of_one_script(value: &Value) -> bool {
    matches!(value, Value::Lambda(_) | Value::Extractor(_) | Value::Pattern(_) | Value::Matcher(_))
}

/// Empties lists, maps and sets one by one, and drops them.
pub(crate) fn dismantle(made: &mut Vec<Value>) {
    for value in made.iter() {
        match value {
            Value::List(items) => drop(std::mem::take(&mut *items.borrow_mut())),
            Value::Map(map) | Value::Set(map) => map.borrow_mut().clear(),
            _ => {}
        }
    }
    made.clear();
}

/// Reports each list, map and set that a value consists of. The value shares none of them and contains none
/// twice, as one that was read from JSON.
pub(crate) fn each_container(value: &Value, mut found: impl FnMut(&Value)) {
    let mut rest = vec![value.clone()];
    while let Some(value) = rest.pop() {
        if is_container(&value) {
            found(&value);
            value.each_held(|held| {
                if is_container(held) {
                    rest.push(held.clone());
                }
            });
        }
    }
}

impl Value {
    /// Calls `visit` with each value that this one holds. A new kind of value that holds others is added
    /// here.
    pub(crate) fn each_held(&self, mut visit: impl FnMut(&Value)) {
        match self {
            Value::List(items) => items.borrow().iter().for_each(visit),
            Value::Map(map) | Value::Set(map) => {
                for (key, value) in map.borrow().entries() {
                    visit(key);
                    visit(value);
                }
            }
            Value::Object(object) => object.held().iter().for_each(visit),
            // Lambdas capture nothing: they read the slots of the function around them. Builders and
            // matchers hold text alone.
            Value::Null
            | Value::Bool(_)
            | Value::Char(_)
            | Value::Int(_)
            | Value::Long(_)
            | Value::Float(_)
            | Value::Double(_)
            | Value::Str(_)
            | Value::Date(_)
            | Value::Point(_)
            | Value::Corners(_)
            | Value::Field(_)
            | Value::FieldAccess(_)
            | Value::Doc
            | Value::Params
            | Value::Lambda(_)
            | Value::Extractor(_)
            | Value::Pattern(_)
            | Value::Matcher(_)
            | Value::Text(_)
            | Value::Exception(..)
            | Value::Formatter(_) => {}
        }
    }

    /// Whether this is the only reference to the value, because the value was just made.
    fn is_new(&self) -> bool {
        match self {
            Value::List(items) => Rc::strong_count(items) == 1,
            Value::Map(map) | Value::Set(map) => Rc::strong_count(map) == 1,
            Value::Object(object) => Rc::strong_count(object) == 1,
            Value::Text(text) => Rc::strong_count(text) == 1,
            Value::Str(text) | Value::Exception(_, text) => Arc::strong_count(text) == 1,
            Value::Formatter(format) => Arc::strong_count(format) == 1,
            _ => false,
        }
    }

    /// Returns the approximate memory in bytes, without the values that it holds.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Value::List(items) => CONTAINER_BYTES + ITEM_BYTES * items.borrow().len(),
            Value::Map(map) | Value::Set(map) => CONTAINER_BYTES + ENTRY_BYTES * map.borrow().len(),
            Value::Object(object) => object.bytes(),
            Value::Str(text) | Value::Exception(_, text) => text.len(),
            Value::Text(text) => CONTAINER_BYTES + size_of_val(text.borrow().units()),
            Value::Formatter(_) => FORMATTER_BYTES,
            _ => 0,
        }
    }

    /// Returns the approximate memory in bytes of a script's result for a document, one level deep. Code that
    /// keeps more than that charges it itself.
    pub(crate) fn kept_bytes(&self) -> u64 {
        let mut bytes = self.bytes();
        self.each_held(|held| bytes = bytes.saturating_add(held.bytes()));
        bytes as u64
    }

    /// Returns the approximate time of reading the whole value, in units of about 10 nanoseconds.
    pub(crate) fn steps(&self) -> usize {
        match self {
            Value::List(items) => items.borrow().len(),
            Value::Map(map) | Value::Set(map) => map.borrow().len() * 4,
            Value::Object(object) => object.steps(),
            Value::Str(text) => text.len() / 8,
            Value::Text(text) => text.borrow().units().len() / 8,
            _ => 0,
        }
    }
}

/// Reports a value that was just made, and those of its values that were just made as well. Reports nothing
/// for any other value.
pub(crate) fn each_new(value: &Value, mut found: impl FnMut(&Value)) {
    if !value.is_new() {
        return;
    }
    let mut rest = Vec::new();
    let mut report = |value: &Value, rest: &mut Vec<Value>| {
        found(value);
        // A value in `rest` has a second reference, so that no value is reported twice.
        value.each_held(|held| {
            if held.is_new() {
                rest.push(held.clone());
            }
        });
    };
    report(value, &mut rest);
    while let Some(next) = rest.pop() {
        report(&next, &mut rest);
    }
}
