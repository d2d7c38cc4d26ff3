//! Parses members of a body, with the error messages of Elasticsearch's object parsers.
//!
//! Source: `ObjectParser`, `AbstractXContentParser`.

use limber_text::likeness;
use serde_json::{Map, Value};

use crate::error::{RequestError, token};

type Result<T> = std::result::Result<T, RequestError>;

/// A parser, with the name that Elasticsearch gives it and the type of its errors.
#[derive(Debug, Clone, Copy)]
pub struct ObjectParser<'p> {
    /// Empty for a parser whose errors do not contain its name.
    name: &'p str,
    kind: &'static str,
}

/// Which member an error of a parser is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'r> {
    /// The name of a member.
    Name(&'r str),
    /// The value of a member, and the name of its token, if the error says that.
    Value(&'r str, Option<&'r str>),
    /// The value of a member, or something in it.
    Failed(&'r str),
}

const UNKNOWN: &str = "unknown field [";
const UNSUPPORTED: &str = " doesn't support values of type: ";
const FAILED: &str = "failed to parse field [";

impl<'p> ObjectParser<'p> {
    /// Makes a parser whose errors are `x_content_parse_exception`s, like those of Elasticsearch's
    /// `ObjectParser`.
    pub const fn new(name: &'p str) -> ObjectParser<'p> {
        ObjectParser::of_kind("x_content_parse_exception", name)
    }

    /// Makes a parser whose errors are `parsing_exception`s, like those of Elasticsearch's hand-written
    /// parsers.
    pub const fn parsing(name: &'p str) -> ObjectParser<'p> {
        ObjectParser::of_kind("parsing_exception", name)
    }

    /// Makes a parser whose errors have the type `kind`. Their reasons begin with its name, unless that is
    /// empty.
    pub const fn of_kind(kind: &'static str, name: &'p str) -> ObjectParser<'p> {
        ObjectParser { name, kind }
    }

    /// Returns an error of this parser with any other reason than those of the methods below.
    pub fn refused(self, reason: &str) -> RequestError {
        let reason = match self.name {
            "" => reason.to_owned(),
            name => format!("[{name}] {reason}"),
        };
        RequestError::bad_request(self.kind, reason)
    }

    /// Returns the members of the body.
    ///
    /// # Errors
    /// It is not an object.
    pub fn members(self, body: &Value) -> Result<&Map<String, Value>> {
        body.as_object().ok_or_else(|| self.expected_object(body))
    }

    /// Returns the error for a value that should be an object.
    pub fn expected_object(self, value: &Value) -> RequestError {
        self.refused(&format!("Expected START_OBJECT but was: {}", token(value)))
    }

    /// Returns the error about an unknown member.
    pub fn unknown(self, key: &str) -> RequestError {
        self.unknown_but(key, &[])
    }

    /// Returns the part of a message that names an unknown member, for callers that add to it.
    pub fn unknown_words(key: &str) -> String {
        format!("{UNKNOWN}{key}]")
    }

    /// Returns the error about an unknown member, with the names that were perhaps meant.
    pub fn unknown_but(self, key: &str, meant: &[&str]) -> RequestError {
        self.refused(&format!("{}{}", ObjectParser::unknown_words(key), likeness::hint(meant)))
    }

    /// Returns the error about an unknown member, with the names among `known` that resemble it.
    pub fn unknown_among(self, key: &str, known: &[&str]) -> RequestError {
        self.unknown_but(key, &likeness::similar(key, known.iter().copied()))
    }

    /// Returns the error about a name in a request that should be one of things with a parser each: an
    /// aggregation, a query, a suggester.
    pub fn no_named_object(name: &str) -> RequestError {
        ObjectParser::of_kind("named_object_not_found_exception", "").unknown(name)
    }

    /// Returns the error about a missing required member.
    pub fn required(key: &str) -> RequestError {
        RequestError::illegal_argument(format!("Required [{key}]"))
    }

    /// Returns the error about a value whose type the member does not support.
    pub fn unsupported(self, key: &str, value: &Value) -> RequestError {
        self.unsupported_token(key, token(value))
    }

    /// Does the same as [`ObjectParser::unsupported`], given the name of the token that starts the value.
    pub fn unsupported_token(self, key: &str, token: &str) -> RequestError {
        self.refused(&format!("{key}{UNSUPPORTED}{token}"))
    }

    /// Returns the error about a member whose value is invalid.
    pub fn failed(self, key: &str, cause: RequestError) -> RequestError {
        self.malformed(key).caused_by(cause)
    }

    /// Does the same as [`ObjectParser::failed`], without a cause.
    pub fn malformed(self, key: &str) -> RequestError {
        self.refused(&format!("{FAILED}{key}]"))
    }

    /// Returns the error about members that are each valid, but not together.
    pub fn failed_to_build(self, cause: RequestError) -> RequestError {
        let reason = format!("Failed to build [{}] after last required field arrived", self.name);
        RequestError::bad_request(self.kind, reason).caused_by(cause)
    }

    /// Reads from the reason of such an error which member it is about; `None` if it has another reason.
    pub fn subject(reason: &str) -> Option<Subject<'_>> {
        let named = reason.strip_prefix('[').and_then(|rest| rest.split_once("] "));
        let reason = named.map_or(reason, |(_, rest)| rest);
        if let Some(rest) = reason.strip_prefix(UNKNOWN) {
            return rest.split_once(']').map(|(key, _)| Subject::Name(key));
        }
        if let Some(rest) = reason.strip_prefix(FAILED) {
            return rest.strip_suffix(']').map(Subject::Failed);
        }
        reason.split_once(UNSUPPORTED).map(|(key, token)| Subject::Value(key, Some(token)))
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
            Value::String(text) => Err(self.failed(key, RequestError::not_a_boolean(text))),
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
        let parser = ObjectParser::new("policy");
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

    #[test]
    fn errors_say_which_member_they_are_about() {
        let parser = ObjectParser::new("policy");
        let subject =
            |error: &RequestError| ObjectParser::subject(&error.reason).map(|one| format!("{one:?}"));
        assert_eq!(subject(&parser.unknown_but("foo", &["fox"])).as_deref(), Some("Name(\"foo\")"));
        assert_eq!(subject(&parser.malformed("foo")).as_deref(), Some("Failed(\"foo\")"));
        let unsupported = parser.unsupported("foo", &json!(1));
        assert_eq!(subject(&unsupported).as_deref(), Some("Value(\"foo\", Some(\"VALUE_NUMBER\"))"));
        assert_eq!(subject(&ObjectParser::no_named_object("foo")).as_deref(), Some("Name(\"foo\")"));
        assert_eq!(subject(&parser.refused("other")), None);
    }
}
