//! Parses members of a body, with the error messages of Elasticsearch's object parsers.
//!
//! Source: `ObjectParser`, `AbstractXContentParser`.

use serde_json::{Map, Value};

use crate::error::{RequestError, token};

type Result<T> = std::result::Result<T, RequestError>;

/// A parser, with the name that Elasticsearch gives it.
#[derive(Debug, Clone, Copy)]
pub struct ObjectParser<'p>(pub &'p str);

impl ObjectParser<'_> {
    /// An error of this parser that has no form of its own below.
    pub fn refused(self, reason: &str) -> RequestError {
        RequestError::bad_request("x_content_parse_exception", format!("[{}] {reason}", self.0))
    }

    /// Returns the members of the body.
    ///
    /// # Errors
    /// It is not an object.
    pub fn members(self, body: &Value) -> Result<&Map<String, Value>> {
        body.as_object().ok_or_else(|| self.expected_object(body))
    }

    /// The error about a value where an object has to be.
    pub fn expected_object(self, value: &Value) -> RequestError {
        self.refused(&format!("Expected START_OBJECT but was: {}", token(value)))
    }

    /// Returns the error about an unknown member.
    pub fn unknown(self, key: &str) -> RequestError {
        self.refused(&format!("unknown field [{key}]"))
    }

    /// Returns the error about a missing required member.
    pub fn required(key: &str) -> RequestError {
        RequestError::illegal_argument(format!("Required [{key}]"))
    }

    /// Returns the error about a value whose type the member does not support.
    pub fn unsupported(self, key: &str, value: &Value) -> RequestError {
        self.refused(&format!("{key} doesn't support values of type: {}", token(value)))
    }

    /// Returns the error about a member whose value is invalid.
    pub fn failed(self, key: &str, cause: RequestError) -> RequestError {
        self.refused(&format!("failed to parse field [{key}]")).caused_by(cause)
    }

    /// Reads a string.
    ///
    /// # Errors
    /// The value has another type.
    pub fn text<'v>(self, key: &str, value: &'v Value) -> Result<&'v str> {
        value.as_str().ok_or_else(|| self.unsupported(key, value))
    }

    /// Reads an integer, which may be a string.
    ///
    /// # Errors
    /// The value has another type, or is not a 32-bit number.
    pub fn integer(self, key: &str, value: &Value) -> Result<i32> {
        let wrong = |text: &str| self.failed(key, RequestError::number_format(text));
        match value {
            Value::Number(number) => {
                let whole = number.as_i64().or_else(|| number.as_f64().map(|float| float as i64));
                whole.and_then(|whole| i32::try_from(whole).ok()).ok_or_else(|| wrong(&number.to_string()))
            }
            Value::String(text) => text.parse().map_err(|_| wrong(text)),
            _ => Err(self.unsupported(key, value)),
        }
    }

    /// Reads a boolean, which may be a string.
    ///
    /// # Errors
    /// The value has another type, or is another string.
    pub fn flag(self, key: &str, value: &Value) -> Result<bool> {
        match value {
            Value::Bool(flag) => Ok(*flag),
            Value::String(text) if text == "true" || text == "false" => Ok(text == "true"),
            Value::String(text) => Err(self.failed(
                key,
                RequestError::illegal_argument(format!(
                    "Failed to parse value [{text}] as only [true] or [false] are allowed."
                )),
            )),
            _ => Err(self.unsupported(key, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn refusals_are_in_elasticsearchs_words() {
        let check = |error: RequestError, expected: &str| {
            assert_eq!((error.kind, &*error.reason), ("x_content_parse_exception", expected));
        };
        let parser = ObjectParser("policy");
        check(
            parser.members(&json!([1])).expect_err("a list"),
            "[policy] Expected START_OBJECT but was: START_ARRAY",
        );
        check(parser.unknown("foo"), "[policy] unknown field [foo]");
        check(
            parser.text("name", &json!(5)).expect_err("a number"),
            "[policy] name doesn't support values of type: VALUE_NUMBER",
        );
        let failed = parser.integer("count", &json!("many")).expect_err("a word");
        assert_eq!(failed.caused_by, Some(Box::new(RequestError::number_format("many"))));
        check(failed, "[policy] failed to parse field [count]");
        assert_eq!(parser.integer("count", &json!("7")), Ok(7));
        assert_eq!(parser.flag("enabled", &json!("true")), Ok(true));
        assert_eq!(ObjectParser::required("name").reason, "Required [name]");
    }
}
