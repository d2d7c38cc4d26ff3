//! `span_term`: the positions of a term.

use limber_mapping::{Field, RequestError, Selection};
use serde_json::{Map, Value};

use super::bind::{SpanQuery, query};
use crate::error::Error;
use crate::primitives::SpanTree;
use crate::query::bind::Binder;
use crate::query::parse::{Common, Parser, Query, does_not_support, no_field, single_field};
use crate::values::json;

#[derive(Debug)]
struct SpanTerm {
    field: String,
    value: Value,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (field, body) = single_field("span_term", members, &mut common)?.ok_or_else(no_field)?;
    let mut found = None;
    match body {
        Value::Object(options) => {
            for (key, value) in options {
                match key.as_str() {
                    "value" | "term" => found = Some(value),
                    key if common.take(key, value)? => {}
                    key => return Err(does_not_support("span_term", key)),
                }
            }
        }
        Value::Array(_) => {
            return Err(RequestError::parsing(format!(
                "[span_term] query doesn't support multiple fields, found [{field}] and [null]"
            )));
        }
        scalar => found = Some(scalar),
    }
    let value = found.filter(|value| json::scalar_text(value).is_some());
    let value = value.ok_or_else(|| RequestError::illegal_argument("value cannot be null"))?.clone();
    Ok(query(common, SpanTerm { field: field.to_owned(), value }))
}

/// Refuses fields without positions.
pub(super) fn check_positions(field: &Field) -> Result<(), RequestError> {
    if field.match_only {
        return Err(RequestError::unsupported(format_args!(
            "a span query on field [{}] of type [match_only_text]",
            field.path
        )));
    }
    if !field.index || !field.positions {
        return Err(RequestError::illegal_argument(format!(
            "Span term query requires position data, but field {} was indexed without position data",
            field.path
        )));
    }
    Ok(())
}

impl SpanQuery for SpanTerm {
    fn span(&self, binder: &Binder<'_>) -> Result<SpanTree, Error> {
        let Some(field) = binder.field(&self.field) else {
            let text = format!("SpanMatchNoDocsQuery(\"unmapped field: {}\")", self.field);
            return Ok(SpanTree::Nothing { path: Some(self.field.as_str().into()), text });
        };
        check_positions(&field)?;
        match field.select_term(&self.value, &binder.dates())? {
            Selection::Term(term) => Ok(SpanTree::Term { field, term: term.into() }),
            _ => Err(RequestError::illegal_argument(format!(
                "Cannot extract a term from a query on field [{}]",
                self.field
            ))
            .into()),
        }
    }
}
