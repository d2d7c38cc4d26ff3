//! JSON values as Java prints and reads them, for error messages that equal Elasticsearch's.

use serde_json::Value;

use crate::RequestError;

/// Formats a JSON value as Java prints the same map or list (`{a=1, b=[x]}`).
pub fn java_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => format!("[{}]", list.iter().map(java_text).collect::<Vec<_>>().join(", ")),
        Value::Object(object) => {
            let inner: Vec<String> =
                object.iter().map(|(name, value)| format!("{name}={}", java_text(value))).collect();
            format!("{{{}}}", inner.join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns Java's class of a JSON value.
pub(crate) fn java_class(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "java.lang.String",
        Value::Number(number) if number.as_i64().is_some_and(|whole| i32::try_from(whole).is_ok()) => {
            "java.lang.Integer"
        }
        Value::Number(number) if number.is_f64() => "java.lang.Double",
        Value::Number(_) => "java.lang.Long",
        Value::Bool(_) => "java.lang.Boolean",
        Value::Array(_) => "java.util.ArrayList",
        Value::Object(_) => "java.util.HashMap",
        Value::Null => "null",
    }
}

/// Reads a boolean, which may be a string.
pub(crate) fn boolean(value: &Value) -> Result<bool, RequestError> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) if text == "true" => Ok(true),
        Value::String(text) if text == "false" => Ok(false),
        other => Err(RequestError::illegal_argument(format!(
            "Failed to parse value [{}] as only [true] or [false] are allowed.",
            java_text(other)
        ))),
    }
}

/// Reads a boolean, whose error says what it is for.
pub(crate) fn named_boolean(name: &str, value: &Value) -> Result<bool, RequestError> {
    boolean(value).map_err(|cause| {
        RequestError::illegal_argument(format!("Could not convert [{name}] to boolean")).caused_by(cause)
    })
}

/// Creates a `mapper_parsing_exception` (`BadRequest`).
pub(crate) fn mapper_parsing(reason: impl Into<String>) -> RequestError {
    RequestError::bad_request("mapper_parsing_exception", reason)
}
