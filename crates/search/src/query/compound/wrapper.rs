//! `wrapper`: another query, given as base64 of its JSON.
//!
//! Source: Elasticsearch's `WrapperQueryBuilder`. It has neither a boost nor a name, since the inner query
//! has its own.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use limber_mapping::RequestError;
use limber_work as work;
use serde_json::{Map, Value};

use crate::query::parse::{Parser, Query};
use crate::values::json;

/// About how many bytes of memory a parsed byte of JSON takes: a number of two digits and its comma take 72
/// bytes.
const TREE_BYTES_A_BYTE: u64 = 24;

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut members = members.iter();
    let Some((key, value)) = members.next() else {
        return Err(RequestError::parsing("[wrapper] query malformed"));
    };
    if key != "query" {
        let reason = format!("[wrapper] query malformed, expected `query` but was {key}");
        return Err(RequestError::parsing(reason));
    }
    let source = decode(value)?;
    if members.next().is_some() {
        let reason = "[wrapper] malformed query, expected [END_OBJECT] but found [FIELD_NAME]";
        return Err(RequestError::parsing(reason));
    }
    if source.is_empty() {
        return Err(RequestError::illegal_argument("query source text cannot be null or empty"));
    }
    work::claim(source.len() as u64 * TREE_BYTES_A_BYTE)?;
    match serde_json::from_slice(&source) {
        Ok(inner @ Value::Object(_)) => parser.query(&inner),
        Ok(_) => Err(unreadable("Failed to derive xcontent".to_owned())),
        Err(error) if error.is_eof() => {
            Err(RequestError::bad_request("x_content_e_o_f_exception", "Unexpected end of file"))
        }
        Err(error) => Err(unreadable(error.to_string())),
    }
}

fn decode(value: &Value) -> Result<Vec<u8>, RequestError> {
    let Value::String(text) = value else {
        let token = json::token(value);
        return Err(unreadable(format!(
            "Current token ({token}) not VALUE_STRING or VALUE_EMBEDDED_OBJECT, can not access as binary"
        )));
    };
    STANDARD.decode(text).map_err(|error| {
        unreadable(format!("Failed to decode VALUE_STRING as base64 (MIME-NO-LINEFEEDS): {error}"))
    })
}

fn unreadable(reason: String) -> RequestError {
    RequestError::bad_request("x_content_parse_exception", reason)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::query::parse::{QueryLimits, parse_query};

    /// Error messages recorded from Elasticsearch 8.19.13.
    #[test]
    fn a_query_in_base64_is_unwrapped_or_refused() {
        let wrapped = |inner: &str| json!({"wrapper": {"query": STANDARD.encode(inner)}});
        let parse = |query: Value| parse_query(&query, &QueryLimits::default());
        let inner =
            parse(wrapped(r#"{"term": {"a": {"value": 1, "boost": 2, "_name": "n"}}}"#)).expect("sound");
        assert_eq!((inner.boost, inner.name.as_deref()), (2.0, Some("n")));
        for (query, reason) in [
            (json!({"wrapper": {}}), "[wrapper] query malformed"),
            (json!({"wrapper": {"x": 1}}), "[wrapper] query malformed, expected `query` but was x"),
            (wrapped(""), "query source text cannot be null or empty"),
            (wrapped("[1]"), "Failed to derive xcontent"),
            (wrapped(r#"{"term":"#), "Unexpected end of file"),
            (wrapped(r#"{"nope": {}}"#), "unknown query [nope]"),
        ] {
            assert_eq!(parse(query.clone()).expect_err("refused").reason, reason, "{query}");
        }
        assert!(parse(json!({"wrapper": {"query": "!!"}})).is_err());
        // The limit of depth also applies to wrapped queries.
        let deep = (0..40).fold(json!({"match_all": {}}), |inner, _| wrapped(&inner.to_string()));
        assert!(parse(deep).is_err());
    }
}
