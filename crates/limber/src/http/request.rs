//! A request as handlers see it: method, decoded path, query parameters with typed access, body.

use bytes::Bytes;
use limber_mapping::document::{self, Trailing};
use limber_mapping::{RequestError, duplicate_key, parse_leading, parse_unique};
use limber_text::time_value::TimeValue;
use limber_text::url;
use limber_work as work;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::comments::without_comments;
use super::media;

/// HTTP methods that endpoints may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Delete,
    Patch,
    Options,
}

impl Method {
    /// All methods, in the order of declaration.
    pub const ALL: [Method; 7] = [
        Method::Get,
        Method::Head,
        Method::Post,
        Method::Put,
        Method::Delete,
        Method::Patch,
        Method::Options,
    ];

    /// Parses a method name; `None` if it is none of these.
    pub fn parse(text: &str) -> Option<Method> {
        Some(match text {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "POST" => Method::Post,
            "PUT" => Method::Put,
            "DELETE" => Method::Delete,
            "PATCH" => Method::Patch,
            "OPTIONS" => Method::Options,
            _ => return None,
        })
    }

    /// Returns the name as in HTTP.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Delete => "DELETE",
            Method::Patch => "PATCH",
            Method::Options => "OPTIONS",
        }
    }
}

/// Decoded query parameters in the order of the URL.
pub type Parameters = Vec<(String, String)>;

/// One request, fully read.
#[derive(Debug)]
pub struct Request {
    /// Path and query exactly as sent, for messages.
    pub uri: String,
    pub query: Parameters,
    /// Values of the matched route's placeholders, by name.
    pub path_values: Vec<(&'static str, String)>,
    pub body: Bytes,
    /// The client is a browser that prefers a page to JSON.
    pub prefers_html: bool,
    /// Set when the client disconnects before the response.
    pub cancelled: Arc<AtomicBool>,
}

/// Factor from the size of a body to the memory that its handling takes: the parsed tree, what is compiled
/// from it, and copies of it.
const TREE_FACTOR: u64 = 6;

impl Request {
    /// Splits and decodes `path_and_query`. Fails on invalid percent encoding.
    pub fn parse_uri(path_and_query: &str) -> Result<(Vec<String>, Parameters), RequestError> {
        let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        let decode = |text: &str| -> Result<String, RequestError> {
            check_escapes(text)?;
            String::from_utf8(url::decoded(text).into_owned())
                .map_err(|_| RequestError::illegal_argument(format!("failed to decode [{text}] in the URI")))
        };
        let segments = path.split('/').filter(|s| !s.is_empty()).map(decode).collect::<Result<_, _>>()?;
        let mut parameters = Vec::new();
        for pair in query.split('&').filter(|p| !p.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            parameters.push((decode(&name.replace('+', " "))?, decode(&value.replace('+', " "))?));
        }
        Ok((segments, parameters))
    }

    /// Returns the value of a path placeholder or query parameter; the path wins.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.path_values
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, v)| v.as_str())
            .or_else(|| self.query.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v.as_str()))
    }

    /// Returns the value of a placeholder that the route guarantees.
    pub fn path(&self, name: &str) -> &str {
        self.param(name).unwrap_or("")
    }

    /// Reads a boolean parameter; a parameter without a value is `true`.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, RequestError> {
        self.param(name).map(parse_flag).transpose()
    }

    /// Reads a boolean parameter; `default` if it is absent.
    pub fn flag_or(&self, name: &str, default: bool) -> Result<bool, RequestError> {
        Ok(self.flag(name)?.unwrap_or(default))
    }

    /// Reads an integer parameter. Fails with Elasticsearch's message if it is malformed.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, RequestError> {
        self.param(name)
            .map(|text| {
                text.parse().map_err(|_| {
                    RequestError::illegal_argument(format!(
                        "Failed to parse int parameter [{name}] with value [{text}]"
                    ))
                    .caused_by(RequestError::number_format(text))
                })
            })
            .transpose()
    }

    /// Reads a parameter that is a number with a fraction. Fails with Elasticsearch's message if it is
    /// malformed.
    pub fn float(&self, name: &str) -> Result<Option<f32>, RequestError> {
        let Some(text) = self.param(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| {
            let reason = format!("Failed to parse float parameter [{name}] with value [{text}]");
            RequestError::illegal_argument(reason).caused_by(RequestError::number_format(text))
        })
    }

    /// Reads a comma-separated list. It is empty if the parameter is absent or empty.
    pub fn list(&self, name: &str) -> Vec<String> {
        self.param(name)
            .map(|text| text.split(',').map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned).collect())
            .unwrap_or_default()
    }

    /// Reads a time value such as `30s`, in milliseconds.
    pub fn time_ms(&self, name: &str) -> Result<Option<u64>, RequestError> {
        self.param(name).map(|text| parse_time_ms(name, text)).transpose()
    }

    /// Whether the body contains more than white space.
    pub fn has_body(&self) -> bool {
        self.body.iter().any(|byte| !byte.is_ascii_whitespace())
    }

    /// Parses the body, or the `source` parameter, as JSON; `None` if there is none. As in Elasticsearch,
    /// what follows the first value of the body is ignored.
    pub fn json(&self) -> Result<Option<Value>, RequestError> {
        self.json_with(parse_first_json)
    }

    /// Like [`Request::json`], but the body must be one value and nothing else, as that of a search.
    pub fn json_alone(&self) -> Result<Option<Value>, RequestError> {
        self.json_with(|bytes| {
            parse_unique(bytes).map_err(|error| match document::after_value(bytes) {
                Some(Trailing::Token(token, line, column)) => {
                    RequestError::parsing(format!("Unexpected token [{token}] found after the main object."))
                        .with("line", line)
                        .with("col", column)
                }
                Some(Trailing::Fault(fault)) => fault,
                None => json_error(bytes, &error),
            })
        })
    }

    fn json_with(
        &self,
        parse: impl Fn(&[u8]) -> Result<Value, RequestError>,
    ) -> Result<Option<Value>, RequestError> {
        if !self.has_body() {
            return match self.param("source") {
                Some(source) => self.json_of_url(source).map(Some),
                None => Ok(None),
            };
        }
        // The handler's own structures are several times as large as the body, like the tree.
        work::claim(TREE_FACTOR * self.body.len() as u64)?;
        let text = without_mark(&self.body);
        let parsed = parse(text).or_else(|error| match without_comments(text) {
            // The error about the text as it was given tells more.
            Some(plain) => parse(&plain).map_err(|_| error),
            None => Err(error),
        });
        parsed.map(Some)
    }

    /// Parses the parameter `source`, in the format that `source_content_type` names.
    fn json_of_url(&self, source: &str) -> Result<Value, RequestError> {
        let Some(kind) = self.param("source_content_type") else {
            let fault = "source and source_content_type parameters are required";
            return Err(RequestError::cluster_validation(fault));
        };
        let format = media::of_body(Some(kind))?;
        match media::body_to_json(format, source.as_bytes(), false)? {
            Some(json) => parse_json(&json),
            None => parse_json(source.as_bytes()),
        }
    }

    /// Parses the body, which is required, as JSON.
    pub fn json_required(&self) -> Result<Value, RequestError> {
        self.json()?.ok_or_else(|| RequestError::bad_request("parse_exception", "request body is required"))
    }
}

