//! `java.util.Date`: a moment to the millisecond.

use std::any::Any;
use std::cell::Cell;
use std::cmp::Ordering;
use std::rc::Rc;

use limber_mapping::date::{DateFormat, default_format};

use super::Class;
use crate::error::Outcome;
use crate::values::{JavaObject, Value};

pub(super) const CLASS: Class = Class {
    name: "Date",
    constants: &[],
    statics: &[("from", 1)],
    call: static_call,
    construct: Some(constructed),
};

#[derive(Debug)]
struct Date {
    millis: Cell<i64>,
}

/// Makes a date of milliseconds since 1970.
pub(in super::super) fn date_of(millis: i64) -> Value {
    Value::Object(Rc::new(Date { millis: Cell::new(millis) }))
}

/// Returns the milliseconds since 1970 of a date; `None` for another value.
pub(super) fn millis_of(value: &Value) -> Option<i64> {
    value.object::<Date>().map(|date| date.millis.get())
}

fn static_call(name: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(match (name, arguments) {
        ("from", [Value::Date(date)]) if date.is_instant => Some(date_of(date.millis())),
        _ => None,
    })
}

fn constructed(_: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(match arguments {
        [millis @ (Value::Int(_) | Value::Long(_))] => Some(date_of(millis.i64())),
        _ => None,
    })
}

impl JavaObject for Date {
    fn class(&self) -> &'static str {
        "java.util.Date"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        if let Ok(format) = DateFormat::shared("EEE MMM dd HH:mm:ss 'UTC' uuuu") {
            out.push_str(&format.format_millis(self.millis.get()));
        }
    }

    fn shown(&self) -> String {
        default_format().format_millis(self.millis.get())
    }

    fn hash(&self) -> i32 {
        Value::Long(self.millis.get()).hash()
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<Date>().is_some_and(|other| self.millis == other.millis)
    }

    fn compare(&self, other: &dyn JavaObject) -> Option<Ordering> {
        other.as_any().downcast_ref::<Date>().map(|other| self.millis.get().cmp(&other.millis.get()))
    }

    fn call(&self, name: &str, arguments: &[Value], _: u32) -> Outcome<Option<Value>> {
        let (millis, other) = (self.millis.get(), arguments.first().and_then(millis_of));
        Ok(match (name, arguments, other) {
            ("getTime", [], _) => Some(Value::Long(millis)),
            ("setTime", [time @ (Value::Int(_) | Value::Long(_))], _) => {
                self.millis.set(time.i64());
                Some(Value::Null)
            }
            ("clone", [], _) => Some(date_of(millis)),
            ("after", [_], Some(other)) => Some(Value::Bool(millis > other)),
            ("before", [_], Some(other)) => Some(Value::Bool(millis < other)),
            _ => None,
        })
    }

    fn is_mutable(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
