//! `java.util.Iterator` over the items that a collection had when it was asked for one.

use std::any::Any;
use std::cell::Cell;
use std::cmp::Ordering;
use std::rc::Rc;

use crate::error::{Outcome, ScriptError, failed};
use crate::values::{JavaObject, Value, nesting_of};

#[derive(Debug)]
struct ItemIterator {
    items: Vec<Value>,
    next: Cell<usize>,
    nesting: u32,
}

/// Makes an iterator that stands before the first of these items.
///
/// # Errors
/// It would be nested too deeply.
pub(in super::super) fn iterator(items: Vec<Value>, at: u32) -> Outcome<Value> {
    let nesting = nesting_of(&items).map_err(|failure| failed(failure, at))?;
    Ok(Value::Object(Rc::new(ItemIterator { items, next: Cell::new(0), nesting })))
}

impl JavaObject for ItemIterator {
    fn class(&self) -> &'static str {
        "java.util.Iterator"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        out.push_str(self.class());
    }

    fn hash(&self) -> i32 {
        0
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<ItemIterator>().is_some_and(|other| std::ptr::eq(self, other))
    }

    fn held(&self) -> &[Value] {
        &self.items
    }

    fn nesting(&self) -> u32 {
        self.nesting
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
                self.next.set((place + 1).min(self.items.len()));
                found.ok_or_else(|| ScriptError::new(at, "no_such_element_exception", ""))?
            }
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
