//! A response as handlers return it, and errors in Elasticsearch's shape.

use limber_mapping::{ErrorClass, RequestError};
use limber_work::Stop;
use serde_json::{Map, Value, json};

use super::status;

/// The authentication schemes that clients without valid credentials are told to use.
pub const CHALLENGES: [&str; 2] = ["Basic realm=\"security\", charset=\"UTF-8\"", "ApiKey"];

/// What a handler returns.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub body: Body,
    /// Additional headers, such as `Location` or `Warning`.
    pub headers: Vec<(&'static str, String)>,
}

/// The body of a response.
#[derive(Debug)]
pub enum Body {
    Empty,
    Json(Value),
    /// JSON that the handler serialized itself (bulk, search): compact, in one buffer.
    RawJson(Vec<u8>),
    Text(String),
    /// Any other content type, with its bytes.
    Document(&'static str, Vec<u8>),
    /// Text by default, JSON for clients that ask for a structured format (`_cat`).
    TextOrValue(Box<dyn TextOrValue>),
}

/// A body that is text for people and a value for programs. Either fails if there is not enough memory for
/// it, or the client has disconnected.
pub trait TextOrValue: std::fmt::Debug + Send {
    fn text(&self) -> Result<String, Stop>;
    fn value(&self) -> Result<Value, Stop>;
}

impl Response {
    /// Creates a JSON response with any status.
    pub fn json(status: u16, value: Value) -> Response {
        Response { status, body: Body::Json(value), headers: Vec::new() }
    }

    /// Creates a JSON response with status 200.
    pub fn ok(value: Value) -> Response {
        Response::json(200, value)
    }

    /// Creates a response from serialized JSON.
    pub fn raw(status: u16, bytes: Vec<u8>) -> Response {
        Response { status, body: Body::RawJson(bytes), headers: Vec::new() }
    }

    /// Creates a plain text response with status 200.
    pub fn text(text: String) -> Response {
        Response { status: 200, body: Body::Text(text), headers: Vec::new() }
    }

    /// Creates a response with any content type and status 200.
    pub fn document(content_type: &'static str, bytes: Vec<u8>) -> Response {
        Response { status: 200, body: Body::Document(content_type, bytes), headers: Vec::new() }
    }

    /// Creates a response that is text for people and a value for programs, with status 200.
    pub fn shown(body: impl TextOrValue + 'static) -> Response {
        Response { status: 200, body: Body::TextOrValue(Box::new(body)), headers: Vec::new() }
    }

    /// Creates a response without a body.
    pub fn empty(status: u16) -> Response {
        Response { status, body: Body::Empty, headers: Vec::new() }
    }

    /// Creates the response `{"acknowledged": true}`.
    pub fn acknowledged() -> Response {
        Response::ok(json!({"acknowledged": true}))
    }

    /// Adds a header.
    pub fn with_header(mut self, name: &'static str, value: String) -> Response {
        self.headers.push((name, value));
        self
    }

    /// Creates the response for an error, with its status.
    pub fn from_error(error: &RequestError) -> Response {
        Response::json(status::of_error(error.class), error_body(error))
    }
}

/// The kind of an error that is rendered as its reason only: `{"error": "reason"}`, with the status unless it
/// is 400 (Elasticsearch's `RestController#handleBadRequest` and `#handleUnsupportedHttpMethod`).
pub const BARE: &str = "bare";

/// Renders `{"error": {"root_cause": [...], "type", "reason", ...}, "status"}`.
///
/// Source: `ElasticsearchException#generateFailureXContent` and `#guessRootCauses`. A search passes the root
/// causes of its shards in the metadata `root_cause`.
pub fn error_body(error: &RequestError) -> Value {
    if error.kind == BARE {
        return match error.class {
            ErrorClass::BadRequest => json!({"error": error.reason}),
            class => json!({"error": error.reason, "status": status::of_error(class)}),
        };
    }
    let mut object = match error.to_json() {
        Value::Object(object) => object,
        other => Map::from_iter([("reason".to_owned(), other)]),
    };
    let root_cause = object.shift_remove("root_cause").unwrap_or_else(|| {
        let mut root = limber_search::root_cause(error).clone();
        root.caused_by = None;
        Value::Array(vec![root.to_json()])
    });
    let mut whole = Map::new();
    whole.insert("root_cause".into(), root_cause);
    whole.extend(object);
    json!({"error": whole, "status": status::of_error(error.class)})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_elasticsearchs_shape() {
        let error =
            RequestError::not_found("index_not_found_exception", "no such index [x]").with("index", "x");
        let expected = json!({"error": {
            "root_cause": [{"type": "index_not_found_exception", "reason": "no such index [x]", "index": "x"}],
            "type": "index_not_found_exception", "reason": "no such index [x]", "index": "x"}, "status": 404});
        assert_eq!(error_body(&error), expected);
        assert_eq!(error_body(&RequestError::bad_request(BARE, "no")), json!({"error": "no"}));
        assert_eq!(
            error_body(&RequestError::new(ErrorClass::MethodNotAllowed, BARE, "no")),
            json!({"error": "no", "status": 405})
        );
    }
}
