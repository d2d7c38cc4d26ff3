//! Members of a body, refused in the words of Elasticsearch's parsers of objects.
//!
//! Source: `ObjectParser`, `AbstractXContentParser`.

use serde_json::{Map, Value};

use crate::error::{RequestError, token};

type Result<T> = std::result::Result<T, RequestError>;

/// A parser by the name that Elasticsearch gives it.
#[derive(Debug, Clone, Copy)]
pub struct ObjectParser<'p>(pub &'p str);

impl ObjectParser<'_> {
    /// An error of this parser that has no form of its own below.
    pub fn refused(self, reason: &str) -> RequestError {
        RequestError::bad_request("x_content_parse_exception", format!("[{}] {reason}", self.0))
    }

    /// The members of the body.
    ///
    /// # Errors
    /// It is no object.
    pub fn members(self, body: &Value) -> Result<&Map<String, Value>> {
        body.as_object().ok_or_else(|| self.expected_object(body))
    }

    /// The error about a value where an object has to be.
    pub fn expected_object(self, value: &Value) -> RequestError {
        self.refused(&format!("Expected START_OBJECT but was: {}", token(value)))
    }

    /// The error about a member that nobody knows.
    pub fn unknown(self, key: &str) -> RequestError {
        self.refused(&format!("unknown field [{key}]"))
    }

    /// The error about a member that has to be there.
    pub fn required(key: &str) -> RequestError {
        RequestError::illegal_argument(format!("Required [{key}]"))
    }

    /// The error about a value of a type that the member does not have.
    pub fn unsupported(self, key: &str, value: &Value) -> RequestError {
        self.refused(&format!("{key} doesn't support values of type: {}", token(value)))
    }

    /// The error about a member in whose value something is wrong.
    pub fn failed(self, key: &str, cause: RequestError) -> RequestError {
        self.refused(&format!("failed to parse field [{key}]")).caused_by(cause)
    }

    /// A text.
    ///
    /// # Errors
    /// A value of another type.
    pub fn text<'v>(self, key: &str, value: &'v Value) -> Result<&'v str> {
        value.as_str().ok_or_else(|| self.unsupported(key, value))
    }

    /// A whole number, as a text too.
    ///
    /// # Errors
    /// A value of another type, or one that is no 32-bit number.
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

    /// `true` or `false`, as a text too.
    ///
    /// # Errors
    /// A value of another type, or another text.
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
