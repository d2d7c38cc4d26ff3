//! `collapse`: "of the documents with the same value of a field, show only the best one."
//!
//! Source: Elasticsearch's `CollapseBuilder`.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use super::inner_hits::InnerHits;
use super::{FieldFormat, SearchRequest};
use crate::values::json;

/// The value of `collapse`.
#[derive(Debug)]
pub struct Collapse {
    /// The field. If it is missing, the shards report it.
    pub(crate) field: Option<String>,
    /// The documents of its group to show with a hit; each set has a name.
    pub(crate) inner_hits: Vec<InnerHits>,
}

impl Collapse {
    pub(super) fn parse(value: &Value) -> Result<Collapse, RequestError> {
        let Value::Object(members) = value else { return Err(json::unknown_key("collapse", value)) };
        let mut collapse = Collapse { field: None, inner_hits: Vec::new() };
        for (key, value) in members {
            let failed = |cause: RequestError| PARSER.failed(key, cause);
            match (key.as_str(), value) {
                ("field", Value::String(path)) if path.is_empty() => {
                    return Err(failed(RequestError::illegal_argument("field name is null or empty")));
                }
                ("field", Value::String(path)) => collapse.field = Some(path.clone()),
                ("inner_hits", Value::Object(_) | Value::Array(_)) => {
                    collapse.inner_hits = parse_inner_hits(value).map_err(failed)?;
                }
                // Groups are searched one after the other.
                ("max_concurrent_group_searches", Value::String(_) | Value::Number(_)) => {
                    let count = json::int(value).map_err(failed)?;
                    if count < 1 {
                        let reason = "maxConcurrentGroupRequests` must be positive";
                        return Err(failed(RequestError::illegal_argument(reason)));
                    }
                }
                ("field" | "inner_hits" | "max_concurrent_group_searches", other) => {
                    return Err(PARSER.unsupported(key, other));
                }
                _ => {
                    let known = ["field", "inner_hits", "max_concurrent_group_searches"];
                    return Err(PARSER.unknown_among(key, &known));
                }
            }
        }
        Ok(collapse)
    }

    /// Parses the `collapse` of inner hits, which only has a field.
    pub(super) fn parse_inner(members: &Map<String, Value>) -> Result<Collapse, RequestError> {
        let mut field = None;
        for (key, value) in members {
            match (key.as_str(), value) {
                ("field", Value::String(path)) => field = Some(path.clone()),
                _ => return Err(RequestError::parsing("Invalid token in the inner collapse")),
            }
        }
        Ok(Collapse { field, inner_hits: Vec::new() })
    }
}

fn parse_inner_hits(value: &Value) -> Result<Vec<InnerHits>, RequestError> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let parse = |item: &Value| {
        limber_work::check_beyond_deadline()?;
        let Value::Object(body) = item else {
            return Err(RequestError::parsing("Invalid token in inner_hits array"));
        };
        let inner = InnerHits::parse(body)?;
        match inner.name {
            Some(_) => Ok(inner),
            None => Err(RequestError::illegal_argument(
                "inner_hits must have a [name]; set the [name] field in the inner_hits definition",
            )),
        }
    };
    items.iter().map(parse).collect()
}

const PARSER: ObjectParser<'_> = ObjectParser::new("collapse");

impl SearchRequest {
    /// Returns the field that hits are collapsed on.
    pub(crate) fn collapse_field(&self) -> Option<&str> {
        self.collapse.as_ref()?.field.as_deref()
    }

    /// Makes hits show the value of the field that they are collapsed on.
    pub(crate) fn show_group_key(&mut self) {
        if let Some(field) = self.collapse_field()
            && !self.docvalue_fields.iter().any(|shown| shown.field == field)
        {
            let field = field.to_owned();
            self.docvalue_fields.push(FieldFormat::of(field));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Reasons recorded from Elasticsearch 9.4.3.
    #[test]
    fn refusals_are_worded_as_elasticsearch_words_them() {
        for (value, reason, cause) in [
            (json!([]), "Unknown key for a START_ARRAY in [collapse].", ""),
            (json!({"field": "a", "x": 1}), "[collapse] unknown field [x]", ""),
            (json!({"field": 5}), "[collapse] field doesn't support values of type: VALUE_NUMBER", ""),
            (json!({"field": ""}), "[collapse] failed to parse field [field]", "field name is null or empty"),
            (
                json!({"inner_hits": {}}),
                "[collapse] failed to parse field [inner_hits]",
                "inner_hits must have a [name]; set the [name] field in the inner_hits definition",
            ),
            (
                json!({"inner_hits": [5]}),
                "[collapse] failed to parse field [inner_hits]",
                "Invalid token in inner_hits array",
            ),
            (
                json!({"inner_hits": {"name": "a", "foo": 1}}),
                "[collapse] failed to parse field [inner_hits]",
                "[inner_hits] unknown field [foo]",
            ),
            (
                json!({"inner_hits": {"name": "a", "collapse": {"x": "b"}}}),
                "[collapse] failed to parse field [inner_hits]",
                "[inner_hits] failed to parse field [collapse]",
            ),
            (
                json!({"inner_hits": {"name": "a", "size": -1}}),
                "[collapse] failed to parse field [inner_hits]",
                "[inner_hits] failed to parse field [size]",
            ),
            (
                json!({"max_concurrent_group_searches": 0}),
                "[collapse] failed to parse field [max_concurrent_group_searches]",
                "maxConcurrentGroupRequests` must be positive",
            ),
        ] {
            let error = Collapse::parse(&value).unwrap_err();
            assert_eq!(error.reason, reason);
            assert_eq!(error.caused_by.map_or(String::new(), |cause| cause.reason), cause);
        }
    }
}
