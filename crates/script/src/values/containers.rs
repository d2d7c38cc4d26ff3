//! Lists, maps and sets as objects: their identity and how they are freed.

use std::rc::Rc;

use super::value::Value;

/// Returns an identity that differs between any two lists or maps, even equal ones; `None` for other
/// values.
pub(crate) fn identity(value: &Value) -> Option<usize> {
    match value {
        Value::List(items) => Some(Rc::as_ptr(items) as *const () as usize),
        Value::Map(map) | Value::Set(map) => Some(Rc::as_ptr(map) as *const () as usize),
        _ => None,
    }
}

/// Empties lists, maps and sets one by one, and drops them.
pub(crate) fn dismantle(made: &mut Vec<Value>) {
    for value in made.iter() {
        match value {
            Value::List(items) => items.borrow_mut().clear(),
            Value::Map(map) | Value::Set(map) => map.borrow_mut().clear(),
            _ => {}
        }
    }
    made.clear();
}
