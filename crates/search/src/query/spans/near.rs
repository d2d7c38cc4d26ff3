//! `span_near`: several spans that are near one another.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::bind::{SpanQuery, parse_inner, query, spans_of};
use crate::error::Error;
use crate::primitives::SpanTree;
use crate::query::bind::Binder;
use crate::query::parse::{Common, Parser, Query, does_not_support};
use crate::values::json;

#[derive(Debug)]
struct SpanNear {
    clauses: Vec<Query>,
    slop: i32,
    in_order: bool,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut node = SpanNear { clauses: Vec::new(), slop: 0, in_order: true };
    for (key, value) in members {
        match (key.as_str(), value) {
            ("clauses", Value::Array(items)) => {
                for item in items {
                    node.clauses.push(parse_inner("span_near", "clauses", item, parser)?);
                }
            }
            (key, Value::Array(_) | Value::Object(_) | Value::Null) => {
                return Err(does_not_support("span_near", key));
            }
            ("slop", value) => node.slop = json::int(value)?,
            ("in_order", value) => node.in_order = json::boolean(value)?,
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("span_near", key)),
        }
    }
    if node.clauses.is_empty() {
        return Err(RequestError::parsing("span_near must include [clauses]"));
    }
    Ok(query(common, node))
}

impl SpanQuery for SpanNear {
    fn span(&self, binder: &Binder<'_>) -> Result<SpanTree, Error> {
        let mut spans = spans_of(&self.clauses, binder)?;
        if spans.len() == 1 {
            return Ok(spans.remove(0));
        }
        let path = spans[0].path().cloned();
        for span in &spans {
            let is_gap = matches!(span, SpanTree::Gap { .. });
            if is_gap && span.path() != path.as_ref() {
                return Err(RequestError::illegal_argument("[span_near] clauses must have same field").into());
            }
            if is_gap && !self.in_order {
                return Err(
                    RequestError::illegal_argument("Gaps can only be added to ordered near queries").into()
                );
            }
            if span.path() != path.as_ref() {
                return Err(RequestError::illegal_argument(format!(
                    "Cannot add clause {} to SpanNearQuery for field {}",
                    span.text(),
                    path.as_deref().unwrap_or("null")
                ))
                .into());
            }
        }
        Ok(SpanTree::Near { spans, slop: self.slop, in_order: self.in_order })
    }
}
