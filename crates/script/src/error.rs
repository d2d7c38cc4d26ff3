//! What goes wrong with a script, and where: Elasticsearch's `script_exception`.

use limber_mapping::{ErrorClass, RequestError};
use serde_json::{Value, json};

/// A failure at a position of the source.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptError {
    /// Position in UTF-16 units; `None` if the failure has no position.
    pub at: Option<u32>,
    /// Elasticsearch's name of the underlying exception.
    pub kind: &'static str,
    /// What is wrong, in the words of Painless or of Java.
    pub reason: String,
    /// An error of the environment (a corrupt column, a limit), which is passed on as it is.
    pub foreign: Option<Box<RequestError>>,
    /// What `Debug.explain` was asked about.
    pub explained: Option<Box<Explained>>,
}

/// A value that a script had explained.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// `Object#toString`.
    pub text: String,
    /// The full name of its class; `None` for null.
    pub class: Option<&'static str>,
}

/// Maximum length of the text of an explained value in characters.
const EXPLAINED_CHARS_MAX: usize = 8 << 10;

/// Elasticsearch's name of the error that `Debug.explain` throws.
const EXPLAINED: &str = "painless_explain_error";

impl ScriptError {
    /// Creates a failure at a position of the source, in UTF-16 units.
    pub fn new(at: u32, kind: &'static str, reason: impl Into<String>) -> ScriptError {
        ScriptError { at: Some(at), kind, reason: reason.into(), foreign: None, explained: None }
    }

    /// Creates an `illegal_argument_exception`.
    pub fn argument(at: u32, reason: impl Into<String>) -> ScriptError {
        ScriptError::new(at, "illegal_argument_exception", reason)
    }

    /// Creates a `number_format_exception`: `text` is not a number.
    pub fn number_format(at: u32, text: &str) -> ScriptError {
        ScriptError::new(at, "number_format_exception", format!("For input string: \"{text}\""))
    }

    /// Creates a `class_cast_exception`.
    pub fn cast(at: u32, reason: impl Into<String>) -> ScriptError {
        ScriptError::new(at, "class_cast_exception", reason)
    }

    /// Refuses what Elasticsearch supports and Limber does not.
    pub fn unsupported(at: u32, what: impl std::fmt::Display) -> ScriptError {
        ScriptError::argument(at, format!("{what} is not supported by Limber yet"))
    }

    /// Creates the error for a limit of the language that no `catch` may swallow.
    pub fn limit(at: u32, reason: impl Into<String>) -> ScriptError {
        ScriptError::new(at, "painless_error", reason)
    }

    /// Creates the error of `Debug.explain`.
    pub(crate) fn explaining(at: u32, text: &str, class: Option<&'static str>) -> ScriptError {
        let text = text.chars().take(EXPLAINED_CHARS_MAX).collect();
        let explained = Some(Box::new(Explained { text, class }));
        ScriptError { explained, ..ScriptError::new(at, EXPLAINED, "") }
    }

    /// Whether a script may catch it.
    pub(crate) fn is_exception(&self) -> bool {
        self.foreign.is_none() && !matches!(self.kind, "painless_error" | EXPLAINED)
    }

    /// Converts to the error that the caller gets. `phase` is `compile` or `runtime`.
    pub fn to_request_error(&self, phase: &str, source: &str, language: &str) -> RequestError {
        if let Some(foreign) = &self.foreign {
            return (**foreign).clone();
        }
        let mut error = RequestError::bad_request("script_exception", format!("{phase} error"));
        let (stack, position) = match self.at {
            Some(at) => place(at as usize, source),
            None => (json!([]), Value::Null),
        };
        error = error.with("script_stack", stack).with("script", source).with("lang", language);
        if !position.is_null() {
            error = error.with("position", position);
        }
        let Some(explained) = &self.explained else {
            return error.caused_by(RequestError::bad_request(self.kind, self.reason.clone()));
        };
        error = error.with("to_string", explained.text.as_str());
        if let Some(class) = explained.class {
            // Painless writes a class inside of another one with a point.
            error = error.with("painless_class", class.replace('$', ".")).with("java_class", class);
        }
        error.caused_by(RequestError::bad_request(self.kind, "").with("reason", Value::Null))
    }
}

