//! Errors in requests, in Elasticsearch's terms. Used by `mapping`, `search` and `engine`; rendered by the
//! REST layer.

use limber_work::{MemoryLimitExceeded, Stop};
use serde_json::{Map, Value};

use crate::error_class::ErrorClass;

/// One Elasticsearch error object: `{"type", "reason", ...metadata, "caused_by"}` and its class.
///
/// Source: `org.elasticsearch.ElasticsearchException#toXContent`, `ExceptionsHelper#status`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{kind}: {reason}")]
pub struct RequestError {
    /// The class of the error.
    pub class: ErrorClass,
    /// Elasticsearch's `type`, such as `illegal_argument_exception`.
    pub kind: &'static str,
    /// The message for people.
    pub reason: String,
    /// Further members such as `index`, `index_uuid`, `line`, `col`, in order. Boxed to keep results that
    /// contain errors small.
    pub metadata: Box<Map<String, Value>>,
    /// The cause of this error (`caused_by`).
    pub caused_by: Option<Box<RequestError>>,
}

/// Returns the name of the parser token that starts `value` (Elasticsearch's `XContentParser.Token`).
pub fn token(value: &Value) -> &'static str {
    match value {
        Value::Null => "VALUE_NULL",
        Value::Bool(_) => "VALUE_BOOLEAN",
        Value::Number(_) => "VALUE_NUMBER",
        Value::String(_) => "VALUE_STRING",
        Value::Array(_) => "START_ARRAY",
        Value::Object(_) => "START_OBJECT",
    }
}

/// Does the same as [`token`] for a value that is not parsed, without space before it.
pub fn token_of_text(value: &[u8]) -> &'static str {
    match value.first() {
        Some(b'{') => "START_OBJECT",
        Some(b'[') => "START_ARRAY",
        Some(b'"') => "VALUE_STRING",
        Some(b't' | b'f') => "VALUE_BOOLEAN",
        Some(b'n') => "VALUE_NULL",
        _ => "VALUE_NUMBER",
    }
}

/// Returns the numbered list of problems in the words of Elasticsearch's `ValidationException`.
pub fn validation_failed<P: std::fmt::Display>(problems: impl IntoIterator<Item = P>) -> String {
    let mut reason = "Validation Failed: ".to_owned();
    for (number, problem) in (1..).zip(problems) {
        reason.push_str(&format!("{number}: {problem};"));
    }
    reason
}

impl From<limber_text::Error> for RequestError {
    fn from(error: limber_text::Error) -> RequestError {
        use limber_text::Error;
        let reason = error.to_string();
        match &error {
            Error::IllegalArgument(_) => RequestError::illegal_argument(reason),
            Error::IllegalNumber { number, .. } => {
                RequestError::illegal_argument(reason).caused_by(RequestError::number_format(number))
            }
            Error::NumberFormat(number) => RequestError::number_format(number),
            Error::TooComplex { .. } => {
                RequestError::bad_request("too_complex_to_determinize_exception", reason)
            }
            Error::NoSuchGroup(_) => RequestError::bad_request("index_out_of_bounds_exception", reason),
            Error::Stopped(stop) => stop.clone().into(),
        }
    }
}

impl From<MemoryLimitExceeded> for RequestError {
    fn from(error: MemoryLimitExceeded) -> RequestError {
        RequestError::new(ErrorClass::TooManyRequests, "circuit_breaking_exception", error.to_string())
            .with("bytes_wanted", error.wanted_bytes)
            .with("bytes_limit", error.limit_bytes)
            .with("durability", "TRANSIENT")
    }
}

impl From<Stop> for RequestError {
    fn from(stop: Stop) -> RequestError {
        match stop {
            Stop::Cancelled => RequestError::bad_request("task_cancelled_exception", "task cancelled"),
            Stop::TimedOut => {
                RequestError::new(ErrorClass::Timeout, "query_phase_execution_exception", "Time exceeded")
            }
            Stop::Patterns { .. } | Stop::Filters { .. } => RequestError::illegal_argument(stop.to_string()),
            Stop::Memory(memory_limit_exceeded) => memory_limit_exceeded.into(),
        }
    }
}

/// The end of the reasons of [`RequestError::unsupported`].
const UNSUPPORTED: &str = " is not supported by Limber yet";

/// Maximum length of a reason. A reason quotes the request, and is itself repeated in the errors of shards,
/// items and causes.
const REASON_BYTES_MAX: usize = 16 << 10;

/// Cuts a reason that is too long, and appends its full length.
fn shortened(mut reason: String) -> String {
    if reason.len() > REASON_BYTES_MAX {
        let whole_bytes = reason.len();
        let is_end = |end: &usize| reason.is_char_boundary(*end);
        let end = (0..=REASON_BYTES_MAX).rev().find(is_end).unwrap_or(0);
        reason.truncate(end);
        reason.push_str(&format!("... ({whole_bytes} bytes)"));
        reason.shrink_to_fit();
    }
    reason
}

/// Returns the bytes of the texts in a value.
fn value_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(value_bytes).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + value_bytes(value)).sum(),
        _ => 0,
    }
}

impl RequestError {
    /// Creates an error of Elasticsearch's type `kind`. A reason of more than 16 KiB is cut.
    pub fn new(class: ErrorClass, kind: &'static str, reason: impl Into<String>) -> RequestError {
        let reason = shortened(reason.into());
        RequestError { class, kind, reason, metadata: Box::default(), caused_by: None }
    }

    /// Creates an error of the class [`ErrorClass::BadRequest`].
    pub fn bad_request(kind: &'static str, reason: impl Into<String>) -> RequestError {
        RequestError::new(ErrorClass::BadRequest, kind, reason)
    }

