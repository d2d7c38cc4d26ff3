//! `span_field_masking` (`field_masking_span`): spans of one field that are treated as those of another.

use limber_mapping::RequestError;
use limber_work as work;
use serde_json::{Map, Value};

use super::bind::{SpanQuery, parse_inner, query, span_of};
use crate::error::Error;
use crate::primitives::SpanTree;
use crate::query::bind::Binder;
use crate::query::parse::{Common, Parser, Query, does_not_support};
use crate::values::json;

#[derive(Debug)]
struct SpanMasked {
    inner: Query,
    field: String,
}

const NAME: &str = "span_field_masking";

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let (mut common, mut inner, mut field) = (Common::default(), None, None);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("query", Value::Object(_)) => inner = Some(parse_inner(NAME, "query", value, parser)?),
            (key, Value::Object(_)) => return Err(does_not_support(NAME, key)),
            ("field", value) => field = Some(json::text(value)?),
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support(NAME, key)),
        }
    }
    let inner =
        inner.ok_or_else(|| RequestError::parsing(format!("{NAME} must have [query] span query clause")))?;
    let field = field.ok_or_else(|| RequestError::parsing(format!("{NAME} must have [field] set for it")))?;
    Ok(query(common, SpanMasked { inner, field }))
}

/// Parses the query with its former name.
pub(in crate::query) fn parse_by_former_name(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    work::warn_renamed("field_masking_span", NAME);
    parse(members, parser)
}

impl SpanQuery for SpanMasked {
    fn span(&self, binder: &Binder<'_>) -> Result<SpanTree, Error> {
        let span = Box::new(span_of(&self.inner, binder)?);
        Ok(SpanTree::Masked { span, path: self.field.as_str().into() })
    }
}
