//! Objects of classes that have a file of their own in the library (`library/java`).

use std::any::Any;
use std::cmp::Ordering;
use std::fmt::Debug;

use super::value::{Value, argument};
use crate::error::{Failure, Outcome};

/// Largest nesting of objects that hold objects: dropping, printing and comparing one recurses as deeply.
const NESTING_MAX: u32 = 50;

/// An object such as a `BigDecimal` or a `LocalDate`. The values that it holds stay the same.
///
/// **Invariant**: an object that holds values is nested at most [`NESTING_MAX`] deep ([`nesting_of`]).
pub trait JavaObject: Debug {
    /// Returns the full name of the class.
    fn class(&self) -> &'static str;

    /// Appends the result of `Object#toString`. `depth` is the number of levels of its values that it may
    /// still print.
    fn write_text(&self, out: &mut String, depth: u32);

    /// `Object#hashCode`.
    fn hash(&self) -> i32;

    /// `Object#equals`, for an object of the same class. Values that it holds are compared by
    /// [`Value::equals_within`] with `depth` and `steps`.
    fn equals(&self, other: &dyn JavaObject, depth: u32, steps: &mut u32) -> bool;

    /// Compares like `Comparable#compareTo`; `None` if the classes differ or have no order.
    fn compare(&self, other: &dyn JavaObject) -> Option<Ordering>;

    /// Calls a method; `None` if there is no method with this name that takes these arguments.
    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>>;

    /// Returns the values that it holds.
    fn held(&self) -> &[Value] {
        &[]
    }

    /// Returns how deeply objects are nested in it; 0 if it holds none.
    fn nesting(&self) -> u32 {
        0
    }

    /// Returns its approximate memory in bytes, without that of the values that it holds.
    fn bytes(&self) -> usize {
        size_of_val(self) + size_of_val(self.held())
    }

    /// Returns the approximate time of a method, in units of about 10 nanoseconds.
    fn steps(&self) -> usize {
        1
    }

    /// Returns the list that stands for it in loops, in JSON and in documents, if it is a collection.
    fn list(&self) -> Option<&Value> {
        None
    }

    /// Whether a method can change it, so that documents must not share it.
    fn is_mutable(&self) -> bool {
        false
    }

    /// Returns its value as a double, if it is a number.
    fn number(&self) -> Option<f64> {
        None
    }

    /// `Object#toString`.
    fn text(&self) -> String {
        let mut text = String::new();
        self.write_text(&mut text, super::value::TEXT_DEPTH);
        text
    }

    /// Returns the text that stands for it in JSON.
    fn shown(&self) -> String {
        self.text()
    }

    /// Lets another object of the class look into it.
    fn as_any(&self) -> &dyn Any;
}

impl Value {
    /// Returns the value as an object of the class `T`, if it is one.
    pub(crate) fn object<T: 'static>(&self) -> Option<&T> {
        match self {
            Value::Object(object) => object.as_any().downcast_ref(),
            _ => None,
        }
    }
}

/// Returns the nesting of an object that will hold these values.
///
/// # Errors
/// It would be nested too deeply.
pub(crate) fn nesting_of(held: &[Value]) -> Result<u32, Failure> {
    let nesting = |value: &Value| match value {
        Value::Object(object) => object.nesting() + 1,
        _ => 0,
    };
    match held.iter().map(nesting).max().unwrap_or(0) {
        nesting if nesting > NESTING_MAX => {
            Err(argument(format!("objects are nested deeper than {NESTING_MAX} levels")))
        }
        nesting => Ok(nesting),
    }
}
