//! `docvalue_fields` and `fields`: "which values, in which format, besides `_source`?"

use limber_mapping::{ObjectParser, RequestError};
use serde_json::Value;

use crate::values::json;

/// Maximum number of entries that one list may have. Shards also check `docvalue_fields` against the settings
/// of their index.
const FIELDS_COUNT_MAX: usize = 1_000;

/// A field or pattern, and the requested date or number format.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldFormat {
    /// A path, or a pattern with `*`.
    pub field: String,
    /// How dates and numbers are written; `None`: as the mapping says.
    pub format: Option<String>,
    /// Whether unmapped values are included, as the source has them. For `fields` only.
    pub include_unmapped: bool,
}

impl FieldFormat {
    /// Creates an entry for a field or pattern in its own format.
    pub fn of(field: String) -> FieldFormat {
        FieldFormat { field, format: None, include_unmapped: false }
    }

    /// Parses an array of names or of `{"field", "format"}`.
    pub fn parse_list(key: &str, value: &Value) -> Result<Vec<FieldFormat>, RequestError> {
        let Value::Array(items) = value else { return Err(json::unknown_key(key, value)) };
        if items.len() > FIELDS_COUNT_MAX {
            return Err(RequestError::illegal_argument(format!(
                "Trying to retrieve too many {key}. Must be less than or equal to: [{FIELDS_COUNT_MAX}] but was [{}].",
                items.len()
            )));
        }
        items.iter().map(FieldFormat::parse).collect()
    }

    fn parse(item: &Value) -> Result<FieldFormat, RequestError> {
        let Value::Object(members) = item else {
            let field = json::scalar_text(item).ok_or_else(|| {
                let reason =
                    format!("[fetch_field_and_format] Expected START_OBJECT but was: {}", json::token(item));
                RequestError::bad_request("x_content_parse_exception", reason)
            })?;
            return Ok(FieldFormat::of(field));
        };
        let mut parsed = FieldFormat::of(String::new());
        for (name, value) in members {
            let is_text = value.is_string() || (name == "format" && value.is_null());
            if matches!(name.as_str(), "field" | "format") && !is_text {
                return Err(ObjectParser::new("fetch_field_and_format").unsupported(name, value));
            }
            match name.as_str() {
                "field" => parsed.field = json::scalar_text(value).unwrap_or_default(),
                "format" => parsed.format = json::scalar_text(value),
                "include_unmapped" => parsed.include_unmapped = json::boolean(value)?,
                _ => {
                    let known = ["field", "format", "include_unmapped"];
                    return Err(ObjectParser::new("fetch_field_and_format").unknown_among(name, &known));
                }
            }
        }
        if parsed.field.is_empty() {
            return Err(ObjectParser::required("field"));
        }
        Ok(parsed)
    }
}
