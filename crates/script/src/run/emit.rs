//! What the scripts of runtime fields emit.

use std::sync::Arc;

use limber_mapping::geo::GeoPoint;

use super::interpreter::Run;
use crate::error::{Outcome, ScriptError};
use crate::library::Machine;
use crate::values::Value;

/// Maximum number of values that a runtime field of a document may have (`AbstractFieldScript#MAX_VALUES`).
pub(super) const EMITTED_MAX: usize = 100;

/// The value of one `emit` of a runtime field's script.
#[derive(Debug)]
pub struct Emitted {
    /// The name within a `composite`.
    pub part: Option<Arc<str>>,
    /// The value.
    pub value: Value,
}

impl Run<'_> {
    #[inline(never)]
    pub(crate) fn emit(&mut self, mut arguments: Vec<Value>, at: u32) -> Outcome<Value> {
        if let [Value::Double(latitude), Value::Double(longitude)] = arguments[..] {
            let point = GeoPoint { latitude, longitude }.normalized();
            return self.emit_one(None, Value::Point(point), at);
        }
        match (arguments.pop(), arguments.pop()) {
            (Some(value), Some(Value::Str(name))) => self.emit_one(Some(name), value, at),
            (Some(Value::Map(map)), None) => {
                let entries = map.borrow().entries().to_vec();
                for (name, value) in entries {
                    self.emit_one(Some(name.text().into()), value, at)?;
                }
                Ok(Value::Null)
            }
            (Some(value), None) => self.emit_one(None, value, at),
            _ => Err(ScriptError::new(at, "null_pointer_exception", "cannot emit null")),
        }
    }

    fn emit_one(&mut self, part: Option<Arc<str>>, value: Value, at: u32) -> Outcome<Value> {
        if self.emitted.len() >= EMITTED_MAX {
            return Err(ScriptError::argument(
                at,
                format!(
                    "Runtime field [{}] is emitting [{}] values while the maximum number of values allowed is [{EMITTED_MAX}]",
                    self.field_name,
                    EMITTED_MAX + 1
                ),
            ));
        }
        if let Value::Str(text) = &value {
            self.grow(text.len(), at)?;
        }
        self.emitted.push(Emitted { part, value });
        Ok(Value::Null)
    }
}
