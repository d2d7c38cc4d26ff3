//! `sort`: "by what, in which order, and where do documents without a value go?"

use std::sync::Arc;

use limber_mapping::{ObjectParser, RequestError};
use limber_script::Script;
use limber_work as work;
use serde_json::Value;

use super::geo::{self, GeoSort};
use super::nested::NestedSort;
use crate::values::json;
use crate::values::mode::MultiValueMode;

/// The direction of a sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The least first.
    Ascending,
    /// The greatest first.
    Descending,
}

/// The position of documents without a value in a sort.
#[derive(Debug, Clone, PartialEq)]
pub enum Missing {
    /// After all others, in either direction.
    Last,
    /// Before all others, in either direction.
    First,
    /// At the position of a document with this value.
    Value(Value),
}

/// `numeric_type`: the type that the values of all indices are converted to before they are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumericType {
    /// Whole numbers of 64 bits.
    Long,
    /// Floating-point numbers of 64 bits.
    Double,
    /// Milliseconds since 1970.
    Date,
    /// Nanoseconds since 1970, which range up to the year 2262.
    DateNanos,
}

/// Sorts by index order over all shards: the shard's index among those searched, then the document's number
/// in its shard.
pub(crate) const SHARD_DOC: &str = "_shard_doc";

/// One entry of `sort`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sort {
    /// A path, `_score`, `_doc` or `_shard_doc`.
    pub field: String,
    /// Whether the least or the greatest come first.
    pub order: Order,
    /// Which of several values counts; `None`: the least in ascending sorts, the greatest in descending
    /// ones.
    pub mode: Option<MultiValueMode>,
    /// The position of documents without a value.
    pub missing: Missing,
    /// The type that the field is assumed to have where it is not mapped; `None`: an index without the
    /// field refuses the sort.
    pub unmapped_type: Option<String>,
    /// The type that values are converted to before they are compared.
    pub numeric_type: Option<NumericType>,
    /// Whether `numeric_type` is not the request's, but is there because the field holds whole numbers in
    /// one index and others elsewhere. Documents without a value keep the place that whole numbers give them.
    pub(crate) is_widened: bool,
    /// The format of dates in `sort` of a hit; `None`: as they are compared.
    pub format: Option<String>,
    /// `_geo_distance`.
    pub(crate) geo: Option<Arc<GeoSort>>,
    /// `_script`.
    pub script: Option<ScriptSort>,
    /// `nested`: set if the values are those of nested documents.
    pub(crate) nested: Option<Arc<NestedSort>>,
}

/// A sort by the values of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptSort {
    /// Computes the key of each document.
    pub script: Script,
    /// Whether the keys are strings rather than numbers.
    pub is_text: bool,
}

impl Sort {
    /// Creates a sort in the default order: `_score` descending, all others ascending.
    pub fn by(field: impl Into<String>) -> Sort {
        let field = field.into();
        let order = if field == "_score" { Order::Descending } else { Order::Ascending };
        Sort {
            field,
            order,
            mode: None,
            missing: Missing::Last,
            unmapped_type: None,
            numeric_type: None,
            is_widened: false,
            format: None,
            geo: None,
            script: None,
            nested: None,
        }
    }

    /// Whether this sorts by index order: `_doc` or `_shard_doc`.
    pub fn is_doc(&self) -> bool {
        self.field == "_doc" || self.field == SHARD_DOC
    }

    /// Whether this sorts by score.
    pub fn is_score(&self) -> bool {
        self.field == "_score"
    }

    /// Parses `n` and `n:desc`, separated by commas, as in the URL. Entries with other orders than `asc` and
    /// `desc` are left out, as in Elasticsearch's `RestSearchAction`.
    pub fn parse_url(text: &str) -> Vec<Sort> {
        text.split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
            .filter_map(|entry| match entry.rsplit_once(':') {
                Some((field, "asc")) => Some(Sort { order: Order::Ascending, ..Sort::by(field) }),
                Some((field, "desc")) => Some(Sort { order: Order::Descending, ..Sort::by(field) }),
                Some(_) => None,
                None => Some(Sort::by(entry)),
            })
            .collect()
    }

