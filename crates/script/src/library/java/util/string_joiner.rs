//! `java.util.StringJoiner`.

use std::any::Any;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use super::super::Class;
use crate::error::{Outcome, ScriptError};
use crate::library::Machine;
use crate::values::{JavaObject, Value};

pub(in super::super) const CLASS: Class = Class {
    name: "StringJoiner",
    constants: &[],
    statics: &[],
    call: no_static,
    construct: Some(constructed),
};

#[derive(Debug)]
struct StringJoiner {
    separator: Arc<str>,
    prefix: Arc<str>,
    suffix: Arc<str>,
    /// The texts so far, with separators between them; `None` before the first one.
    joined: RefCell<Option<String>>,
    /// What is printed without any text, in place of prefix and suffix.
    empty: RefCell<Option<Arc<str>>>,
}

fn no_static(_: &str, _: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(None)
}

fn constructed(_: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    let (separator, prefix, suffix) = match arguments {
        [Value::Str(separator)] => (separator.clone(), Arc::from(""), Arc::from("")),
        [Value::Str(separator), Value::Str(prefix), Value::Str(suffix)] => {
            (separator.clone(), prefix.clone(), suffix.clone())
        }
        _ => return Ok(None),
    };
    let (joined, empty) = (RefCell::new(None), RefCell::new(None));
    Ok(Some(Value::Object(Rc::new(StringJoiner { separator, prefix, suffix, joined, empty }))))
}

/// Calls a method; `None` if the target is no such object, or if there is no such method.
pub(in super::super::super) fn method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let Some(joiner) = target.object::<StringJoiner>() else { return Ok(None) };
    match (name, arguments) {
        ("add", [text]) => joiner.add(machine, &text.text(), at)?,
        ("merge", [Value::Null]) => return Err(ScriptError::new(at, "null_pointer_exception", "")),
        ("merge", [other]) => {
            let Some(other) = other.object::<StringJoiner>() else { return Ok(None) };
            let text = other.joined.borrow().clone();
            if let Some(text) = text {
                joiner.add(machine, &text, at)?;
            }
        }
        ("setEmptyValue", [Value::Str(text)]) => *joiner.empty.borrow_mut() = Some(text.clone()),
        ("length", []) => {
            return Ok(Some(Value::Int(joiner.text().encode_utf16().count() as i32)));
        }
        _ => return Ok(None),
    }
    Ok(Some(target.clone()))
}

impl StringJoiner {
    fn add(&self, machine: &mut impl Machine, text: &str, at: u32) -> Outcome<()> {
        machine.grow(self.separator.len() + text.len(), at)?;
        machine.spend((self.separator.len() + text.len()) / 8 + 1, at)?;
        let mut joined = self.joined.borrow_mut();
        match joined.as_mut() {
            None => *joined = Some(text.to_owned()),
            Some(joined) => {
                joined.push_str(&self.separator);
                joined.push_str(text);
            }
        }
        Ok(())
    }
}

impl JavaObject for StringJoiner {
    fn class(&self) -> &'static str {
        "java.util.StringJoiner"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        let (joined, empty) = (self.joined.borrow(), self.empty.borrow());
        if let (None, Some(empty)) = (joined.as_ref(), empty.as_ref()) {
            return out.push_str(empty);
        }
        out.push_str(&self.prefix);
        out.push_str(joined.as_deref().unwrap_or_default());
        out.push_str(&self.suffix);
    }

    fn hash(&self) -> i32 {
        0
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<StringJoiner>().is_some_and(|other| std::ptr::eq(self, other))
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, _: &str, _: &[Value], _: u32) -> Outcome<Option<Value>> {
        Ok(None)
    }

    fn steps(&self) -> usize {
        let joined = self.joined.borrow().as_ref().map_or(0, String::len);
        (self.prefix.len() + joined + self.suffix.len()) / 8
    }

    fn is_mutable(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
