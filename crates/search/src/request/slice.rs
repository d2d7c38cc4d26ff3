//! "Which part of the hits does this client want?" `slice` lets several clients share a scroll or a point in
//! time without overlap; `search_after` is the page after a hit.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::Value;

use crate::query::Slice;
use crate::values::json;

/// Parses `{"field", "id", "max"}`. In Elasticsearch an object without `id` or `max` finds nothing or
/// everything; here it is refused.
pub(super) fn parse_slice(value: &Value) -> Result<Slice, RequestError> {
    let Value::Object(members) = value else { return Err(json::unknown_key("slice", value)) };
    let (mut field, mut id, mut max) = (None, None, None);
    // The error about two numbers that do not fit names the one that was read last.
    let mut last = "max";
    for (name, value) in members {
        let number = |what: fn(i64) -> Result<(), &'static str>| {
            let checked = json::int(value).and_then(|number| {
                what(number.into()).map_err(RequestError::illegal_argument)?;
                Ok(number as u32)
            });
            checked.map_err(|cause| PARSER.failed(name, cause))
        };
        match (name.as_str(), value) {
            ("field", Value::String(path)) => field = Some(path.clone()),
            ("id", _) => {
                last = "id";
                id = Some(number(|id| match id {
                    0.. => Ok(()),
                    _ => Err("id must be greater than or equal to 0"),
                })?);
            }
            ("max", _) => {
                last = "max";
                max = Some(number(|max| match max {
                    2.. => Ok(()),
                    _ => Err("max must be greater than 1"),
                })?);
            }
            ("field", other) => {
                return Err(PARSER.unsupported("field", other));
            }
            _ => return Err(PARSER.unknown_among(name, &["field", "id", "max"])),
        }
    }
    match (id, max) {
        (Some(id), Some(max)) if id < max => Ok(Slice { field, id, max }),
        (Some(_), Some(_)) => {
            Err(PARSER.failed(last, RequestError::illegal_argument("max must be greater than id")))
        }
        (None, _) => Err(RequestError::illegal_argument("[slice] needs an [id]")),
        (_, None) => Err(RequestError::illegal_argument("[slice] needs a [max]")),
    }
}

const PARSER: ObjectParser<'_> = ObjectParser::new("slice");

/// Parses the sort values of the last hit of the page before.
pub(super) fn parse_search_after(value: &Value) -> Result<Vec<Value>, RequestError> {
    let Value::Array(values) = value else { return Err(json::unknown_key("search_after", value)) };
    if values.is_empty() {
        return Err(RequestError::illegal_argument("Values must contains at least one value."));
    }
    match values.iter().find(|value| value.is_array() || value.is_object()) {
        Some(nested) => Err(RequestError::parsing(format!(
            "Expected [VALUE_STRING] or [VALUE_NUMBER] or [VALUE_BOOLEAN] or [VALUE_NULL] but found [{}] inside search_after.",
            json::token(nested)
        ))),
        None => Ok(values.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Reasons recorded from Elasticsearch 9.4.3.
    #[test]
    fn slices_are_read_or_refused_in_elasticsearchs_words() {
        let slice = parse_slice(&json!({"field": "n", "id": 1, "max": 2})).unwrap();
        assert_eq!(slice, Slice { field: Some("n".to_owned()), id: 1, max: 2 });
        for (value, reason, cause) in [
            (
                json!({"id": 2, "max": 2}),
                "[slice] failed to parse field [max]",
                "max must be greater than id",
            ),
            (
                json!({"id": -1, "max": 2}),
                "[slice] failed to parse field [id]",
                "id must be greater than or equal to 0",
            ),
            (json!({"id": 0, "max": 1}), "[slice] failed to parse field [max]", "max must be greater than 1"),
            (json!({"id": "x", "max": 2}), "[slice] failed to parse field [id]", "For input string: \"x\""),
            (json!({"max": 3, "foo": 1}), "[slice] unknown field [foo]", ""),
            (json!([]), "Unknown key for a START_ARRAY in [slice].", ""),
        ] {
            let error = parse_slice(&value).unwrap_err();
            assert_eq!(error.reason, reason);
            assert_eq!(error.caused_by.map_or(String::new(), |cause| cause.reason), cause);
        }
    }
}