/// Refuses `%` without two hexadecimal digits, like Elasticsearch's `RestUtils#decodeComponent`.
fn check_escapes(text: &str) -> Result<(), RequestError> {
    for (at, _) in text.match_indices('%') {
        let reason = match text.as_bytes().get(at + 1..at + 3) {
            None => "unterminated escape sequence at end of string",
            Some(digits) if !digits.iter().all(u8::is_ascii_hexdigit) => "invalid hex byte in",
            Some(_) => continue,
        };
        return Err(RequestError::illegal_argument(format!("{reason}: {text}")));
    }
    Ok(())
}

/// Parses JSON with serde_json's depth limit (128) and without duplicate keys. Errors have Elasticsearch's
/// type, and Jackson's words.
pub fn parse_json(bytes: &[u8]) -> Result<Value, RequestError> {
    let bytes = without_mark(bytes);
    parse_unique(bytes).map_err(|error| match document::after_value(bytes) {
        Some(Trailing::Token(_, line, column)) => RequestError::bad_request(
            "x_content_parse_exception",
            format!("[{line}:{column}] Unexpected token after end of object"),
        ),
        Some(Trailing::Fault(fault)) => fault,
        None => json_error(bytes, &error),
    })
}

/// Parses the value that a body begins with.
fn parse_first_json(bytes: &[u8]) -> Result<Value, RequestError> {
    parse_leading(bytes).map_err(|error| json_error(bytes, &error))
}

/// Returns the error about malformed JSON, with Elasticsearch's type, and Jackson's words where they are
/// known.
pub fn json_error(bytes: &[u8], error: &serde_json::Error) -> RequestError {
    if let Some(fault) = duplicate_key(bytes, error).or_else(|| document::json_fault(bytes)) {
        return fault;
    }
    let place = format!("[{}:{}]", error.line(), error.column());
    match error.is_eof() {
        true => {
            RequestError::bad_request("x_content_e_o_f_exception", format!("{place} Unexpected end of file"))
        }
        false => RequestError::bad_request("x_content_parse_exception", format!("{place} {error}")),
    }
}

/// Returns a text without the byte order mark that some editors write before it.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

/// Parses a boolean; the empty string is `true`.
pub fn parse_flag(text: &str) -> Result<bool, RequestError> {
    match text {
        "" | "true" => Ok(true),
        "false" => Ok(false),
        other => Err(RequestError::not_a_boolean(other)),
    }
}

/// Parses a time value to whole milliseconds; `-1` becomes `u64::MAX`.
pub fn parse_time_ms(name: &str, text: &str) -> Result<u64, RequestError> {
    Ok(TimeValue::parse(text, name)?.map_or(u64::MAX, TimeValue::millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_decoded() {
        let (segments, query) = Request::parse_uri("/a%2Fb/_doc/%C3%A4?q=x%20y&pretty&z=1+2").expect("valid");
        assert_eq!(segments, ["a/b", "_doc", "ä"]);
        let expected =
            [("q", "x y"), ("pretty", ""), ("z", "1 2")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(query, expected);
        assert_eq!(parse_json("\u{feff}[]".as_bytes()), Ok(serde_json::json!([])));
        for broken in ["/%ff", "/%", "/a%2", "/%zz", "/a?b=%g0"] {
            assert!(Request::parse_uri(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn time_values() {
        assert_eq!(parse_time_ms("t", "30s"), Ok(30_000));
        assert_eq!(parse_time_ms("t", "-1"), Ok(u64::MAX));
        let fraction = parse_time_ms("t", "1.5m").expect_err("a fraction");
        assert_eq!(fraction.reason, "failed to parse [1.5m], fractional time values are not supported");
        assert!(parse_time_ms("t", "30").is_err());
        assert!(parse_time_ms("t", "xs").is_err());
    }
}
