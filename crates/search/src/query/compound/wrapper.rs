//! `wrapper`: another query, as JSON in base64.
//!
//! Source: Elasticsearch's `WrapperQueryBuilder`. It takes neither boost nor name: those are the inner
//! query's.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use limber_mapping::RequestError;
use limber_work as work;
use serde_json::{Map, Value};

use crate::query::parse::{Parser, Query};
use crate::values::json;

/// What a byte of JSON takes as a tree, about: a number of two digits and its comma become 72 bytes.
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

    /// Reasons recorded from Elasticsearch 8.19.13.
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
        // Wrapping does not go around the limit of depth.
        let deep = (0..40).fold(json!({"match_all": {}}), |inner, _| wrapped(&inner.to_string()));
        assert!(parse(deep).is_err());
    }
}
