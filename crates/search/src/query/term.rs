//! `term`: documents that hold exactly this value.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::bind::Binder;
use super::bound::BoundQuery;
use super::parse::{Common, Parser, Query, QueryNode, does_not_support, no_field, single_field};
use crate::error::Error;
use crate::json;

#[derive(Debug)]
struct Term {
    field: String,
    value: Value,
    case_insensitive: bool,
}

pub(super) fn parse(members: &Map<String, Value>, _: &mut Parser<'_>) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (field, body) = single_field("term", members, &mut common)?.ok_or_else(no_field)?;
    let mut term = Term { field: field.to_owned(), value: Value::Null, case_insensitive: false };
    match body {
        Value::Object(options) => {
            for (key, value) in options {
                match key.as_str() {
                    "value" | "term" => term.value = value.clone(),
                    "case_insensitive" => term.case_insensitive = json::boolean(value)?,
                    key if common.take(key, value)? => {}
                    key => return Err(does_not_support("term", key)),
                }
            }
        }
        Value::Array(_) => {
            return Err(RequestError::parsing("[term] query does not support array of values"));
        }
        Value::Null => return Err(no_field()),
        scalar => term.value = scalar.clone(),
    }
    match term.value {
        Value::Null => Err(RequestError::illegal_argument("value cannot be null")),
        Value::Array(_) | Value::Object(_) => {
            Err(RequestError::parsing("[term] query does not support array of values"))
        }
        _ => Ok(common.query(term)),
    }
}

impl QueryNode for Term {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        if self.case_insensitive {
            let text = json::scalar_text(&self.value).unwrap_or_default();
            return super::wildcard::bind_literal(binder, &self.field, &text, boost);
        }
        binder.term(&self.field, &self.value, boost)
    }
}
