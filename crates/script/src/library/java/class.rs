//! The description of a class: its static methods, constants and constructor.

use super::CLASSES;
use crate::error::Outcome;
use crate::values::Value;

/// Makes an object from arguments; `None` if it does not take these.
type Make = fn(name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>>;

/// A class by its short name.
pub(crate) struct Class {
    pub name: &'static str,
    /// Static fields, which a script names without parentheses.
    pub constants: &'static [&'static str],
    /// Static methods with the numbers of their arguments.
    pub statics: &'static [(&'static str, usize)],
    pub call: Make,
    /// The constructor, called with an empty name.
    pub construct: Option<Make>,
}

fn find(class: &str) -> Option<&'static Class> {
    CLASSES.iter().find(|known| known.name == class)
}

/// Whether a class has such a static field.
pub(crate) fn is_constant(class: &str, name: &str) -> bool {
    find(class).is_some_and(|class| class.constants.contains(&name))
}

/// Whether a class has such a static method.
pub(crate) fn is_static(class: &str, name: &str, count: usize) -> bool {
    find(class).is_some_and(|class| class.statics.contains(&(name, count)))
}

/// Calls a static method or reads a constant; `None` if the class has no static member with this name that
/// takes these arguments.
pub(crate) fn static_call(class: &str, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    find(class).map_or(Ok(None), |class| (class.call)(name, arguments, at))
}

/// Makes a new object; `None` if the class has no constructor that takes these arguments.
pub(crate) fn construct(class: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    find(class).and_then(|class| class.construct).map_or(Ok(None), |make| make("", arguments, at))
}
