//! `dis_max`: documents that match any clause, scored by the best of them.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::bind::Binder;
use super::bound::{BoundQuery, DisMaxNode, Node};
use super::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::error::Error;
use crate::json;

#[derive(Debug)]
pub(super) struct DisMax {
    pub queries: Vec<Query>,
    /// What the clauses beside the best one add, times their scores.
    pub tie_breaker: f32,
}

pub(super) fn parse(members: &Map<String, Value>, parser: &mut Parser<'_>) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut node = DisMax { queries: Vec::new(), tie_breaker: 0.0 };
    for (key, value) in members {
        match (key.as_str(), value) {
            ("queries", Value::Array(items)) => {
                for item in items {
                    node.queries.push(parser.query(item)?);
                }
            }
            ("queries", one @ Value::Object(_)) => node.queries.push(parser.query(one)?),
            (key, Value::Array(_) | Value::Object(_)) => return Err(does_not_support("dis_max", key)),
            ("tie_breaker", value) => node.tie_breaker = json::float(value)?,
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("dis_max", key)),
        }
    }
    if node.queries.is_empty() {
        return Err(RequestError::parsing("[dis_max] requires 'queries' field with at least one clause"));
    }
    Ok(common.query(node))
}

impl QueryNode for DisMax {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let mut queries = Vec::with_capacity(self.queries.len());
        for query in &self.queries {
            let bound = binder.query(query, boost)?;
            if !binder.is_idle(&bound) || self.queries.len() == 1 {
                queries.push(bound);
            }
        }
        Ok(match queries.len() {
            0 => BoundQuery::nothing("no clause of a disjunction can match"),
            1 => queries.remove(0),
            _ => Node::DisMax(DisMaxNode { queries, tie_breaker: self.tie_breaker }).into(),
        })
    }
}
