//! `span_or`: the spans of any of several queries.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::bind::{SpanQuery, check_same_field, parse_inner, query, spans_of};
use crate::error::Error;
use crate::primitives::SpanTree;
use crate::query::bind::Binder;
use crate::query::parse::{Common, Parser, Query, does_not_support};
use crate::values::json;

#[derive(Debug)]
struct SpanOr {
    clauses: Vec<Query>,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let (mut common, mut clauses) = (Common::default(), Vec::new());
    for (key, value) in members {
        match (key.as_str(), value) {
            ("clauses", Value::Array(items)) => {
                for item in items {
                    clauses.push(parse_inner("span_or", "clauses", item, parser)?);
                }
            }
            ("_name", Value::Null | Value::Object(_)) => {
                json::text(value)?;
            }
            (key, Value::Array(_) | Value::Object(_)) => return Err(does_not_support("span_or", key)),
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("span_or", key)),
        }
    }
    if clauses.is_empty() {
        return Err(RequestError::parsing("span_or must include [clauses]"));
    }
    Ok(query(common, SpanOr { clauses }))
}

impl SpanQuery for SpanOr {
    fn span(&self, binder: &Binder<'_>) -> Result<SpanTree, Error> {
        let spans = spans_of(&self.clauses, binder)?;
        check_same_field(spans.iter(), "Clauses must have same field.")?;
        Ok(SpanTree::Any(spans))
    }
}
