//! `nested` in `sort`: "which nested documents provide the values?"
//!
//! Source: Elasticsearch's `NestedSortBuilder`.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::Value;

use crate::query::Query;
use crate::request::read_query::read_query;
use crate::values::json;

/// One level; the next level is inside of its documents.
#[derive(Debug, Clone)]
pub(crate) struct NestedSort {
    /// `None` if no path is given.
    pub path: Option<String>,
    /// The filter as written and as parsed.
    pub filter: Option<(Value, Query)>,
    /// Only this many nested documents of a document count.
    pub max_children: Option<u32>,
    pub nested: Option<Arc<NestedSort>>,
}

impl PartialEq for NestedSort {
    fn eq(&self, other: &NestedSort) -> bool {
        let body = |sort: &NestedSort| sort.filter.as_ref().map(|(body, _)| body.clone());
        (&self.path, self.max_children, &self.nested) == (&other.path, other.max_children, &other.nested)
            && body(self) == body(other)
    }
}

/// Whether the key occurs anywhere in the value; iterative, as the value may be deep.
fn has_key(value: &Value, key: &str) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) if members.contains_key(key) => return true,
            Value::Object(members) => open.extend(members.values()),
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    false
}

/// Maximum number of levels of one sort.
const LEVELS_MAX: usize = 50;

impl NestedSort {
    pub(super) fn parse(value: &Value) -> Result<Arc<NestedSort>, RequestError> {
        NestedSort::parse_level(value, 1)
    }

    fn parse_level(value: &Value, level: usize) -> Result<Arc<NestedSort>, RequestError> {
        let Value::Object(members) = value else {
            return Err(RequestError::illegal_argument(
                "malformed nested sort format, must start with an object",
            ));
        };
        if level > LEVELS_MAX {
            return Err(RequestError::illegal_argument(format!(
                "[nested] of a sort is nested more than {LEVELS_MAX} deep"
            )));
        }
        let mut sort = NestedSort { path: None, filter: None, max_children: None, nested: None };
        for (name, value) in members {
            match name.as_str() {
                "path" => sort.path = json::scalar_text(value),
                "filter" => {
                    if has_key(value, "inner_hits") {
                        return Err(RequestError::unsupported(
                            "[inner_hits] in the [filter] of a [nested] sort",
                        ));
                    }
                    sort.filter = Some((value.clone(), read_query(value)?));
                }
                "max_children" => {
                    let text = json::scalar_text(value).unwrap_or_default();
                    let count: i32 = text.parse().map_err(|_| json::number_format(&text))?;
                    if level > 1 {
                        return Err(RequestError::illegal_argument(
                            "max_children is only supported on top level of nested sort",
                        ));
                    }
                    sort.max_children = Some(u32::try_from(count).unwrap_or(0));
                }
                "nested" => sort.nested = Some(NestedSort::parse_level(value, level + 1)?),
                _ => {
                    return Err(RequestError::illegal_argument(format!(
                        "malformed nested sort format, unknown field name [{name}]"
                    )));
                }
            }
        }
        Ok(Arc::new(sort))
    }
}
