//! The document that a script writes: `field`, `$` and `metadata`, and the methods of what they return.

use super::write_field::{Members, WriteField};
use super::{metadata, nested_document, write_field};
use crate::error::Outcome;
use crate::library::Machine;
use crate::values::Value;

/// Calls a function of the context; `None` if it does not take these arguments. Fields are in the map `root`;
/// for the metadata it is `ctx`.
pub(super) fn call(name: &str, root: &Members, arguments: &[Value]) -> Option<Value> {
    Some(match (name, arguments) {
        ("field", [Value::Str(path)]) => WriteField::new(root.clone(), path.clone()).shared(),
        ("$", [Value::Str(path), default]) => {
            let field = WriteField::new(root.clone(), path.clone());
            field.value().unwrap_or_else(|| default.clone())
        }
        ("metadata", [Value::Str(context)]) => return metadata::shared(root, context),
        _ => return None,
    })
}

/// Calls a method of an object of this room; `None` if the target is none, or if there is no such method.
pub(in super::super) fn method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    if let Some(found) = write_field::method(machine, target, name, arguments, at)? {
        return Ok(Some(found));
    }
    if let Some(found) = nested_document::method(machine, target, name, arguments, at)? {
        return Ok(Some(found));
    }
    metadata::method(machine, target, name, arguments, at)
}
