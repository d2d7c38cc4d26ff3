//! `constant_score`: a filter whose matches all score the boost.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::bind::Binder;
use super::bound::{BoundQuery, Node};
use super::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::error::Error;
use crate::json;

#[derive(Debug)]
struct ConstantScore {
    filter: Query,
}

pub(super) fn parse(members: &Map<String, Value>, parser: &mut Parser<'_>) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut filter = None;
    for (key, value) in members {
        match (key.as_str(), value) {
            ("filter", Value::Object(_)) if filter.is_some() => {
                return Err(RequestError::parsing("[constant_score] accepts only one 'filter' element."));
            }
            ("filter", Value::Object(_)) => filter = Some(parser.query(value)?),
            (_, Value::Array(_)) => {
                return Err(RequestError::parsing(format!("unexpected token [{}]", json::token(value))));
            }
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("constant_score", key)),
        }
    }
    let filter =
        filter.ok_or_else(|| RequestError::parsing("[constant_score] requires a 'filter' element"))?;
    Ok(common.query(ConstantScore { filter }))
}

impl QueryNode for ConstantScore {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let inner = binder.query(&self.filter, 1.0)?;
        if inner.is_nothing() {
            return Ok(inner);
        }
        Ok(Node::Constant { inner: Box::new(inner), boost }.into())
    }
}
