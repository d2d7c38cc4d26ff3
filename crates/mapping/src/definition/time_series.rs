//! Time series fields: "may this field be a dimension or a metric?"
//!
//! Source: Elasticsearch's `TimeSeriesParams`, `KeywordFieldMapper`, `NumberFieldMapper`, `IpFieldMapper`.

use serde_json::Value;

use crate::RequestError;
use crate::field::{Dimension, FieldType, Leaf};
use crate::json::java::{boolean, java_text};

/// Checks the other parameters of a field with `time_series_dimension: true` or `time_series_metric`.
///
/// # Errors
/// `illegal_argument_exception` with Elasticsearch's message.
pub(super) fn check(leaf: &Leaf, is_multi_field: bool, path: &str) -> Result<(), RequestError> {
    let refused = |why: String| Err(RequestError::illegal_argument(why));
    let is_metric = leaf.params.contains_key("time_series_metric");
    if is_metric && !leaf.flag("doc_values") {
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

/// Converts `time_series_metric` to normal form. Only `gauge` is supported, which has no effect except in
/// `_field_caps`.
pub(super) fn metric(
    value: &Value,
    field: &str,
    kind: &dyn FieldType,
    is_number: bool,
) -> Result<Value, RequestError> {
    match value.as_str() {
        None if value.is_null() => Ok(Value::Null),
        Some("gauge") if is_number => Ok(value.clone()),
        Some("counter" | "gauge" | "position") => Err(RequestError::unsupported(format!(
            "parameter [time_series_metric: {}] on field [{field}] of type [{}]",
            java_text(value),
            kind.name()
        ))),
        _ => Err(RequestError::bad_request(
            "mapper_parsing_exception",
            format!(
                "Unknown value [{}] for field [time_series_metric] - accepted values are [gauge, counter]",
                java_text(value)
            ),
        )),
    }
}
