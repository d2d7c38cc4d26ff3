//! `java.util.Stack` and `java.util.PriorityQueue`: lists with methods of their own.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use super::super::{Class, iterator};
use crate::error::{Outcome, ScriptError};
use crate::library::order::ordered;
use crate::library::store::{admit, position};
use crate::library::{Machine, call_method, is_change};
use crate::values::{JavaObject, Value};

pub(in super::super) const STACK: Class =
    Class { name: "Stack", constants: &[], statics: &[], call: no_static, construct: Some(stack) };

pub(in super::super) const PRIORITY_QUEUE: Class = Class {
    name: "PriorityQueue",
    constants: &[],
    statics: &[],
    call: no_static,
    construct: Some(priority_queue),
};

#[derive(Debug)]
struct Queue {
    /// Whether its first item is always the least one. Otherwise the last item is taken first.
    is_priority: bool,
    /// The list of its items, and the order of a `PriorityQueue`: null is the natural one.
    held: [Value; 2],
}

fn no_static(_: &str, _: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(None)
}

fn made(is_priority: bool, order: Value) -> Value {
    Value::Object(Rc::new(Queue { is_priority, held: [Value::list(Vec::new()), order] }))
}

fn stack(_: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(arguments.is_empty().then(|| made(false, Value::Null)))
}

fn priority_queue(_: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(match arguments {
        [] => Some(made(true, Value::Null)),
        [order @ (Value::Lambda(_) | Value::List(_) | Value::Str(_) | Value::Null)] => {
            Some(made(true, order.clone()))
        }
        _ => None,
    })
}

/// Calls a method; `None` if the target is no such object, or if there is no such method.
pub(in super::super::super) fn method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let Some(queue) = target.object::<Queue>() else { return Ok(None) };
    let found = match queue.is_priority {
        true => queue.of_priority_queue(machine, name, arguments, at)?,
        false => queue.of_stack(machine, name, arguments, at)?,
    };
    let is_of_list = !queue.is_priority || !is_change(name);
    match found {
        None if is_of_list => call_method(machine, queue.items(), name, arguments.to_vec(), at).map(Some),
        found => Ok(found),
    }
}

impl Queue {
    fn items(&self) -> &Value {
        &self.held[0]
    }

    fn item(&self, place: usize) -> Option<Value> {
        match self.items() {
            Value::List(items) => items.borrow().get(place).cloned(),
            _ => None,
        }
    }

