//! The response of a request by query.

use limber_mapping::ErrorClass;
use serde_json::{Map, Value};

/// The result of a request by query.
#[derive(Debug, Clone)]
pub struct ByQueryResponse {
    /// The body of the API's response, without `failures`.
    pub body: Map<String, Value>,
    /// What could not be read or written.
    pub failures: Vec<ByQueryFailure>,
}

/// A shard that could not be read, or a document or batch that could not be written.
#[derive(Debug, Clone)]
pub struct ByQueryFailure {
    /// The class of the error.
    pub class: ErrorClass,
    /// The object that the API shows for it, without its status.
    pub shown: Value,
}
