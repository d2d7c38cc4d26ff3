//! Time series fields: "may this field be a dimension or a metric?"
//!
//! Source: Elasticsearch's `TimeSeriesParams`, `KeywordFieldMapper`, `NumberFieldMapper`, `IpFieldMapper`.

use serde_json::Value;

use super::tree::{Node, Root};
use crate::RequestError;
use crate::field::{Dimension, FieldType, Leaf};
use crate::field_type::Keyword;
use crate::json::java::{boolean, java_text};

/// Returns the declaration of `_tsid`: a keyword that is only a column.
pub(crate) fn tsid() -> Leaf {
    let mut leaf = Leaf::of(&Keyword);
    leaf.params.insert("index", false.into());
    leaf
}

/// Returns the keys of the flattened field at `path` that are dimensions.
pub(crate) fn series_keys(root: &Root, path: &str) -> Vec<String> {
    let mut object = &root.object;
    let mut parts = path.split('.').peekable();
    while let Some(name) = parts.next() {
        match object.properties.get(name) {
            Some(Node::Object(inner)) => object = inner,
            Some(Node::Leaf(leaf)) if parts.peek().is_none() => {
                let keys = leaf.params.get("time_series_dimensions").and_then(Value::as_array);
                return keys.into_iter().flatten().map(java_text).collect();
            }
            _ => break,
        }
    }
    Vec::new()
}

/// Converts `time_series_dimensions` to normal form: a list of names of keys.
pub(super) fn keys(value: &Value) -> Result<Value, RequestError> {
    let keys: Vec<Value> = match value {
        Value::Array(keys) => keys.iter().map(|key| java_text(key).into()).collect(),
        Value::Null => Vec::new(),
        other => {
            let list = java_text(other);
            limber_work::claim_pieces(&list, ",")?;
            list.split(',').map(|key| key.trim().into()).collect()
        }
    };
    Ok(match keys.is_empty() {
        true => Value::Null,
        false => keys.into(),
    })
}

/// Checks the other parameters of a field with `time_series_dimension: true` or `time_series_metric`.
///
/// # Errors
/// `illegal_argument_exception` with Elasticsearch's message.
pub(super) fn check(leaf: &Leaf, is_multi_field: bool, path: &str) -> Result<(), RequestError> {
    let refused = |why: String| Err(RequestError::illegal_argument(why));
    let is_metric = leaf.params.contains_key("time_series_metric");
    if is_metric && leaf.kind.param("doc_values").is_some() && !leaf.flag("doc_values") {
        return refused("Field [time_series_metric] requires that [doc_values] is true".into());
    }
    if !leaf.flag("time_series_dimension") {
        return Ok(());
    }
    if is_metric {
        return refused(
            "Field [time_series_dimension] cannot be set in conjunction with field [time_series_metric]"
                .into(),
        );
    }
    if is_multi_field {
        return Err(RequestError::unsupported(format!("[time_series_dimension] on multi-field [{path}]")));
    }
    if !leaf.flag("index") || !leaf.flag("doc_values") {
        return refused(
            "Field [time_series_dimension] requires that [index] and [doc_values] are true".into(),
        );
    }
    for other in ["ignore_above", "normalizer"] {
        if leaf.params.contains_key(other) {
            return refused(format!(
                "Field [{other}] cannot be set in conjunction with field [time_series_dimension]"
            ));
        }
    }
    Ok(())
}

/// Converts `time_series_dimension` to normal form: `true` only if the type can be a dimension.
pub(super) fn dimension(value: &Value, kind: &dyn FieldType) -> Result<Value, RequestError> {
    if !boolean(value)? {
        return Ok(Value::Null);
    }
    match kind.dimension() {
        Dimension::Allowed => Ok(true.into()),
        Dimension::Fractional => Err(RequestError::illegal_argument(format!(
            "Parameter [time_series_dimension] cannot be set to numeric type [{}]",
            kind.name()
        ))),
        Dimension::Unsupported => Err(RequestError::unsupported(format!(
            "parameter [time_series_dimension: {}] of type [{}]",
            java_text(value),
            kind.name()
        ))),
    }
}

/// Converts `time_series_metric` to normal form. It has no effect except in `_field_caps`. `accepted` are the
/// metrics that the type can be.
pub(super) fn metric(
    value: &Value,
    field: &str,
    kind: &dyn FieldType,
    accepted: &[&str],
) -> Result<Value, RequestError> {
    match value.as_str() {
        None if value.is_null() => Ok(Value::Null),
        Some(name) if accepted.contains(&name) => Ok(value.clone()),
        Some("counter" | "gauge" | "position") => Err(RequestError::unsupported(format!(
            "parameter [time_series_metric: {}] on field [{field}] of type [{}]",
            java_text(value),
            kind.name()
        ))),
        _ => Err(RequestError::bad_request(
            "mapper_parsing_exception",
            format!(
                "Unknown value [{}] for field [time_series_metric] - accepted values are [{}]",
                java_text(value),
                accepted.join(", ")
            ),
        )),
    }
}
