//! The body of a request for a snapshot, from the API or from a policy.
//!
//! Source: Elasticsearch's `CreateSnapshotRequest`.

use limber_mapping::RequestError;
use serde_json::Value;

use crate::api::{IndicesOptions, Result};
use crate::notation::body::optional_members;

/// What a snapshot is to contain.
#[derive(Debug, Clone)]
pub(in crate::node) struct SnapshotRequest {
    pub indices: String,
    pub options: IndicesOptions,
    pub include_global_state: bool,
    pub partial: bool,
    pub metadata: Option<Value>,
}

/// Largest size of `metadata`, in bytes. Source: `CreateSnapshotRequest#MAXIMUM_METADATA_BYTES`.
const METADATA_BYTES_MAX: usize = 1024;

/// Reads a string, or a list of strings joined by commas.
pub(super) fn texts(key: &str, value: &Value) -> Result<String> {
    let malformed =
        || RequestError::illegal_argument(format!("malformed {key} section, should be an array of strings"));
    match value {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(items) => {
            let items = items.iter().map(|item| item.as_str().ok_or_else(malformed));
            Ok(items.collect::<Result<Vec<_>>>()?.join(","))
        }
        _ => Err(malformed()),
    }
}

/// Reads a boolean, as JSON or as a string.
pub(super) fn flag(key: &str, value: &Value) -> Result<bool> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) => crate::notation::value::parse_bool(key, text),
        other => Err(RequestError::illegal_argument(format!(
            "Failed to parse value [{other}] of [{key}] as only [true] or [false] are allowed."
        ))),
    }
}

/// Checks `feature_states`. They concern Elasticsearch's own indices, of which there are none here.
pub(super) fn check_feature_states(value: &Value) -> Result<()> {
    match texts("feature_states", value)?.as_str() {
        "" | "none" => Ok(()),
        other => Err(RequestError::unsupported(format_args!("[feature_states] [{other}]"))),
    }
}

impl SnapshotRequest {
    /// Parses the body of `PUT _snapshot/{repository}/{snapshot}`. An unknown member or a wrong type is an
    /// error.
    pub fn parse(body: &Value) -> Result<SnapshotRequest> {
        let options = IndicesOptions { expand_hidden: true, ..IndicesOptions::METADATA_OPEN_CLOSED };
        let mut request = SnapshotRequest {
            indices: String::new(),
            options,
            include_global_state: true,
            partial: false,
            metadata: None,
        };
        let Some(members) = optional_members(body)? else { return Ok(request) };
        let (mut ignore_unavailable, mut allow_no_indices, mut expand) = (None, None, None);
        for (key, value) in members {
            match &**key {
                "indices" => request.indices = texts(key, value)?,
                "feature_states" => check_feature_states(value)?,
                "include_global_state" => request.include_global_state = flag(key, value)?,
                "partial" => request.partial = flag(key, value)?,
                "metadata" => request.metadata = metadata(value)?,
                "ignore_unavailable" => ignore_unavailable = Some(flag(key, value)?),
                "allow_no_indices" => allow_no_indices = Some(flag(key, value)?),
                "expand_wildcards" => expand = Some(texts(key, value)?),
                _ => return Err(RequestError::illegal_argument(format!("Unknown parameter {key}"))),
            }
        }
        request.options = options.apply(ignore_unavailable, allow_no_indices, expand.as_deref())?;
        Ok(request)
    }
}

fn metadata(value: &Value) -> Result<Option<Value>> {
    match value {
        Value::Null => Ok(None),
        Value::Object(_) => {
            let bytes = value.to_string().len();
            if bytes > METADATA_BYTES_MAX {
                return Err(RequestError::validation([format!(
                    "metadata must be smaller than 1024 bytes, but was [{bytes}]"
                )]));
            }
            Ok(Some(value.clone()))
        }
        _ => Err(RequestError::illegal_argument("malformed metadata, should be an object")),
    }
}