    /// Creates an error of the class [`ErrorClass::NotFound`].
    pub fn not_found(kind: &'static str, reason: impl Into<String>) -> RequestError {
        RequestError::new(ErrorClass::NotFound, kind, reason)
    }

    /// Creates an error of the class [`ErrorClass::Internal`].
    pub fn internal(kind: &'static str, reason: impl Into<String>) -> RequestError {
        RequestError::new(ErrorClass::Internal, kind, reason)
    }

    /// Creates an error of the class [`ErrorClass::Unavailable`].
    pub fn unavailable(kind: &'static str, reason: impl Into<String>) -> RequestError {
        RequestError::new(ErrorClass::Unavailable, kind, reason)
    }

    /// Creates an `illegal_argument_exception` (bad request).
    pub fn illegal_argument(reason: impl Into<String>) -> RequestError {
        RequestError::bad_request("illegal_argument_exception", reason)
    }

    /// Creates a `number_format_exception` (bad request): `text` is not a number.
    pub fn number_format(text: impl std::fmt::Display) -> RequestError {
        RequestError::bad_request("number_format_exception", format!("For input string: \"{text}\""))
    }

    /// Creates an `illegal_argument_exception` (bad request): `text` is neither `true` nor `false`.
    pub fn not_a_boolean(text: impl std::fmt::Display) -> RequestError {
        RequestError::illegal_argument(format!(
            "Failed to parse value [{text}] as only [true] or [false] are allowed."
        ))
    }

    /// Creates a `parsing_exception` (bad request).
    pub fn parsing(reason: impl Into<String>) -> RequestError {
        RequestError::bad_request("parsing_exception", reason)
    }

    /// Creates an `action_request_validation_exception` (bad request) that lists all problems. Source:
    /// `ActionRequestValidationException`.
    pub fn validation<P: std::fmt::Display>(problems: impl IntoIterator<Item = P>) -> RequestError {
        RequestError::bad_request("action_request_validation_exception", validation_failed(problems))
    }

    /// Creates a `validation_exception` (bad request) about something that the cluster does not allow.
    /// Source: `org.elasticsearch.common.ValidationException`.
    pub fn cluster_validation(problem: impl std::fmt::Display) -> RequestError {
        RequestError::bad_request("validation_exception", validation_failed([problem]))
    }

    /// Creates an `illegal_argument_exception` (bad request) that names a feature which does not exist yet.
    pub fn unsupported(what: impl std::fmt::Display) -> RequestError {
        RequestError::bad_request("illegal_argument_exception", format!("{what}{UNSUPPORTED}"))
    }

    /// Whether this error, or one of its causes, names a feature which does not exist yet.
    pub fn is_unsupported(&self) -> bool {
        self.reason.ends_with(UNSUPPORTED)
            || self.caused_by.as_ref().is_some_and(|cause| cause.is_unsupported())
    }

    /// Adds a member to the error object.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> RequestError {
        self.metadata.insert(name.to_owned(), value.into());
        self
    }

    /// Sets the cause of this error. An error that blames the request is replaced by the cause if that is
    /// only a refusal for lack of room: the same request may succeed later.
    pub fn caused_by(mut self, cause: RequestError) -> RequestError {
        if self.class == ErrorClass::BadRequest && cause.class == ErrorClass::TooManyRequests {
            return cause;
        }
        self.caused_by = Some(Box::new(cause));
        self
    }

    /// Returns the bytes of the texts in the error object, with those of its causes.
    pub fn text_bytes(&self) -> usize {
        let own = self.reason.len() + self.metadata.values().map(value_bytes).sum::<usize>();
        own + self.caused_by.as_ref().map_or(0, |cause| cause.text_bytes())
    }

    /// Returns the error object without `root_cause` and `status`.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("type".into(), self.kind.into());
        object.insert("reason".into(), self.reason.clone().into());
        for (name, value) in self.metadata.iter() {
            object.insert(name.clone(), value.clone());
        }
        if let Some(cause) = &self.caused_by {
            object.insert("caused_by".into(), cause.to_json());
        }
        Value::Object(object)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_reasons_are_cut_between_characters() {
        let error = RequestError::illegal_argument("é".repeat(100_000));
        assert!(error.reason.len() < REASON_BYTES_MAX + 40);
        assert!(error.reason.ends_with("é... (200000 bytes)"), "{}", &error.reason[REASON_BYTES_MAX - 10..]);
        assert_eq!(RequestError::parsing("short").reason, "short");
    }

    #[test]
    fn texts_of_an_error_are_counted_with_those_of_its_causes() {
        let cause = RequestError::parsing("abc").with("script_stack", json!(["de", {"f": "gh"}]));
        assert_eq!(cause.text_bytes(), 8);
        assert_eq!(RequestError::illegal_argument("1234").with("line", 5).caused_by(cause).text_bytes(), 12);
    }

    #[test]
    fn a_refusal_for_lack_of_room_does_not_blame_the_request() {
        let no_room = || RequestError::new(ErrorClass::TooManyRequests, "circuit_breaking_exception", "full");
        let wrong = || RequestError::illegal_argument("wrong");
        assert_eq!(RequestError::parsing("in a list").caused_by(no_room()), no_room());
        let failed = RequestError::unavailable("search_phase_execution_exception", "failed");
        assert_eq!(failed.caused_by(no_room()).caused_by, Some(Box::new(no_room())));
        assert_eq!(RequestError::parsing("in a list").caused_by(wrong()).caused_by, Some(Box::new(wrong())));
    }
}
