//! `span_gap`: a number of positions between the clauses of a `span_near`.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::bind::{SpanQuery, query};
use crate::error::Error;
use crate::primitives::SpanTree;
use crate::query::bind::Binder;
use crate::query::parse::{Common, Parser, Query};
use crate::values::json;

#[derive(Debug)]
struct SpanGap {
    field: String,
    width: i32,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut fields = members.iter();
    let Some((field, width)) = fields.next() else {
        return Err(RequestError::illegal_argument("[span_gap] field name is null or empty"));
    };
    if let Some((second, _)) = fields.next() {
        return Err(RequestError::parsing(format!(
            "[span_gap] query doesn't support multiple fields, found [{field}] and [{second}]"
        )));
    }
    let width = json::int(width)?;
    Ok(query(Common::default(), SpanGap { field: field.clone(), width }))
}

impl SpanQuery for SpanGap {
    fn span(&self, _: &Binder<'_>) -> Result<SpanTree, Error> {
        Ok(SpanTree::Gap { path: self.field.as_str().into(), width: self.width })
    }
}
