//! `span_first`: spans near the beginning of a field.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::bind::{SpanQuery, parse_inner, query, span_of};
use crate::error::Error;
use crate::primitives::SpanTree;
use crate::query::bind::Binder;
use crate::query::parse::{Common, Parser, Query, does_not_support};
use crate::values::json;

#[derive(Debug)]
struct SpanFirst {
    inner: Query,
    end: i32,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let (mut common, mut inner, mut end) = (Common::default(), None, None);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("match", Value::Object(_)) => inner = Some(parse_inner("span_first", "match", value, parser)?),
            ("_name", Value::Null | Value::Array(_)) => {
                json::text(value)?;
            }
            (key, Value::Object(_)) => return Err(does_not_support("span_first", key)),
            ("end", value) => end = Some(json::int(value)?),
            (key, Value::Array(_)) => return Err(does_not_support("span_first", key)),
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("span_first", key)),
        }
    }
    let inner =
        inner.ok_or_else(|| RequestError::parsing("span_first must have [match] span query clause"))?;
    let end = end.ok_or_else(|| RequestError::parsing("span_first must have [end] set for it"))?;
    if end < 0 {
        return Err(RequestError::illegal_argument("parameter [end] needs to be positive."));
    }
    Ok(query(common, SpanFirst { inner, end }))
}

impl SpanQuery for SpanFirst {
    fn span(&self, binder: &Binder<'_>) -> Result<SpanTree, Error> {
        Ok(SpanTree::First { span: Box::new(span_of(&self.inner, binder)?), end_max: self.end })
    }
}