    /// Parses the value of `sort`: a name, an object, or a list of these.
    pub fn parse_list(value: &Value) -> Result<Vec<Sort>, RequestError> {
        let mut sorts = Vec::new();
        match value {
            Value::Array(items) => {
                for item in items {
                    // A name of one letter becomes a sort of hundreds of bytes.
                    work::check_beyond_deadline()?;
                    if matches!(item, Value::Number(_) | Value::Bool(_)) {
                        return Err(malformed_sort());
                    }
                    Sort::parse_item(item, &mut sorts)?;
                }
            }
            Value::Null => return Err(RequestError::parsing("Unknown key for a VALUE_NULL in [sort].")),
            other => Sort::parse_item(other, &mut sorts)?,
        }
        Ok(sorts)
    }

    fn parse_item(item: &Value, sorts: &mut Vec<Sort>) -> Result<(), RequestError> {
        match item {
            Value::Object(members) => {
                for (field, options) in members {
                    work::check_beyond_deadline()?;
                    sorts.push(Sort::parse_options(field, options)?);
                }
                Ok(())
            }
            other => {
                let field = json::scalar_text(other).ok_or_else(malformed_sort)?;
                sorts.push(Sort::by(field));
                Ok(())
            }
        }
    }

    fn parse_options(field: &str, options: &Value) -> Result<Sort, RequestError> {
        if let Value::String(order) = options {
            return Ok(Sort { order: parse_order(order)?, ..Sort::by(field) });
        }
        if matches!(field, "_geo_distance" | "_geoDistance") {
            return geo::parse(field, options);
        }
        if field == "_script" {
            return Sort::parse_script(options);
        }
        let mut sort = Sort::by(field);
        if let (true, Value::Object(members)) = (sort.is_score(), options)
            && let Some(name) = members.keys().find(|name| *name != "order")
        {
            return Err(ObjectParser::new("_score").unknown(name));
        }
        let members = match options {
            Value::Object(members) => members,
            other => {
                return Err(PARSER.expected_object(other));
            }
        };
        for (name, value) in members {
            let text = || json::scalar_text(value).ok_or_else(|| PARSER.unsupported(name, value));
            match name.as_str() {
                "order" => {
                    sort.order = parse_order(&text()?).map_err(|cause| PARSER.failed("order", cause))?;
                }
                "mode" => {
                    sort.mode = Some(parse_mode(&text()?).map_err(|cause| PARSER.failed("mode", cause))?);
                }
                "missing" => {
                    sort.missing = match value {
                        Value::String(text) if text == "_last" => Missing::Last,
                        Value::String(text) if text == "_first" => Missing::First,
                        Value::Array(_) | Value::Object(_) => {
                            return Err(PARSER.unsupported("missing", value));
                        }
                        Value::Null => Missing::Last,
                        other => Missing::Value(other.clone()),
                    };
                }
                "unmapped_type" => sort.unmapped_type = Some(text()?),
                "numeric_type" => {
                    let kind = parse_numeric_type(&text()?);
                    sort.numeric_type = Some(kind.map_err(|cause| PARSER.failed("numeric_type", cause))?);
                }
                "format" => sort.format = Some(text()?),
                "nested" => {
                    sort.nested =
                        Some(NestedSort::parse(value).map_err(|cause| PARSER.failed("nested", cause))?);
                }
                "nested_path" | "nested_filter" => {
                    return Err(PARSER.unknown_but(name, &["nested"]));
                }
                _ => return Err(PARSER.unknown(name)),
            }
        }
        Ok(sort)
    }
}