/// The result of a step of a script, or what went wrong there.
pub(crate) type Outcome<T> = Result<T, ScriptError>;

/// Why an operation fails, without its position: Elasticsearch's name of the exception, and its reason.
pub(crate) type Failure = (&'static str, String);

/// Makes the error of a request from a failure after the script's end: a value that has no JSON form, or too
/// little memory for it.
pub fn refused((kind, reason): Failure) -> RequestError {
    let is_memory = kind == "circuit_breaking_exception";
    let class = if is_memory { ErrorClass::TooManyRequests } else { ErrorClass::BadRequest };
    RequestError::new(class, kind, reason)
}

/// Adds the position in the source to a failure.
pub(crate) fn failed((kind, reason): Failure, at: u32) -> ScriptError {
    ScriptError::new(at, kind, reason)
}

/// An error of the environment is passed on as it is.
impl From<RequestError> for ScriptError {
    fn from(error: RequestError) -> ScriptError {
        let foreign = Some(Box::new(error));
        ScriptError { at: None, kind: "exception", reason: String::new(), foreign, explained: None }
    }
}

/// UTF-16 units shown before the position, and in total.
const SNIPPET_BEFORE: usize = 25;
const SNIPPET_LENGTH: usize = 50;

/// Returns the part of the source around a position, with an arrow under it, and the position.
fn place(at: usize, source: &str) -> (Value, Value) {
    let units: Vec<u16> = source.encode_utf16().collect();
    let at = at.min(units.len());
    let start = at.saturating_sub(SNIPPET_BEFORE);
    let end = (start + SNIPPET_LENGTH).min(units.len());
    let (mut snippet, mut arrow) = (String::new(), String::new());
    if start > 0 {
        snippet.push_str("... ");
        arrow.push_str("    ");
    }
    snippet.push_str(&String::from_utf16_lossy(&units[start..end]));
    if end < units.len() {
        snippet.push_str(" ...");
    }
    arrow.push_str(&" ".repeat(at - start));
    arrow.push_str("^---- HERE");
    (json!([snippet, arrow]), json!({"offset": at, "start": start, "end": end}))
}

/// Returns Elasticsearch's name for an exception's class.
pub(crate) fn exception_kind(class: &str) -> &'static str {
    match class.rsplit('.').next().unwrap_or(class) {
        "IllegalArgumentException" => "illegal_argument_exception",
        "IllegalStateException" => "illegal_state_exception",
        "ArithmeticException" => "arithmetic_exception",
        "NullPointerException" => "null_pointer_exception",
        "RuntimeException" => "runtime_exception",
        "IndexOutOfBoundsException" => "index_out_of_bounds_exception",
        "ArrayIndexOutOfBoundsException" => "array_index_out_of_bounds_exception",
        "StringIndexOutOfBoundsException" => "string_index_out_of_bounds_exception",
        "ClassCastException" => "class_cast_exception",
        "NumberFormatException" => "number_format_exception",
        "UnsupportedOperationException" => "unsupported_operation_exception",
        "NegativeArraySizeException" => "negative_array_size_exception",
        "SecurityException" => "security_exception",
        "NoSuchElementException" => "no_such_element_exception",
        "ConcurrentModificationException" => "concurrent_modification_exception",
        "EmptyStackException" => "empty_stack_exception",
        "MissingFormatArgumentException" => "missing_format_argument_exception",
        "IllegalFormatException" => "illegal_format_exception",
        "DateTimeException" => "date_time_exception",
        "DateTimeParseException" => "date_time_parse_exception",
        "UnsupportedTemporalTypeException" => "unsupported_temporal_type_exception",
        "ZoneRulesException" => "zone_rules_exception",
        "ParseException" => "parse_exception",
        _ => "exception",
    }
}
