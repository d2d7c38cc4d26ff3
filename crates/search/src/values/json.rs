//! Leaves of a request body: "which number, boolean or string is this JSON value, as Elasticsearch's parser
//! coerces it?"

use limber_mapping::RequestError;
pub use limber_mapping::{scalar_text, token};
use limber_text::time_value::TimeValue;
use serde_json::Value;

/// Deepest nesting of `{` and `[` that a request body may have; deeper bodies are refused before anything
/// recurses over them.
pub const JSON_DEPTH_MAX: usize = 500;

/// Creates the error `Unknown key for a START_OBJECT in [key].`
pub fn unknown_key(key: &str, value: &Value) -> RequestError {
    RequestError::parsing(format!("Unknown key for a {} in [{key}].", token(value)))
}

/// Refuses values that are nested too deeply; does not recurse itself.
pub fn check_depth(value: &Value) -> Result<(), RequestError> {
    let mut open: Vec<(&Value, usize)> = vec![(value, 1)];
    while let Some((value, depth)) = open.pop() {
        if depth > JSON_DEPTH_MAX {
            return Err(RequestError::bad_request(
                "x_content_parse_exception",
                format!("Document nesting depth ({depth}) exceeds the maximum allowed ({JSON_DEPTH_MAX})"),
            ));
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => open.extend(members.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    Ok(())
}

/// Creates Java's `NumberFormatException` for a string that is not a number.
pub fn number_format(text: impl std::fmt::Display) -> RequestError {
    RequestError::number_format(text)
}

/// Converts a string, number or boolean to a string; `illegal_argument_exception` for other values.
pub fn text(value: &Value) -> Result<String, RequestError> {
    scalar_text(value)
        .ok_or_else(|| RequestError::illegal_argument(format!("Expected text but found {}", token(value))))
}

/// Reads a boolean, or `"true"`/`"false"`; the empty string is false, as in `XContentParser#booleanValue`.
pub fn boolean(value: &Value) -> Result<bool, RequestError> {
    let text = match value {
        Value::Bool(flag) => return Ok(*flag),
        Value::String(text) => text,
        other => {
            let token = match other {
                Value::Number(number) if number.is_f64() => "VALUE_NUMBER_FLOAT",
                Value::Number(_) => "VALUE_NUMBER_INT",
                other => token(other),
            };
            let reason = format!("Current token ({token}) not of boolean type");
            return Err(RequestError::bad_request("x_content_parse_exception", reason));
        }
    };
    match text.as_str() {
        "true" => Ok(true),
        "false" | "" => Ok(false),
        _ => Err(RequestError::not_a_boolean(text)),
    }
}

/// Reads a 32-bit integer; fractions are truncated and numbers in strings are read, as in
/// `XContentParser#intValue`.
pub fn int(value: &Value) -> Result<i32, RequestError> {
    let wide = match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole,
            None => number.as_f64().unwrap_or(f64::NAN) as i64,
        },
        Value::String(text) => match text.parse::<i64>() {
            Ok(whole) => whole,
            Err(_) => text.parse::<f64>().map_err(|_| number_format(text))? as i64,
        },
        other => return Err(not_numeric(other)),
    };
    i32::try_from(wide).map_err(|_| {
        RequestError::illegal_argument(format!(
            "Numeric value ({wide}) out of range of int (-2147483648 - 2147483647)"
        ))
    })
}

fn not_numeric(value: &Value) -> RequestError {
    let token = match value {
        Value::Bool(true) => "VALUE_TRUE",
        Value::Bool(false) => "VALUE_FALSE",
        other => token(other),
    };
    let reason = format!("Current token ({token}) not numeric, can not use numeric value accessors");
    RequestError::bad_request("x_content_parse_exception", reason)
}

/// Refuses an option's value unless it is a string, number or boolean:
/// `[match] unknown token [START_ARRAY] after [boost]`.
pub fn check_scalar(query: &str, option: &str, value: &Value) -> Result<(), RequestError> {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err(RequestError::parsing(format!("[{query}] unknown token [{}] after [{option}]", token(value))))
        }
        _ => Ok(()),
    }
}

/// Reads a float such as a boost.
pub fn float(value: &Value) -> Result<f32, RequestError> {
    match value {
        Value::Number(number) => Ok(number.as_f64().unwrap_or(f64::NAN) as f32),
        Value::String(text) => text.trim().parse::<f32>().map_err(|_| number_format(text)),
        other => Err(not_numeric(other)),
    }
}

/// Parses a time such as `5s` or `100ms` into milliseconds, rounded up; `-1` gives `None`.
pub fn time_millis(text: &str, setting: &str) -> Result<Option<u64>, RequestError> {
    Ok(TimeValue::parse(text, setting)?.map(TimeValue::millis_begun))
}

/// Parses a time into nanoseconds; longer times than these can count become the maximum.
pub fn time_nanos(text: &str, setting: &str) -> Result<Option<u64>, RequestError> {
    Ok(TimeValue::parse(text, setting)?.map(TimeValue::nanos))
}

/// Returns the reason of Elasticsearch's error about a scalar where it expects a string.
pub(crate) fn expected_string(found: &Value) -> String {
    let class = match found {
        Value::Bool(_) => "Boolean",
        Value::Number(number) if number.is_f64() => "Double",
        Value::Number(number) if number.as_i64().is_some_and(|whole| i32::try_from(whole).is_ok()) => {
            "Integer"
        }
        _ => "Long",
    };
    format!("invalid value, expected string, got {class}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn integers_are_coerced_as_elasticsearch_does() {
        for (value, expected) in [
            (json!(5), Some(5)),
            (json!("3"), Some(3)),
            (json!(1.9), Some(1)),
            (json!("abc"), None),
            (json!(3e10), None),
        ] {
            assert_eq!(int(&value).ok(), expected, "{value}");
        }
    }

    #[test]
    fn times_need_a_unit() {
        assert_eq!(time_millis("5s", "timeout").unwrap(), Some(5000));
        assert_eq!(time_millis("-1", "timeout").unwrap(), None);
        assert_eq!(
            time_millis("x", "timeout").unwrap_err().reason,
            "failed to parse setting [timeout] with value [x] as a time value: unit is missing or unrecognized"
        );
    }

    #[test]
    fn deep_values_are_refused_without_recursion() {
        let mut deep = json!(1);
        for _ in 0..JSON_DEPTH_MAX + 1 {
            deep = Value::Array(vec![deep]);
        }
        assert!(check_depth(&deep).is_err());
    }
}
