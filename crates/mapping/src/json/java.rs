//! JSON values as Java prints and reads them, for error messages that equal Elasticsearch's.

use serde_json::Value;

use crate::RequestError;
use crate::number::java_double;

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
        Value::Number(number) if number.is_f64() => java_double(number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}

/// Returns the name of the Java class as which Elasticsearch reads a JSON value.
pub fn java_class(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "java.lang.String",
        Value::Number(number) => match number.as_i64() {
            Some(whole) if i32::try_from(whole).is_ok() => "java.lang.Integer",
            Some(_) => "java.lang.Long",
            None if number.is_u64() => "java.math.BigInteger",
            None => "java.lang.Double",
        },
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
        other => Err(RequestError::not_a_boolean(java_text(other))),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_shown_as_java_shows_them() {
        let check = |value: Value, text: &str, class: &str| {
            assert_eq!((java_text(&value).as_str(), java_class(&value)), (text, class));
        };
        check(json!({"a": [1, "x"]}), "{a=[1, x]}", "java.util.HashMap");
        check(json!(1), "1", "java.lang.Integer");
        check(json!(3_000_000_000_i64), "3000000000", "java.lang.Long");
        check(json!(u64::MAX), "18446744073709551615", "java.math.BigInteger");
        check(json!(1e10), "1.0E10", "java.lang.Double");
        check(json!(0.5), "0.5", "java.lang.Double");
        check(Value::Null, "null", "null");
    }
}
