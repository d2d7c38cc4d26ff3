//! Request bodies that must be JSON objects.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

/// Returns the members of a body; `None` when there is no body.
pub(crate) fn optional_members(body: &Value) -> Result<Option<&Map<String, Value>>, RequestError> {
    if body.is_null() { Ok(None) } else { members(body).map(Some) }
}

/// Returns the members of a body that is required.
pub(crate) fn members(body: &Value) -> Result<&Map<String, Value>, RequestError> {
    body.as_object().ok_or_else(|| {
        RequestError::bad_request("parse_exception", "request body is required to be an object")
    })
}
