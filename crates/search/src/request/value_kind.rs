//! Types of the values of options. Source: Elasticsearch's `ObjectParser.ValueType`.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::Value;

#[derive(Clone, Copy)]
pub(super) enum ValueKind {
    Text,
    Texts,
    Int,
    Boolean,
    Object,
    Objects,
    ObjectsOrText,
    ObjectsOrTextOrBoolean,
}

impl ValueKind {
    /// Checks that `value` is of this kind. `parser` is that of the enclosing object.
    pub fn check(self, parser: ObjectParser<'_>, key: &str, value: &Value) -> Result<(), RequestError> {
        let is_objects = value.is_object() || value.is_array();
        let fits = match self {
            ValueKind::Text => value.is_string(),
            ValueKind::Texts => value.is_string() || value.is_array(),
            ValueKind::Int => value.is_string() || value.is_number(),
            ValueKind::Boolean => value.is_string() || value.is_boolean(),
            ValueKind::Object => value.is_object(),
            ValueKind::Objects => is_objects,
            ValueKind::ObjectsOrText => is_objects || value.is_string(),
            ValueKind::ObjectsOrTextOrBoolean => is_objects || value.is_string() || value.is_boolean(),
        };
        if fits { Ok(()) } else { Err(parser.unsupported(key, value)) }
    }
}
