//! `stored_fields`: "which stored fields are shown besides the source?"

use limber_mapping::RequestError;
use serde_json::Value;

use crate::values::json;

/// `stored_fields`. The values of fields mapped with `store: true` are read from `_source`.
#[derive(Debug, Clone, PartialEq)]
pub enum StoredFields {
    /// `_none_`: neither `_id` nor `_source`.
    None,
    /// Names of fields; `_source` is only shown if it is among them.
    Names(Vec<String>),
}

impl StoredFields {
    pub(super) fn parse_names(names: Vec<String>) -> Result<StoredFields, RequestError> {
        match names.iter().any(|name| name == "_none_") {
            true if names.len() > 1 => {
                Err(RequestError::illegal_argument("cannot combine _none_ with other fields"))
            }
            true => Ok(StoredFields::None),
            false => Ok(StoredFields::Names(names)),
        }
    }

    pub(super) fn parse(value: &Value) -> Result<StoredFields, RequestError> {
        match value {
            Value::String(name) => StoredFields::parse_names(vec![name.clone()]),
            Value::Array(items) => {
                StoredFields::parse_names(items.iter().filter_map(json::scalar_text).collect())
            }
            other => Err(json::unknown_key("stored_fields", other)),
        }
    }
}