    fn len(&self) -> usize {
        match self.items() {
            Value::List(items) => items.borrow().len(),
            _ => 0,
        }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Value>)) {
        if let Value::List(items) = self.items() {
            change(&mut items.borrow_mut());
        }
    }

    fn of_stack(
        &self,
        machine: &mut impl Machine,
        name: &str,
        arguments: &[Value],
        at: u32,
    ) -> Outcome<Option<Value>> {
        let empty = || ScriptError::new(at, "empty_stack_exception", "");
        Ok(Some(match (name, arguments) {
            ("push", [item]) => {
                admit(machine, item, at)?;
                self.change(|items| items.push(item.clone()));
                item.clone()
            }
            ("pop", []) => {
                let last = self.len().checked_sub(1).and_then(|last| self.item(last)).ok_or_else(empty)?;
                self.change(|items| drop(items.pop()));
                last
            }
            ("peek", []) => self.len().checked_sub(1).and_then(|last| self.item(last)).ok_or_else(empty)?,
            ("empty", []) => Value::Bool(self.len() == 0),
            ("search", [item]) => {
                let items = machine.items(self.items(), at)?;
                let found = position(machine, items.iter().rev(), item, at)?;
                Value::Int(found.map_or(-1, |found| found as i32 + 1))
            }
            _ => return Ok(None),
        }))
    }

    fn of_priority_queue(
        &self,
        machine: &mut impl Machine,
        name: &str,
        arguments: &[Value],
        at: u32,
    ) -> Outcome<Option<Value>> {
        let none = || ScriptError::new(at, "no_such_element_exception", "");
        Ok(Some(match (name, arguments) {
            ("add" | "offer", [Value::Null]) => {
                return Err(ScriptError::new(at, "null_pointer_exception", ""));
            }
            ("add" | "offer", [item]) => {
                self.insert(machine, item, at)?;
                Value::Bool(true)
            }
            ("addAll", [more]) => {
                let more = machine.items(more, at)?;
                for item in &more {
                    self.insert(machine, item, at)?;
                }
                Value::Bool(!more.is_empty())
            }
            ("peek", []) => self.item(0).unwrap_or(Value::Null),
            ("element", []) => self.item(0).ok_or_else(none)?,
            ("poll", []) => self.take(machine, 0, at)?.unwrap_or(Value::Null),
            ("remove", []) => self.take(machine, 0, at)?.ok_or_else(none)?,
            ("remove", [item]) => {
                let items = machine.items(self.items(), at)?;
                let found = position(machine, items.iter(), item, at)?;
                if let Some(place) = found {
                    self.take(machine, place, at)?;
                }
                Value::Bool(found.is_some())
            }
            ("clear", []) => {
                self.change(Vec::clear);
                Value::Null
            }
            ("removeIf" | "removeAll" | "retainAll", [_]) => {
                let is_changed = call_method(machine, self.items(), name, arguments.to_vec(), at)?;
                for place in (0..self.len() / 2).rev() {
                    self.sink(machine, place, at)?;
                }
                is_changed
            }
            ("iterator", []) => iterator(machine.items(self.items(), at)?, at)?,
            _ => return Ok(None),
        }))
    }

    /// Adds an item and lets it rise to its place in the heap.
    fn insert(&self, machine: &mut impl Machine, item: &Value, at: u32) -> Outcome<()> {
        admit(machine, item, at)?;
        self.change(|items| items.push(item.clone()));
        self.rise(machine, self.len().saturating_sub(1), at)
    }

    /// Whether the first of two items comes after the second one.
    fn is_after(&self, machine: &mut impl Machine, places: (usize, usize), at: u32) -> Outcome<bool> {
        let (Some(left), Some(right)) = (self.item(places.0), self.item(places.1)) else { return Ok(false) };
        Ok(ordered(machine, &left, &right, Some(&self.held[1]), at)? == Ordering::Greater)
    }

    fn swap(&self, left: usize, right: usize) {
        self.change(|items| {
            if left.max(right) < items.len() {
                items.swap(left, right);
            }
        });
    }

    fn rise(&self, machine: &mut impl Machine, mut place: usize, at: u32) -> Outcome<()> {
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.is_after(machine, (parent, place), at)? {
                break;
            }
            self.swap(parent, place);
            place = parent;
        }
        Ok(())
    }

    fn sink(&self, machine: &mut impl Machine, mut place: usize, at: u32) -> Outcome<()> {
        while place < self.len() / 2 {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let is_right = right < self.len() && self.is_after(machine, (left, right), at)?;
            let child = if is_right { right } else { left };
            if !self.is_after(machine, (place, child), at)? {
                break;
            }
            self.swap(place, child);
            place = child;
        }
        Ok(())
    }

    /// Removes an item; the last one takes its place, and sinks or rises from there.
    fn take(&self, machine: &mut impl Machine, place: usize, at: u32) -> Outcome<Option<Value>> {
        let mut taken = None;
        self.change(|items| taken = (place < items.len()).then(|| items.swap_remove(place)));
        self.sink(machine, place, at)?;
        if taken.is_some() && place < self.len() {
            self.rise(machine, place, at)?;
        }
        Ok(taken)
    }
}

impl JavaObject for Queue {
    fn class(&self) -> &'static str {
        if self.is_priority { "java.util.PriorityQueue" } else { "java.util.Stack" }
    }

    fn write_text(&self, out: &mut String, depth: u32) {
        self.items().write_text(out, depth.saturating_sub(1));
    }

    fn hash(&self) -> i32 {
        0
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<Queue>().is_some_and(|other| std::ptr::eq(self, other))
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, _: &str, _: &[Value], _: u32) -> Outcome<Option<Value>> {
        Ok(None)
    }

    fn held(&self) -> &[Value] {
        &self.held
    }

    fn list(&self) -> Option<&Value> {
        Some(&self.held[0])
    }

    fn is_mutable(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
