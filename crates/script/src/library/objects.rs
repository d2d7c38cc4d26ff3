//! Methods of objects that call functions of the script, or that make its values grow.

use super::augmented::optional_method;
use super::machine::Machine;
use crate::error::Outcome;
use crate::values::Value;

/// Calls a method; `None` if there is no such method here.
pub(super) fn method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    if let Some(found) = super::java::iterator_method(machine, target, name, arguments, at)? {
        return Ok(Some(found));
    }
    if let Some(found) = super::java::joiner_method(machine, target, name, arguments, at)? {
        return Ok(Some(found));
    }
    if let Some(found) = super::java::queue_method(machine, target, name, arguments, at)? {
        return Ok(Some(found));
    }
    match super::java::held_by(target) {
        Some(held) => optional_method(machine, target, held, name, arguments, at),
        None => super::context::method(machine, target, name, arguments, at),
    }
}
