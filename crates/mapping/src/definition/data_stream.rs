//! What a data stream requires of its documents: exactly one date `@timestamp`.
//!
//! Source: Elasticsearch's `DataStreamTimestampFieldMapper`.

use serde_json::{Map, Value};

use super::tree::{Node, Root};
use crate::RequestError;
use crate::field::ValueKind;
use crate::json::java::{boolean, mapper_parsing};
use crate::settings::MappingSettings;

/// The field that every document of a data stream must have.
pub(crate) const TIMESTAMP: &str = "@timestamp";

/// Parameters of the field that a mapping may set.
const ALLOWED: [&str; 4] = ["meta", "format", "locale", "ignore_malformed"];

/// Parses `_data_stream_timestamp` of a mapping: whether documents must have exactly one timestamp.
pub(super) fn parse(value: &Value) -> Result<bool, RequestError> {
    let Value::Object(object) = value else {
        return Err(mapper_parsing("[_data_stream_timestamp] config must be an object"));
    };
    let mut is_enabled = false;
    for (name, value) in object {
        match name.as_str() {
            "enabled" => is_enabled = boolean(value)?,
            other => {
                return Err(mapper_parsing(format!(
                    "unknown parameter [{other}] on mapper [_data_stream_timestamp] of type [_data_stream_timestamp]"
                )));
            }
        }
    }
    Ok(is_enabled)
}

/// Adds the members that a data stream puts into the mapping of its indices: `_data_stream_timestamp`, and a
/// date `@timestamp` if `mappings` does not define it. A malformed `@timestamp` is never ignored, even if the
/// index's setting would ignore malformed values.
pub fn add_timestamp(mappings: &mut Map<String, Value>, ignores_malformed: bool) {
    mappings.insert("_data_stream_timestamp".into(), serde_json::json!({"enabled": true}));
    let properties = mappings.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(properties) = properties {
        properties.entry(TIMESTAMP).or_insert_with(|| match ignores_malformed {
            true => serde_json::json!({"type": "date", "ignore_malformed": false}),
            false => serde_json::json!({"type": "date"}),
        });
    }
}

/// Checks that `@timestamp` can be the timestamp of a data stream.
///
/// # Errors
/// `illegal_argument_exception` with Elasticsearch's message.
pub(crate) fn check(root: &Root, settings: &MappingSettings) -> Result<(), RequestError> {
    if root.data_stream_timestamp != Some(true) {
        return Ok(());
    }
    let refused = |why: String| {
        Err(RequestError::illegal_argument(format!("data stream timestamp field [{TIMESTAMP}] {why}")))
    };
    let leaf = match root.object.properties.get(TIMESTAMP) {
        Some(Node::Leaf(leaf)) => leaf,
        Some(Node::Object(_) | Node::Alias(_)) | None => return refused("does not exist".into()),
    };
    if !matches!(leaf.kind.values(leaf), Ok(ValueKind::Date { .. })) {
        return refused(format!("is of type [{}], but [date,date_nanos] is expected", leaf.kind.name()));
    }
    if !leaf.flag("index") {
        return refused("is not indexed".into());
    }
    if !leaf.flag("doc_values") {
        return refused("doesn't have doc values".into());
    }
    if leaf.params.contains_key("null_value") {
        return refused("has disallowed [null_value] attribute specified".into());
    }
    let ignores = leaf.params.get("ignore_malformed").and_then(Value::as_bool);
    if ignores.unwrap_or(settings.ignore_malformed) {
        return refused("has disallowed [ignore_malformed] attribute specified".into());
    }
    let mut others: Vec<&str> = leaf.params.keys().copied().filter(|name| !ALLOWED.contains(name)).collect();
    others.extend((!leaf.fields.is_empty()).then_some("fields"));
    others.extend((!leaf.copy_to.is_empty()).then_some("copy_to"));
    match others.is_empty() {
        true => Ok(()),
        false => refused(format!("has disallowed attributes: [{}]", others.join(", "))),
    }
}
