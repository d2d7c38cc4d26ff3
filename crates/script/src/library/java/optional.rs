//! `java.util.Optional`: a value, or none.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use super::Class;
use crate::error::{Outcome, ScriptError, failed};
use crate::values::{JavaObject, Value, nesting_of};

const STATICS: &[(&str, usize)] = &[("empty", 0), ("of", 1), ("ofNullable", 1)];

pub(super) const CLASS: Class =
    Class { name: "Optional", constants: &[], statics: STATICS, call: static_call, construct: None };

#[derive(Debug)]
struct Optional {
    value: Option<Value>,
    nesting: u32,
}

/// Makes the result of a stream operation that may have found nothing.
///
/// # Errors
/// It would be nested too deeply.
pub(in super::super) fn optional(value: Option<Value>, at: u32) -> Outcome<Value> {
    let nesting = nesting_of(value.as_slice()).map_err(|failure| failed(failure, at))?;
    Ok(Value::Object(Rc::new(Optional { value, nesting })))
}

fn static_call(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    match (name, arguments) {
        ("empty", []) | ("ofNullable", [Value::Null]) => optional(None, at).map(Some),
        ("of", [Value::Null]) => Err(ScriptError::new(at, "null_pointer_exception", "")),
        ("of" | "ofNullable", [value]) => optional(Some(value.clone()), at).map(Some),
        _ => Ok(None),
    }
}

/// Returns what an `Optional` holds; `None` for another value.
pub(in super::super) fn held_by(value: &Value) -> Option<Option<&Value>> {
    value.object::<Optional>().map(|optional| optional.value.as_ref())
}

impl JavaObject for Optional {
    fn class(&self) -> &'static str {
        "java.util.Optional"
    }

    fn write_text(&self, out: &mut String, depth: u32) {
        let Some(value) = &self.value else { return out.push_str("Optional.empty") };
        out.push_str("Optional[");
        value.write_text(out, depth.saturating_sub(1));
        out.push(']');
    }

    fn hash(&self) -> i32 {
        self.value.as_ref().map_or(0, Value::hash)
    }

    fn equals(&self, other: &dyn JavaObject, depth: u32, steps: &mut u32) -> bool {
        let Some(other) = other.as_any().downcast_ref::<Optional>() else { return false };
        match (&self.value, &other.value) {
            (Some(own), Some(other)) => own.equals_within(other, depth.saturating_sub(1), steps),
            (own, other) => own.is_none() && other.is_none(),
        }
    }

    fn held(&self) -> &[Value] {
        self.value.as_slice()
    }

    fn nesting(&self) -> u32 {
        self.nesting
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        Ok(Some(match (name, arguments, &self.value) {
            ("get" | "getAsInt" | "getAsLong" | "getAsDouble", [], Some(value)) => value.clone(),
            ("get" | "getAsInt" | "getAsLong" | "getAsDouble", [], None) => {
                return Err(ScriptError::new(at, "no_such_element_exception", "No value present"));
            }
            ("isPresent", [], value) => Value::Bool(value.is_some()),
            ("isEmpty", [], value) => Value::Bool(value.is_none()),
            ("orElse", [other], value) => value.as_ref().unwrap_or(other).clone(),
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
