//! `boosting`: documents of one query, those that match another too scored lower.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::bind::Binder;
use super::bound::{BoostingNode, BoundQuery, Node};
use super::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::error::Error;
use crate::json;

#[derive(Debug)]
struct Boosting {
    positive: Query,
    negative: Query,
    negative_boost: f32,
}

pub(super) fn parse(members: &Map<String, Value>, parser: &mut Parser<'_>) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut positive, mut negative, mut negative_boost) = (None, None, -1.0);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("positive", Value::Object(_)) => positive = Some(parser.query(value)?),
            ("negative", Value::Object(_)) => negative = Some(parser.query(value)?),
            ("negative_boost", value) if !value.is_object() => negative_boost = json::float(value)?,
            (key, value) if !value.is_object() && common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("boosting", key)),
        }
    }
    let missing = |what: &str| RequestError::parsing(format!("[boosting] query requires {what}'"));
    let positive = positive.ok_or_else(|| missing("'positive' query to be set"))?;
    let negative = negative.ok_or_else(|| missing("'negative' query to be set"))?;
    if negative_boost < 0.0 {
        return Err(missing("'negative_boost' to be set to be a positive value"));
    }
    Ok(common.query(Boosting { positive, negative, negative_boost }))
}

impl QueryNode for Boosting {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let positive = binder.query(&self.positive, 1.0)?;
        if positive.is_nothing() {
            return Ok(positive);
        }
        let negative = binder.query(&self.negative, 1.0)?;
        let node = BoostingNode {
            positive: Box::new(positive),
            negative: Box::new(negative),
            negative_boost: self.negative_boost,
            boost,
        };
        Ok(Node::Boosting(node).into())
    }
}
