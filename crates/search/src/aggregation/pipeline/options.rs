//! Options that pipeline aggregations have in common. Source: Elasticsearch's `BucketHelpers.GapPolicy`,
//! `PipelineAggregator.Parser`.

use std::sync::Arc;

use limber_mapping::{ObjectParser, RequestError};
use serde_json::Value;

use super::super::options::Options;
use super::super::values::decimal_format::DecimalFormat;
use super::super::values::format::Format;
use super::path::BucketsPath;
use crate::values::json;

/// How a bucket without a value is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapPolicy {
    Skip,
    InsertZeros,
    KeepValues,
}

impl GapPolicy {
    /// Takes `gap_policy`; the default is `skip`.
    pub fn parse(options: &mut Options) -> Result<GapPolicy, RequestError> {
        match options.text("gap_policy")?.as_deref() {
            None | Some("skip") => Ok(GapPolicy::Skip),
            Some("insert_zeros") => Ok(GapPolicy::InsertZeros),
            Some("keep_values") => Ok(GapPolicy::KeepValues),
            Some(other) => Err(RequestError::parsing(format!(
                "Invalid gap policy: [{other}], accepted values: [insert_zeros, skip, keep_values]"
            ))),
        }
    }

    /// Applies the policy to a value; NaN is a missing value.
    pub fn fill(self, value: f64, is_empty_bucket: bool) -> f64 {
        let is_gap = !value.is_finite() || is_empty_bucket;
        match self {
            GapPolicy::InsertZeros if is_gap => 0.0,
            GapPolicy::Skip if is_gap => f64::NAN,
            GapPolicy::KeepValues if !value.is_finite() => f64::NAN,
            _ => value,
        }
    }
}

/// Reads `buckets_path`, which must be a single path.
pub fn buckets_path(
    options: &mut Options,
    missing: impl Fn(&str) -> String,
) -> Result<BucketsPath, RequestError> {
    let value = match options.take("buckets_path") {
        Some(Value::Array(mut list)) if list.len() == 1 => list.remove(0),
        Some(object @ Value::Object(_)) if options.kind == "moving_fn" => {
            return Err(options.wrong_type("buckets_path", &object));
        }
        Some(Value::Object(map)) if map.len() == 1 => {
            map.into_iter().next().map_or(Value::Null, |(_, path)| path)
        }
        Some(Value::Array(list)) if list.is_empty() => Value::Null,
        Some(Value::Array(_) | Value::Object(_)) => {
            return Err(RequestError::validation([format!(
                "buckets_path must contain a single entry for aggregation [{}]",
                options.name
            )]));
        }
        Some(value) => value,
        None => Value::Null,
    };
    match json::scalar_text(&value) {
        Some(text) => Ok(BucketsPath::parse(&text)),
        None => Err(RequestError::parsing(missing(&options.name))),
    }
}

/// Reads `buckets_path`, which must be a string.
pub fn single_path(options: &mut Options) -> Result<BucketsPath, RequestError> {
    let text = options.text("buckets_path")?.ok_or_else(|| ObjectParser::required("buckets_path"))?;
    Ok(BucketsPath::parse(&text))
}

/// Takes the `gap_policy` of an aggregation that always fills gaps with zeros.
pub fn check_only_zeros(options: &mut Options) -> Result<(), RequestError> {
    if options.has("gap_policy") && GapPolicy::parse(options)? != GapPolicy::InsertZeros {
        let cause = RequestError::illegal_argument("only [gap_policy] of [insert_zeros] is supported");
        return Err(ObjectParser::new(options.kind).failed_to_build(cause));
    }
    Ok(())
}

/// Takes a list of doubles, or a double that stands alone.
pub fn doubles(options: &mut Options, option: &str) -> Result<Option<Vec<f64>>, RequestError> {
    let values = match options.take_typed(option)? {
        None => return Ok(None),
        Some(Value::Array(list)) => list,
        Some(value @ (Value::Number(_) | Value::String(_))) => vec![value],
        Some(value) => return Err(options.wrong_type(option, &value)),
    };
    let wrong = |value: &Value| {
        options.failed(option, json::number_format(json::scalar_text(value).unwrap_or_default()))
    };
    let double = |value: &Value| {
        let number = value.as_f64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
        number.ok_or_else(|| wrong(value))
    };
    values.iter().map(double).collect::<Result<_, _>>().map(Some)
}

/// Makes the message that most pipeline aggregations have for a missing `buckets_path`.
pub fn missing_for(kind: &'static str) -> impl Fn(&str) -> String {
    move |name| format!("Missing required field [buckets_path] for {kind} aggregation [{name}]")
}

/// Reads `format`.
pub fn format(options: &mut Options) -> Result<Format, RequestError> {
    Ok(match options.text("format")? {
        None => Format::Raw,
        Some(pattern) => Format::Decimal(Arc::new(DecimalFormat::parse(&pattern)?)),
    })
}

/// Refuses the remaining options, with the messages of Elasticsearch's hand-written parsers.
pub fn finish(options: &mut Options) -> Result<(), RequestError> {
    let left = options.take_all();
    match left.iter().next() {
        None => Ok(()),
        Some((_, value)) => {
            let token = match value {
                Value::Bool(_) => "VALUE_BOOLEAN",
                value => json::token(value),
            };
            Err(RequestError::parsing(format!("Unexpected token {token} in [{}].", options.name)))
        }
    }
}
