//! `java.util.Iterator` over the items that a collection had when it was asked for one.

use std::any::Any;
use std::cell::Cell;
use std::cmp::Ordering;
use std::rc::Rc;

use crate::error::{Outcome, ScriptError, failed};
use crate::library::Machine;
use crate::values::{JavaObject, Value, nesting_of, remove};

#[derive(Debug)]
struct ItemIterator {
    items: Vec<Value>,
    next: Cell<usize>,
    nesting: u32,
    source: Source,
    /// The item that was returned last, until it is removed.
    last: Cell<Option<usize>>,
    removed_count: Cell<usize>,
}

/// What [`remove_last`] removes from.
#[derive(Debug)]
enum Source {
    Nothing,
    List(Value),
    /// A map or set, with the key of each item.
    Keys(Value, Vec<Value>),
}

/// Makes an iterator that stands before the first of these items, and removes none.
///
/// # Errors
/// It would be nested too deeply.
pub(in super::super) fn iterator(items: Vec<Value>, at: u32) -> Outcome<Value> {
    made(items, Source::Nothing, at)
}

/// Makes an iterator over a list.
///
/// # Errors
/// As for [`iterator`].
pub(in super::super) fn list_iterator(list: &Value, items: Vec<Value>, at: u32) -> Outcome<Value> {
    made(items, Source::List(list.clone()), at)
}

/// Makes an iterator over items that stand for the keys of a map or set.
///
/// # Errors
/// As for [`iterator`].
pub(in super::super) fn key_iterator(
    map: &Value,
    keys: Vec<Value>,
    items: Vec<Value>,
    at: u32,
) -> Outcome<Value> {
    made(items, Source::Keys(map.clone(), keys), at)
}

fn made(items: Vec<Value>, source: Source, at: u32) -> Outcome<Value> {
    let keys: &[Value] = match &source {
        Source::Keys(_, keys) => keys.as_slice(),
        _ => &[],
    };
    let nesting = |held: &[Value]| nesting_of(held).map_err(|failure| failed(failure, at));
    let nesting = nesting(&items)?.max(nesting(keys)?);
    let (next, last, removed_count) = (Cell::new(0), Cell::new(None), Cell::new(0));
    Ok(Value::Object(Rc::new(ItemIterator { items, next, nesting, source, last, removed_count })))
}

/// Calls a method of an iterator that calls a function or changes its collection; `None` if the target is no
/// iterator, or if there is no such method.
pub(in super::super) fn method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let Some(iterator) = target.object::<ItemIterator>() else { return Ok(None) };
    match (name, arguments) {
        ("remove", []) => remove_last(machine, iterator, at)?,
        ("forEachRemaining", [lambda]) => {
            while let Some(item) = iterator.take() {
                machine.lambda(lambda, &[item], at)?;
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(Value::Null))
}

/// Removes the item that was returned last from the collection.
fn remove_last(machine: &mut impl Machine, iterator: &ItemIterator, at: u32) -> Outcome<()> {
    let Some(last) = iterator.last.take() else {
        return Err(ScriptError::new(at, "illegal_state_exception", ""));
    };
    match &iterator.source {
        Source::Nothing => Err(ScriptError::new(at, "unsupported_operation_exception", "remove")),
        Source::List(list) => {
            machine.check_frozen(list, at)?;
            let Value::List(items) = list else { return Ok(()) };
            let removed_count = iterator.removed_count.get();
            let length = items.borrow().len();
            machine.spend(length / 8 + 1, at)?;
            // The script has changed the list in the meantime.
            if length + removed_count != iterator.items.len() {
                return Err(ScriptError::new(at, "concurrent_modification_exception", ""));
            }
            items.borrow_mut().remove(last - removed_count);
            iterator.removed_count.set(removed_count + 1);
            Ok(())
        }
        Source::Keys(map, keys) => {
            machine.check_frozen(map, at)?;
            if let (Value::Map(map) | Value::Set(map), Some(key)) = (map, keys.get(last)) {
                machine.spend(map.borrow().len() + 1, at)?;
                remove(map, key);
            }
            Ok(())
        }
    }
}

impl ItemIterator {
    fn take(&self) -> Option<Value> {
        let place = self.next.get();
        let found = self.items.get(place).cloned();
        if found.is_some() {
            self.next.set(place + 1);
            self.last.set(Some(place));
        }
        found
    }
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
        Ok(Some(match (name, arguments) {
            ("hasNext" | "hasMoreElements", []) => Value::Bool(self.next.get() < self.items.len()),
            ("next" | "nextElement" | "nextInt" | "nextLong" | "nextDouble", []) => {
                self.take().ok_or_else(|| ScriptError::new(at, "no_such_element_exception", ""))?
            }
            _ => return Ok(None),
        }))
    }

    fn bytes(&self) -> usize {
        let keys = match &self.source {
            Source::Keys(_, keys) => size_of_val(keys.as_slice()),
            _ => 0,
        };
        size_of_val(self) + size_of_val(self.held()) + keys
    }

    fn is_mutable(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
