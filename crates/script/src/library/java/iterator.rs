//! `java.util.Iterator` over the items that a collection had when it was asked for one.

use std::any::Any;
use std::cell::Cell;
use std::cmp::Ordering;
use std::rc::Rc;

use crate::error::{Outcome, ScriptError};
use crate::values::{JavaObject, Value};

#[derive(Debug)]
struct ItemIterator {
    items: Vec<Value>,
    next: Cell<usize>,
}

/// An iterator before the first of these items.
pub(in super::super) fn iterator(items: Vec<Value>) -> Value {
    Value::Object(Rc::new(ItemIterator { items, next: Cell::new(0) }))
}

impl JavaObject for ItemIterator {
    fn class(&self) -> &'static str {
        "java.util.Iterator"
    }

    fn text(&self) -> String {
        self.class().to_owned()
    }

    fn hash(&self) -> i32 {
        0
    }

    fn equals(&self, other: &dyn JavaObject) -> bool {
        other.as_any().downcast_ref::<ItemIterator>().is_some_and(|other| std::ptr::eq(self, other))
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        let place = self.next.get();
        Ok(Some(match (name, arguments) {
            ("hasNext", []) => Value::Bool(place < self.items.len()),
            ("next", []) => {
                let found = self.items.get(place).cloned();
                self.next.set(place + 1);
                found.ok_or_else(|| ScriptError::new(at, "no_such_element_exception", ""))?
            }
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
