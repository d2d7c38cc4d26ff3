//! `value_type`: the type of an unmapped field or of a script's values.

use limber_mapping::{Field, RequestError};
use serde_json::Value;

use crate::aggregation::options::Options;

/// `value_type`. Source: `org.elasticsearch.search.aggregations.support.ValueType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    Text,
    Whole,
    /// OpenSearch's.
    Unsigned,
    Floating,
    Date,
    Address,
    Truth,
}

impl ValueType {
    /// Parses a type.
    ///
    /// # Errors
    /// Fails if the value is not a string or not the name of a type.
    pub fn parse(value: &Value, options: &Options) -> Result<ValueType, RequestError> {
        let Value::String(name) = value else { return Err(options.wrong_type("value_type", value)) };
        Ok(match name.as_str() {
            "string" => ValueType::Text,
            "byte" | "short" | "integer" | "long" | "number" | "numeric" => ValueType::Whole,
            "unsigned_long" => ValueType::Unsigned,
            "float" | "double" => ValueType::Floating,
            "date" => ValueType::Date,
            "ip" => ValueType::Address,
            "boolean" => ValueType::Truth,
            other => {
                return Err(options.refused("value_type", format!("Unknown value type [{other}]")));
            }
        })
    }

    /// Returns the name in Elasticsearch.
    pub fn name(self) -> &'static str {
        match self {
            ValueType::Text => "string",
            ValueType::Whole => "byte|short|integer|long",
            ValueType::Unsigned => "unsigned_long",
            ValueType::Floating => "float|double",
            ValueType::Date => "date",
            ValueType::Address => "ip",
            ValueType::Truth => "boolean",
        }
    }

    /// Returns the name of a field type with such values.
    pub fn field_type(self) -> &'static str {
        match self {
            ValueType::Text => "keyword",
            // As in Elasticsearch, an unmapped field has integers, even if doubles are asked for.
            ValueType::Whole | ValueType::Floating => "long",
            ValueType::Unsigned => "unsigned_long",
            ValueType::Date => "date",
            ValueType::Address => "ip",
            ValueType::Truth => "boolean",
        }
    }

    /// Whether a field's values are of this type.
    pub fn fits(self, field: &Field) -> bool {
        let is_date = field.date().is_some();
        match self {
            ValueType::Text => field.has_keys() && !field.is_ip() && field.number_form().is_none(),
            ValueType::Whole | ValueType::Unsigned | ValueType::Floating => field.is_quantity(),
            ValueType::Date => is_date,
            ValueType::Address => field.is_ip(),
            ValueType::Truth => field.is_bool(),
        }
    }
}
