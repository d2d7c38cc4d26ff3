//! Bytes that are not JSON: "what does Jackson say about them?", for bodies that are read without a mapping.

use super::error::{place, syntax_cause};
use super::json::{JsonErrorKind, error, scalar_end, skip_value, string_end};
use super::scan::skip_space;
use crate::RequestError;

/// Nesting levels that Jackson allows.
const DEPTH_MAX: usize = 1000;

/// Returns the error about the value that a body begins with, if it is not JSON. What follows it is ignored.
pub fn json_fault(bytes: &[u8]) -> Option<RequestError> {
    let start = skip_space(bytes, 0);
    skip_value(bytes, start, 0, DEPTH_MAX).err().map(|fault| syntax_cause(bytes, &fault))
}

/// What follows the first value of a body.
#[derive(Debug, PartialEq)]
pub enum Trailing {
    /// Another value, which begins with this token at this line and column.
    Token(&'static str, usize, usize),
    /// Bytes that are not JSON.
    Fault(RequestError),
}

/// Returns what follows the first value of a body; `None` if there is nothing, or no such value.
pub fn after_value(bytes: &[u8]) -> Option<Trailing> {
    let start = skip_space(bytes, 0);
    let rest = skip_space(bytes, skip_value(bytes, start, 0, DEPTH_MAX).ok()?);
    let (line, column) = place(bytes, rest);
    let token = match bytes.get(rest)? {
        mark @ (b'}' | b']') => {
            let fault = error(rest, JsonErrorKind::CloseMarker(*mark));
            return Some(Trailing::Fault(syntax_cause(bytes, &fault)));
        }
        b'{' => "START_OBJECT",
        b'[' => "START_ARRAY",
        _ => match scalar_end(bytes, rest) {
            Err(fault) => return Some(Trailing::Fault(syntax_cause(bytes, &fault))),
            Ok(_) => scalar_token(bytes[rest]),
        },
    };
    Some(Trailing::Token(token, line, column))
}

/// Returns Jackson's name for a scalar that begins with this byte.
pub(super) fn scalar_token(first: u8) -> &'static str {
    match first {
        b'"' => "VALUE_STRING",
        b't' => "VALUE_TRUE",
        b'f' => "VALUE_FALSE",
        b'n' => "VALUE_NULL",
        _ => "VALUE_NUMBER",
    }
}

/// Returns Jackson's message about a document that ends too early, without the place.
///
/// Source: `UTF8StreamJsonParser#_skipWS`, `JsonParserBase#_handleEOF`.
pub(super) fn end_of_input(source: &[u8], quoted: &str) -> String {
    // The containers that are open, and where they begin. There are no more than a document may be deep,
    // because a deeper one was refused before its end was found.
    let mut open: Vec<usize> = Vec::new();
    let (mut at, mut is_within, mut is_key) = (skip_space(source, 0), false, false);
    while let Some(&byte) = source.get(at) {
        let is_in_object = open.last().is_some_and(|&start| source[start] == b'{');
        at = match byte {
            b'{' | b'[' => {
                open.push(at);
                (is_within, is_key) = (false, byte == b'{');
                at + 1
            }
            b'}' | b']' => {
                open.pop();
                (is_within, is_key) = (false, false);
                at + 1
            }
            b',' | b':' => {
                (is_within, is_key) = (true, byte == b',' && is_in_object);
                at + 1
            }
            b'"' => match string_end(source, at + 1) {
                Err(_) if is_key => return "Unexpected end-of-input in field name".to_owned(),
                Err(_) => return "Unexpected end-of-input in VALUE_STRING".to_owned(),
                Ok((end, _)) => {
                    (is_within, is_key) = (is_key, false);
                    end + 1
                }
            },
            _ => {
                (is_within, is_key) = (false, false);
                let is_end = |byte: &u8| matches!(byte, b',' | b':' | b'}' | b']' | b'"' | ..=b' ');
                source[at..].iter().position(is_end).map_or(source.len(), |length| at + length.max(1))
            }
        };
        at = skip_space(source, at);
    }
    let Some(start) = open.pop() else { return "Unexpected end-of-input".to_owned() };
    let kind = if source[start] == b'{' { "Object" } else { "Array" };
    if is_within {
        return format!("Unexpected end-of-input within/between {kind} entries");
    }
    let (line, column) = place(source, start);
    format!(
        "Unexpected end-of-input: expected close marker for {kind} (start marker at [Source: (byte[]){quoted}; \
         line: {line}, column: {column}])"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from Elasticsearch 9.4.3.
    #[test]
    fn faults_have_jacksons_words() {
        let check = |source: &str, expected: &str| {
            let fault = json_fault(source.as_bytes()).expect("a fault");
            let inner = fault.caused_by.as_deref().expect("a cause");
            let reason = inner.reason.split("\n at [Source").next().unwrap_or_default();
            assert_eq!(format!("{}: {reason}", inner.kind), expected, "{source}");
        };
        let start = "json_e_o_f_exception: Unexpected end-of-input";
        let marker = |kind: &str, source: &str, column: usize| {
            format!(
                "{start}: expected close marker for {kind} (start marker at [Source: (byte[])\"{source}\"; \
                 line: 1, column: {column}])"
            )
        };
        check("{\"a\":1", &marker("Object", "{\"a\":1", 1));
        check("{", &marker("Object", "{", 1));
        check("{\"a\":{}", &marker("Object", "{\"a\":{}", 1));
        check("{\"a\":[1,2", &marker("Array", "{\"a\":[1,2", 6));
        check("{\"a\":", &format!("{start} within/between Object entries"));
        check("{\"a\"", &format!("{start} within/between Object entries"));
        check("{\"a\":[1,", &format!("{start} within/between Array entries"));
        check("{\"a\":\"x", &format!("{start} in VALUE_STRING"));
        check(
            "{\"a\":1,}",
            "json_parse_exception: Unexpected character ('}' (code 125)): was expecting double-quote to start field name",
        );
        check(
            "xyz",
            "json_parse_exception: Unrecognized token 'xyz': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')",
        );
    }

    /// Recorded from Elasticsearch 9.4.3.
    #[test]
    fn what_follows_a_value_is_told() {
        assert_eq!(after_value(b"{\"a\":{}} \n"), None);
        assert_eq!(after_value(b"{}\n[1]"), Some(Trailing::Token("START_ARRAY", 2, 1)));
        let check = |source: &str, expected: &str| match after_value(source.as_bytes()) {
            Some(Trailing::Fault(fault)) => assert_eq!(fault.reason, expected, "{source}"),
            other => panic!("{source}: {other:?}"),
        };
        check(
            "{\"a\":1}}",
            "[1:8] Unexpected close marker '}': expected ']' (for root starting at [Source: (byte[])\"{\"a\":1}}\"; line: 1, \
             column: 0])\n at [Source: (byte[])\"{\"a\":1}}\"; line: 1, column: 8]",
        );
        check(
            "{} xyz",
            "[1:7] Unrecognized token 'xyz': was expecting (JSON String, Number, Array, Object or token 'null', \
             'true' or 'false')\n at [Source: (byte[])\"{} xyz\"; line: 1, column: 7]",
        );
    }
}