impl Sort {
    /// Parses `{"type": "number", "script": {...}, "order": ..., "mode": ...}`.
    fn parse_script(options: &Value) -> Result<Sort, RequestError> {
        let parser = ObjectParser::new("_script");
        let members = parser.members(options)?;
        let mut sort = Sort::by("_script");
        let (mut script, mut kind) = (None, None);
        for (name, value) in members {
            let failed = |cause: RequestError| parser.failed(name, cause);
            let text = || json::scalar_text(value).unwrap_or_default();
            match name.as_str() {
                "script" => script = Some(Script::parse(value).map_err(failed)?),
                "type" => kind = Some(parse_script_type(&text()).map_err(failed)?),
                "order" => sort.order = parse_order(&text()).map_err(failed)?,
                // A script returns one number, which every mode selects.
                "mode" => sort.mode = Some(parse_mode(&text()).map_err(failed)?),
                "nested" => sort.nested = Some(NestedSort::parse(value).map_err(failed)?),
                _ => return Err(parser.unknown(name)),
            }
        }
        if let (Some(ScriptSortType::String), Some(mode)) = (&kind, members.get("mode"))
            && matches!(sort.mode, Some(MultiValueMode::Sum | MultiValueMode::Avg | MultiValueMode::Median))
        {
            let mode = json::scalar_text(mode).unwrap_or_default();
            return Err(parser.failed(
                "mode",
                RequestError::illegal_argument(format!(
                    "script sort of type [string] doesn't support mode [{mode}]"
                )),
            ));
        }
        match (script, kind) {
            (Some(script), Some(ScriptSortType::Number)) => {
                sort.script = Some(ScriptSort { script, is_text: false });
                Ok(sort)
            }
            (Some(script), Some(ScriptSortType::String)) => {
                sort.script = Some(ScriptSort { script, is_text: true });
                Ok(sort)
            }
            (None, None) => Err(ObjectParser::required("script, type")),
            (None, _) => Err(ObjectParser::required("script")),
            (_, None) => Err(ObjectParser::required("type")),
        }
    }
}

/// `type` of a sort by script.
enum ScriptSortType {
    Number,
    String,
}

fn parse_script_type(text: &str) -> Result<ScriptSortType, RequestError> {
    match text.to_lowercase().as_str() {
        "number" => Ok(ScriptSortType::Number),
        "string" => Ok(ScriptSortType::String),
        _ => Err(RequestError::illegal_argument(format!("Unknown ScriptSortType [{text}]"))),
    }
}

const PARSER: ObjectParser<'_> = ObjectParser::new("field_sort");

fn malformed_sort() -> RequestError {
    let reason = "malformed sort format, within the sort array, an object, or an actual string are allowed";
    RequestError::illegal_argument(reason)
}

pub(super) fn parse_order(text: &str) -> Result<Order, RequestError> {
    match text.to_lowercase().as_str() {
        "asc" => Ok(Order::Ascending),
        "desc" => Ok(Order::Descending),
        _ => Err(RequestError::illegal_argument(format!(
            "No enum constant org.elasticsearch.search.sort.SortOrder.{}",
            text.to_uppercase()
        ))),
    }
}

pub(super) fn parse_mode(text: &str) -> Result<MultiValueMode, RequestError> {
    MultiValueMode::parse(text)
        .ok_or_else(|| RequestError::illegal_argument(format!("Unknown SortMode [{text}]")))
}

fn parse_numeric_type(text: &str) -> Result<NumericType, RequestError> {
    match text {
        "long" => Ok(NumericType::Long),
        "double" => Ok(NumericType::Double),
        "date" => Ok(NumericType::Date),
        "date_nanos" => Ok(NumericType::DateNanos),
        _ => Err(RequestError::illegal_argument(format!(
            "invalid value for [numeric_type], must be [long, double, date, date_nanos], got {text}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_form_is_read() {
        let sorts = Sort::parse_list(
            &json!(["a", {"b": "desc"}, {"c": {"order": "desc", "mode": "avg", "missing": 3}}, "_score"]),
        )
        .unwrap();
        let seen: Vec<_> = sorts.iter().map(|sort| (sort.field.as_str(), sort.order, sort.mode)).collect();
        assert_eq!(
            seen,
            [
                ("a", Order::Ascending, None),
                ("b", Order::Descending, None),
                ("c", Order::Descending, Some(MultiValueMode::Avg)),
                ("_score", Order::Descending, None)
            ]
        );
        assert_eq!(sorts[2].missing, Missing::Value(json!(3)));
        assert_eq!(Sort::parse_url("n:desc,m")[0].order, Order::Descending);
        assert!(Sort::parse_url("n:up,n:DESC").is_empty());
    }

    #[test]
    fn refusals_are_worded_as_elasticsearch_words_them() {
        for (value, reason) in [
            (json!([{"n": {"order": "up"}}]), "[field_sort] failed to parse field [order]"),
            (json!([{"n": {"foo": "up"}}]), "[field_sort] unknown field [foo]"),
            (json!([{"n": {"mode": "xx"}}]), "[field_sort] failed to parse field [mode]"),
            (json!([{"_script": {}}]), "Required [script, type]"),
        ] {
            assert_eq!(Sort::parse_list(&value).unwrap_err().reason, reason);
        }
    }
}
