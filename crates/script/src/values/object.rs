//! Objects of classes that have a file of their own in the library (`library/java`).

use std::any::Any;
use std::cmp::Ordering;
use std::fmt::Debug;

use super::value::Value;
use crate::error::Outcome;

/// An object that never changes, such as a `BigDecimal` or a `LocalDate`.
pub trait JavaObject: Debug {
    /// Full name of the class.
    fn class(&self) -> &'static str;

    /// `Object#toString`.
    fn text(&self) -> String;

    /// `Object#hashCode`.
    fn hash(&self) -> i32;

    /// `Object#equals`, for an object of the same class.
    fn equals(&self, other: &dyn JavaObject) -> bool;

    /// `Comparable#compareTo`; `None`: the classes differ, or have no order.
    fn compare(&self, other: &dyn JavaObject) -> Option<Ordering>;

    /// What a method gives; `None`: there is none of this name that takes these arguments.
    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>>;

    /// The number that it is, for what wants a double.
    fn number(&self) -> Option<f64> {
        None
    }

    /// Lets another object of the class look into it.
    fn as_any(&self) -> &dyn Any;
}
