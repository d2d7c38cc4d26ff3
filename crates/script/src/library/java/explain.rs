//! `Debug.explain`: an error that says what a value is.
//!
//! Source: `PainlessExplainError`.

use limber_mapping::ValueKind;

use crate::error::{Outcome, ScriptError};
use crate::library::Machine;
use crate::values::{MapOrder, Value};

/// Returns the error that shows a value's text and its class.
pub(in super::super) fn explained(
    machine: &mut impl Machine,
    value: &Value,
    at: u32,
) -> Outcome<ScriptError> {
    let (text, class) = match value {
        Value::Null => (value.text(), None),
        Value::Field(field) => {
            let values = Value::list(machine.field_values(*field, at)?);
            (values.text(), Some(class_of_field(machine, *field, at)?))
        }
        Value::Map(map) => (value.text(), Some(class_of_map(map.borrow().order))),
        Value::Set(set) => (value.text(), Some(class_of_set(set.borrow().order))),
        value => (value.text(), Some(value.class())),
    };
    Ok(ScriptError::explaining(at, &text, class))
}

fn class_of_map(order: MapOrder) -> &'static str {
    match order {
        MapOrder::Inserted => "java.util.LinkedHashMap",
        MapOrder::Hashed => "java.util.HashMap",
        MapOrder::Sorted => "java.util.TreeMap",
    }
}

fn class_of_set(order: MapOrder) -> &'static str {
    match order {
        MapOrder::Inserted => "java.util.LinkedHashSet",
        MapOrder::Hashed => "java.util.HashSet",
        MapOrder::Sorted => "java.util.TreeSet",
    }
}

/// Returns the class of the values of a field.
fn class_of_field(machine: &mut impl Machine, field: u16, at: u32) -> Outcome<&'static str> {
    let (reader, _) = machine.reader(field, at)?;
    Ok(match reader.field().map(|field| &field.values) {
        Some(ValueKind::Long(_)) => "org.elasticsearch.index.fielddata.ScriptDocValues$Longs",
        Some(ValueKind::UnsignedLong) => "org.elasticsearch.index.fielddata.ScriptDocValues$UnsignedLongs",
        Some(ValueKind::Double(_) | ValueKind::Scaled(_)) => {
            "org.elasticsearch.index.fielddata.ScriptDocValues$Doubles"
        }
        Some(ValueKind::Bool) => "org.elasticsearch.index.fielddata.ScriptDocValues$Booleans",
        Some(ValueKind::Date { .. }) => "org.elasticsearch.index.fielddata.ScriptDocValues$Dates",
        Some(ValueKind::Point) => "org.elasticsearch.index.fielddata.ScriptDocValues$GeoPoints",
        Some(ValueKind::Bytes) => "org.elasticsearch.index.fielddata.ScriptDocValues$BytesRefs",
        _ => "org.elasticsearch.index.fielddata.ScriptDocValues$Strings",
    })
}
