//! `java.util.Optional`: a value, or none.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use super::Class;
use crate::error::{Outcome, ScriptError};
use crate::values::{JavaObject, Value};

const STATICS: &[(&str, usize)] = &[("empty", 0), ("of", 1), ("ofNullable", 1)];

pub(super) const CLASS: Class =
    Class { name: "Optional", statics: STATICS, call: static_call, construct: None };

#[derive(Debug)]
struct Optional(Option<Value>);

/// Makes the result of a stream operation that may have found nothing.
pub(in super::super) fn optional(found: Option<Value>) -> Value {
    Value::Object(Rc::new(Optional(found)))
}

fn static_call(name: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(match (name, arguments) {
        ("empty", []) => Some(optional(None)),
        ("of" | "ofNullable", [value]) => {
            Some(optional(Some(value.clone()).filter(|value| !value.is_null())))
        }
        _ => None,
    })
}

impl JavaObject for Optional {
    fn class(&self) -> &'static str {
        "java.util.Optional"
    }

    fn text(&self) -> String {
        match &self.0 {
            Some(value) => format!("Optional[{}]", value.text()),
            None => "Optional.empty".to_owned(),
        }
    }

    fn hash(&self) -> i32 {
        self.0.as_ref().map_or(0, Value::hash)
    }

    fn equals(&self, other: &dyn JavaObject) -> bool {
        match (&self.0, other.as_any().downcast_ref::<Optional>()) {
            (Some(own), Some(Optional(Some(other)))) => own.equals(other),
            (None, Some(Optional(None))) => true,
            _ => false,
        }
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        Ok(Some(match (name, arguments, &self.0) {
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
