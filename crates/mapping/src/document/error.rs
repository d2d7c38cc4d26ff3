//! The reasons why a document is refused, in Elasticsearch's wording, with line and column.
//!
//! Source: `DocumentParser`, `DocumentParsingException`, `FieldMapper#rethrowAsDocumentParsingException`,
//! Jackson's messages.

use serde_json::Value;

use super::json::{JsonError, JsonErrorKind};
use super::syntax_fault::end_of_input;
use crate::RequestError;
use crate::definition::Dynamic;
use crate::json::java::java_text;
use crate::mapping::tree::TERM_BYTES_MAX;

/// Maximum number of bytes of the source that Jackson quotes.
const SOURCE_BYTES_MAX: usize = 500;

/// Returns line and column of a byte, both from 1; the column is in bytes.
pub(super) fn place(source: &[u8], offset: usize) -> (usize, usize) {
    let before = &source[..offset.min(source.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let column = before.len() - memchr::memrchr(b'\n', before).map_or(0, |at| at + 1) + 1;
    (line, column)
}

/// Returns `line:column`.
pub(super) fn position(source: &[u8], offset: usize) -> String {
    let (line, column) = place(source, offset);
    format!("{line}:{column}")
}

fn at(source: &[u8], offset: usize) -> String {
    format!("[{}]", position(source, offset))
}

/// Creates a `document_parsing_exception` about the token at `offset`.
#[cold]
pub(super) fn document(source: &[u8], offset: usize, reason: impl std::fmt::Display) -> RequestError {
    RequestError::bad_request("document_parsing_exception", format!("{} {reason}", at(source, offset)))
}

/// Returns the error about a value that its field cannot accept.
#[cold]
pub(super) fn field(
    source: &[u8],
    offset: usize,
    (path, kind): (&str, &str),
    id: &str,
    preview: &str,
    cause: RequestError,
) -> RequestError {
    let document_id = if id.is_empty() { String::new() } else { format!(" in document with id '{id}'") };
    let shown = format!("{document_id}. Preview of field's value: '{preview}'");
    refused_by_field(source, offset, (path, kind), &shown, cause)
}

/// Returns the error about a value that its field cannot accept, and that is not shown.
#[cold]
pub(super) fn field_without_preview(
    source: &[u8],
    offset: usize,
    path_and_kind: (&str, &str),
    cause: RequestError,
) -> RequestError {
    refused_by_field(source, offset, path_and_kind, "", cause)
}

fn refused_by_field(
    source: &[u8],
    offset: usize,
    (path, kind): (&str, &str),
    details: &str,
    cause: RequestError,
) -> RequestError {
    let reason = format_args!("failed to parse field [{path}] of type [{kind}]{details}");
    document(source, offset, reason).caused_by(cause)
}

/// Returns the error about a term longer than [`TERM_BYTES_MAX`].
#[cold]
pub(super) fn immense(path: &str, value: &[u8]) -> RequestError {
    let prefix: Vec<String> = value.iter().take(30).map(|&byte| (byte as i8).to_string()).collect();
    RequestError::illegal_argument(format!(
        "Document contains at least one immense term in field=\"{path}\" (whose UTF8 encoding is longer than the max \
         length {TERM_BYTES_MAX}), all of which were skipped. Please correct the analyzer to not produce such terms. \
         The prefix of the first immense term is: '[{}]...'",
        prefix.join(", ")
    ))
}

/// Returns the error about an unmapped field under `dynamic: strict`.
#[cold]
pub(super) fn strict(
    source: &[u8],
    offset: usize,
    dynamic: Dynamic,
    name: &str,
    object: &str,
) -> RequestError {
    let object = if object.is_empty() { "_doc" } else { object };
    RequestError::bad_request(
        "strict_dynamic_mapping_exception",
        format!(
            "{} mapping set to {}, dynamic introduction of [{name}] within [{object}] is not allowed",
            at(source, offset),
            dynamic.name()
        ),
    )
}

/// Returns "failed to parse: <cause>" about the token at `offset`.
#[cold]
pub(super) fn wrapped(source: &[u8], offset: usize, cause: RequestError) -> RequestError {
    document(source, offset, format_args!("failed to parse: {}", cause.reason)).caused_by(cause)
}

/// Returns the error about bytes that are not JSON; `token` is the start of the last valid token.
#[cold]
pub(super) fn syntax(source: &[u8], token: usize, error: &JsonError) -> RequestError {
    wrapped(source, token, syntax_cause(source, error))
}

/// Returns the JSON parser's error about bytes that are not JSON.
#[cold]
pub(super) fn syntax_cause(source: &[u8], error: &JsonError) -> RequestError {
    let (line, column) = place(source, error.offset);
    let quoted = quote(source);
    let location = format!("\n at [Source: (byte[]){quoted}; line: {line}, column: {column}]");
    let message = match &error.kind {
        JsonErrorKind::EndOfInput => {
            let inner = RequestError::bad_request(
                "json_e_o_f_exception",
                format!("{}{location}", end_of_input(source, &quoted)),
            );
            return RequestError::bad_request(
                "x_content_e_o_f_exception",
                format!("[{line}:{column}] Unexpected end of file"),
            )
            .caused_by(inner);
        }
        kind => message(source, error.offset, kind),
    };
    let inner = RequestError::bad_request("json_parse_exception", format!("{message}{location}"));
    RequestError::bad_request("x_content_parse_exception", format!("[{line}:{column}] {}", inner.reason))
        .caused_by(inner)
}

fn message(source: &[u8], offset: usize, kind: &JsonErrorKind) -> String {
    let byte = source.get(offset).copied().unwrap_or(0);
    let character =
        String::from_utf8_lossy(&source[offset.min(source.len())..(offset + 4).min(source.len())])
            .chars()
            .next()
            .unwrap_or('\0');
    let shown = format!("'{character}' (code {})", character as u32);
    match kind {
        JsonErrorKind::EndOfInput => end_of_input(source, &quote(source)),
        JsonErrorKind::Unexpected(expected) if expected.contains("digit") => {
            format!("Unexpected character ({shown}) in numeric value: {expected}")
        }
        JsonErrorKind::Unexpected(expected) => format!("Unexpected character ({shown}): {expected}"),
        JsonErrorKind::LeadingZero => "Invalid numeric value: Leading zeroes not allowed".to_owned(),
        JsonErrorKind::ControlCharacter => format!(
            "Illegal unquoted character ((CTRL-CHAR, code {byte})): has to be escaped using backslash to be included in \
             string value"
        ),
        JsonErrorKind::BadEscape => format!("Unrecognized character escape {shown}"),
        JsonErrorKind::BadToken(word) => format!(
            "Unrecognized token '{word}': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or \
             'false')"
        ),
        JsonErrorKind::TooDeep(limit) => format!(
            "Document nesting depth ({}) exceeds the maximum allowed ({limit}, from \
             `StreamReadConstraints.getMaxNestingDepth()`)",
            limit + 1
        ),
        JsonErrorKind::InvalidUtf8 => format!("Invalid UTF-8 start byte 0x{byte:x}"),
        JsonErrorKind::Duplicate(key) => format!("Duplicate field '{key}'"),
        JsonErrorKind::CloseMarker(mark) => format!(
            "Unexpected close marker '{}': expected '{}' (for root starting at [Source: (byte[]){}; line: 1, column: 0])",
            char::from(*mark),
            if *mark == b'}' { ']' } else { '}' },
            quote(source)
        ),
    }
}

fn quote(source: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&source[..source.len().min(SOURCE_BYTES_MAX)]).into_owned();
    match source.len().checked_sub(SOURCE_BYTES_MAX) {
        Some(rest @ 1..) => format!("\"{shown}\"[truncated {rest} bytes]"),
        _ => format!("\"{shown}\""),
    }
}

/// Formats the value's JSON as Java prints it, for "Preview of field's value".
#[cold]
pub(super) fn preview(raw: &str) -> String {
    serde_json::from_str::<Value>(raw).map_or_else(|_| raw.to_owned(), |value| java_text(&value))
}

/// Returns the error about an object where the field takes a scalar; its `{` is at `offset`.
#[cold]
pub(super) fn object_for_scalar(source: &[u8], offset: usize, kind: &str) -> RequestError {
    let (line, column) = place(source, offset);
    match kind {
        "text" | "keyword" | "date" | "ip" => {
            RequestError::illegal_argument(format!("Expected text at {line}:{column} but found START_OBJECT"))
        }
        "date_nanos" => RequestError::illegal_argument("Cannot parse object or array as a date value"),
        "boolean" => RequestError::bad_request(
            "x_content_parse_exception",
            "Current token (START_OBJECT) not of boolean type",
        ),
        _ => RequestError::illegal_argument("Cannot parse object as number"),
    }
}
